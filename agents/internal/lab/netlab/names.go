// Package netlab joins an emulated link to network namespaces: one for the receiver, one for each sender, and a gateway
// between them. Package pump moves the packets.
//
//	receiver ── TUN ═ pump ═ TUN ── gateway ── veth ── sender-1, sender-2, …      data
//	                  pump ═ TUN ── router-1, router-2, …, where they are hosts   data
//	                  pump ═ TUN ── receiver-2, …, attached at places on the way data
//	receiver, senders ── veth ── hub (the caller's namespace) ── TCP ── control   management
package netlab

import (
	"fmt"
	"hash/fnv"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"downlink/agents/internal/lab/emulate"
)

const (
	// Receiver is the host behind the terminal; further ones are called receiver-2, receiver-3, … Senders are called sender-1, sender-2, …
	Receiver = emulate.Receiver

	// Relays are those at the sites of the link.
	Relays = "relays"

	maxSenders = 32
	// relaysPlace is behind the last sender's, and the routers' places behind that, and then those of further receivers.
	relaysPlace   = maxSenders + 1
	maxRouters    = 15
	branchesPlace = relaysPlace + maxRouters
	// indexes bounds how many links can be up at once in one namespace.
	indexes = 250
)

var (
	linkName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)
	// namespaceName is dl-NAME-rx, dl-NAME-rx2, dl-NAME-gw, dl-NAME-s1, …; the last part tells links "a" and "a-rx" apart.
	namespaceName = regexp.MustCompile(`^dl-([a-z0-9][a-z0-9-]{0,31})-(rx[0-9]*|gw|[sr][0-9]+)$`)
)

func checkName(name string) error {
	if !linkName.MatchString(name) {
		return fmt.Errorf("a link's name is 1-32 of a-z, 0-9 and -, not %q", name)
	}
	return nil
}

// place is one namespace of a link: number 0 is the receiver, 1 and up the senders, those behind relaysPlace the routers that
// are hosts, those behind branchesPlace further receivers, gateway the one between senders and link.
type place int

const gateway place = -1

// routerPlace is that of a router, from 1 behind the hop at the gateway.
func routerPlace(number int) place { return relaysPlace + place(number) }

// branchPlace is that of a further receiver, from 1 for receiver-2.
func branchPlace(branch int) place { return branchesPlace + place(branch) }

// router is the number of a router's place; 0: it is none's.
func (p place) router() int {
	if p > branchesPlace {
		return 0
	}
	return max(0, int(p)-relaysPlace)
}

// branch is the number of a further receiver's place, from 1; 0: it is none's.
func (p place) branch() int { return max(0, int(p)-branchesPlace) }

func (p place) suffix() string {
	switch {
	case p == gateway:
		return "gw"
	case p == 0:
		return "rx"
	case p.router() > 0:
		return "r" + strconv.Itoa(p.router())
	case p.branch() > 0:
		return "rx" + strconv.Itoa(p.branch()+1)
	default:
		return "s" + strconv.Itoa(int(p))
	}
}

func (p place) host() string {
	switch {
	case p == 0:
		return Receiver
	case p.router() > 0:
		return "router-" + strconv.Itoa(p.router())
	case p.branch() > 0:
		return Receiver + "-" + strconv.Itoa(p.branch()+1)
	default:
		return "sender-" + strconv.Itoa(int(p))
	}
}

// placeOf reads a namespace's suffix back.
func placeOf(suffix string) place {
	switch suffix {
	case "gw":
		return gateway
	case "rx":
		return 0
	}
	if further, isReceiver := strings.CutPrefix(suffix, "rx"); isReceiver {
		number, _ := strconv.Atoi(further) // digits by namespaceName
		return branchPlace(number - 1)
	}
	number, _ := strconv.Atoi(suffix[1:]) // likewise
	if suffix[0] == 'r' {
		return routerPlace(number)
	}
	return place(number)
}

func (p place) namespace(link string) string { return "dl-" + link + "-" + p.suffix() }

// subnets are the addresses of a link: all come from its index. Data lives in 198.18.0.0/16 and management in
// 198.19.0.0/16, both set aside for tests of network devices (RFC 2544), and in a unique local IPv6 prefix (RFC 4193).
type subnets struct{ index int }

// preferredIndex is where the search for a free index begins. It comes from the name, so that a link that is built again
// under its name gets the addresses it had.
func preferredIndex(name string) int {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(name))
	return int(hash.Sum32() % indexes)
}

// data gives both ends of the data wire between the gateway and a host.
func (s subnets) data(p place) (near, host netip.Prefix) {
	low := byte(4 * int(p))
	return prefix4(18, s.index, low+1, 30), prefix4(18, s.index, low+2, 30)
}

func (s subnets) data6(p place) (near, host netip.Prefix) {
	return s.prefix6(p, 1), s.prefix6(p, 2)
}

func (s subnets) prefix6(p place, last byte) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom16([16]byte{
		0xfd, 0x9d, 0x6b, 0x1c, 0x7f, 0x4e, byte(s.index), byte(p), 15: last}), 64)
}

// relays is the address at which both ends of the link reach its relays.
func (s subnets) relays() netip.Addr {
	_, host := s.data(relaysPlace)
	return host.Addr()
}

// hub is the one address at which the hosts of a link find the management side, the same for all of them.
func (s subnets) hub() netip.Addr { return prefix4(19, s.index, 254, 32).Addr() }

func (s subnets) management(p place) netip.Addr {
	return prefix4(19, s.index, byte(p)+1, 32).Addr()
}

func prefix4(half byte, index int, last byte, bits int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{198, half, byte(index), last}), bits)
}

// hubDevice is the hub's end of a host's management wire. Its existence in the caller's namespace claims the index.
func (s subnets) hubDevice(p place) string { return fmt.Sprintf("dl%d-%s", s.index, p.suffix()) }
