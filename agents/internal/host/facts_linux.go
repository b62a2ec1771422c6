package host

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Facts describe the running system.
type Facts struct {
	Hostname string
	Kernel   string
	OS       string
	Arch     string
	CPUs     int
}

// Read never fails: a fact that cannot be read is empty.
func Read() Facts {
	hostname, _ := os.Hostname()
	return Facts{Hostname: hostname, Kernel: kernel(), OS: osName(), Arch: runtime.GOARCH, CPUs: runtime.NumCPU()}
}

func kernel() string {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return ""
	}
	return unix.ByteSliceToString(name.Release[:])
}

// osName reads the name that distributions give themselves (os-release(5)).
func osName() string {
	content, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return runtime.GOOS
	}
	lines := bufio.NewScanner(bytes.NewReader(content))
	for lines.Scan() {
		if value, found := strings.CutPrefix(lines.Text(), "PRETTY_NAME="); found {
			return strings.Trim(value, `"`)
		}
	}
	return runtime.GOOS
}

// FreeBytes returns what an unprivileged process may still write to the file system of a folder.
func FreeBytes(dir string) (int64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, err
	}
	return int64(stat.Bavail) * stat.Bsize, nil // no disk has 2^63 bytes
}

// FilePlace tells a file from every copy of it on this host.
func FilePlace(path string) (string, error) {
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		return "", fmt.Errorf("look at %s: %w", path, err)
	}
	return fmt.Sprintf("%x:%x", stat.Dev, stat.Ino), nil
}

// Path describes the way that data takes.
type Path struct {
	Interface string
	Qdisc     string
	Offloads  map[string]bool
	// Route is how packets to the peer leave, as the kernel decides at this moment: "203.0.113.7 via 198.51.100.254 dev eth0 src
	// 198.51.100.1".
	Route string
	// MTUBytes is that of the route; where it has none of its own, of the interface.
	MTUBytes int
}

// ReadPath describes the way to a peer, from a local address where one is bound: the interface is the route's, which need not be the
// one that has the address. Without a peer it is the one with the address. What cannot be read is left empty.
func ReadPath(local, peer string) Path {
	way, _ := WayTo(local, peer)
	link := linkNamed(way.Interface)
	if link == nil {
		link = linkWith(net.ParseIP(local))
	}
	if link == nil {
		return Path{Offloads: map[string]bool{}}
	}
	name := link.Attrs().Name
	path := Path{Interface: name, Qdisc: rootQdisc(link), Offloads: offloads(name), MTUBytes: link.Attrs().MTU}
	if way.Interface != "" {
		path.Route = way.words(peer)
		path.MTUBytes = cmp.Or(way.MTUBytes, path.MTUBytes)
	}
	return path
}

// Way is how packets to a peer leave, as the kernel's routes say at this moment. NextHop is empty where the peer is on the same network,
// MTUBytes 0 where the route has none of its own.
type Way struct {
	Source    string
	Interface string
	NextHop   string
	MTUBytes  int
}

// WayTo asks the routes, with the source address of a socket that is bound to it: rules may choose by it. False where there is no route, or
// an address is a name.
func WayTo(local, peer string) (Way, bool) {
	to := net.ParseIP(peer)
	if to == nil {
		return Way{}, false
	}
	from := net.ParseIP(local)
	if from != nil && linkWith(from) == nil {
		from = nil // behind NAT: no packet leaves this host with it
	}
	routes, err := netlink.RouteGetWithOptions(to, &netlink.RouteGetOptions{SrcAddr: from})
	if err != nil || len(routes) == 0 {
		return Way{}, false
	}
	device := linkByIndex(routes[0].LinkIndex)
	if device == nil {
		return Way{}, false
	}
	way := Way{Interface: device.Attrs().Name, MTUBytes: routes[0].MTU}
	if gateway := routes[0].Gw; gateway != nil {
		way.NextHop = gateway.String()
	}
	switch source := routes[0].Src; {
	case from != nil:
		way.Source = from.String()
	case source != nil:
		way.Source = source.String()
	}
	return way, true
}

// words are those of `ip route get`.
func (w Way) words(peer string) string {
	words := []string{peer}
	if w.NextHop != "" {
		words = append(words, "via", w.NextHop)
	}
	words = append(words, "dev", w.Interface)
	if w.Source != "" {
		words = append(words, "src", w.Source)
	}
	return strings.Join(words, " ")
}

// DefaultInterface is the interface of the default route; empty where there is none.
func DefaultInterface() string {
	way, _ := WayTo("", farAway)
	return way.Interface
}

// farAway is of the documentation's range (RFC 5737): no route names it.
const farAway = "192.0.2.1"

// HasAddress tells whether an address is one of this host's own.
func HasAddress(address string) bool { return linkWith(net.ParseIP(address)) != nil }

func linkWith(ip net.IP) netlink.Link {
	if ip == nil {
		return nil
	}
	addresses, err := netlink.AddrList(nil, netlink.FAMILY_ALL)
	if err != nil {
		return nil
	}
	for _, address := range addresses {
		if address.IP.Equal(ip) {
			return linkByIndex(address.LinkIndex)
		}
	}
	return nil
}

func linkNamed(name string) netlink.Link {
	if name == "" {
		return nil
	}
	link, err := netlink.LinkByName(name)
	if err != nil {
		return nil
	}
	return link
}

func linkByIndex(index int) netlink.Link {
	link, err := netlink.LinkByIndex(index)
	if err != nil {
		return nil
	}
	return link
}

func rootQdisc(link netlink.Link) string {
	qdiscs, err := netlink.QdiscList(link)
	if err != nil {
		return ""
	}
	for _, qdisc := range qdiscs {
		if qdisc.Attrs().Parent == netlink.HANDLE_ROOT {
			return qdisc.Type()
		}
	}
	return "noqueue"
}

// AddressTowards returns this host's address on the way to a server (a URL's host, with or without a port).
func AddressTowards(server string) (string, error) {
	host, _, err := net.SplitHostPort(server)
	if err != nil {
		host = server
	}
	// Connecting a UDP socket sends nothing: it only asks the routes.
	conn, err := net.Dial("udp", net.JoinHostPort(host, "9"))
	if err != nil {
		return "", fmt.Errorf("find this host's own address: %w", err)
	}
	defer func() { _ = conn.Close() }()
	address, _, err := net.SplitHostPort(conn.LocalAddr().String())
	return address, err
}

// MTU is that of the interface with an address of this host; 0 where it is not one.
func MTU(address string) int {
	link := linkWith(net.ParseIP(address))
	if link == nil {
		return 0
	}
	return link.Attrs().MTU
}
