// Package pathrelay relays INTCP at the sites of an emulated link: a node at each router and each satellite between two hops,
// for one run. It is pure, like the link and the nodes: the caller that moves the packets tells the time.
package pathrelay

import (
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"slices"
	"time"

	"downlink/agents/internal/intcp"
	"downlink/agents/internal/lab/emulate"
)

const (
	// CacheKeep is how long a satellite that has left the path keeps what it holds.
	CacheKeep = time.Minute
	// clockBegin is added to the carrier's clock: a node's moments begin after 0, which means never.
	clockBegin = time.Second
	// catchUp is what a node makes good that was called late, which in a circuit none is.
	catchUp = time.Millisecond
	// firstInner is the number of the first hop between two sites; orders have lower ones.
	firstInner = 1000
)

// Plan says what run the relays are for.
type Plan struct {
	Run     uint64
	Options intcp.Options
	Policy  intcp.Policy // of each relay
	// Here is where both ends of the link reach the relays.
	Here netip.AddrPort
	// Serves are the hops to the neighbours downstream, without addresses.
	Serves []intcp.Hop
	// Receivers are the link's further ones, and Branches says which hops of Serves lead to which of them, from 1.
	Receivers []emulate.Branch
	Branches  map[uint16]int
	// Hosts says which of them has which address, from 1.
	Hosts map[netip.Addr]int
	// Secret and Salt are random.
	Secret [16]byte
	Salt   uint32
}

// Pool has packets to be used.
type Pool interface {
	Fresh() *emulate.Packet
	Free(p *emulate.Packet)
}

// places says which sites the way has at a moment, until when, and whether the way is whole.
type places func(at time.Duration) (places []emulate.Place, until time.Duration, isWhole bool)

// Relays are the nodes of a run. They keep what they hold while their sites come and go.
type Relays struct {
	plan     Plan
	pool     Pool
	shelf    *intcp.Shelf // satellites see the same bytes pass
	places   places
	at       map[emulate.Site]*relay
	all      []*relay // by their numbers
	chain    []*relay // of the way that holds, from the gateway to the receiver
	until    time.Duration
	turned   time.Duration  // when the way changed last
	upstream *intcp.Hop     // nil: it was not named yet
	receiver netip.AddrPort // at the end of the link, once it has been admitted
	exits    []*exit        // to the receivers, the first at the end of the link
	arrivals []arrival
	out      intcp.Outbox
	inner    uint16 // number of the next hop between sites
	ident    uint16 // of IP packets
	astray   uint64 // packets for who is not a neighbour any more
	passed   map[intcp.Name]*passing
	wasAsked bool
	// isMeasured: somebody wants to know what each node did.
	isMeasured bool
}

// relay is the node at a site.
type relay struct {
	emulate.Place
	number   int
	node     *intcp.Node
	position int // in the chain; resting: not on the way
	leftAt   time.Duration
	left     map[intcp.Name]Row // how it stood when it left
	wake     time.Duration
	below    uint16                   // number of the hop to the site downstream; 0: none
	above    *relay                   // the neighbour upstream; nil where it is the sender
	isFirst  bool                     // asks the sender
	isLast   bool                     // is beside the receiver at the end of the link
	told     map[intcp.Name]RowCounts // by its rows
}

const resting = -1

type arrival struct {
	at     time.Duration
	site   emulate.Site
	packet *emulate.Packet
}

// New makes relays that are at no site yet.
func New(plan Plan, pool Pool) (*Relays, error) {
	r := &Relays{
		plan: plan, pool: pool, shelf: intcp.NewShelf(), at: map[emulate.Site]*relay{}, inner: firstInner, until: emulate.Never,
		passed: map[intcp.Name]*passing{}, exits: exitsOf(plan),
	}
	_, err := r.newNode() // says what is wrong with the options
	return r, err
}

func (r *Relays) newNode() (*intcp.Node, error) {
	number := uint32(len(r.all))
	node := intcp.New(intcp.Config{Secret: r.plan.Secret, Salt: r.plan.Salt + number<<16, Policy: r.plan.Policy, CatchUp: catchUp,
		Shelf: r.shelf})
	if err := node.Begin(r.plan.Run, r.plan.Options); err != nil {
		return nil, err
	}
	node.Expect(r.plan.Run)
	return node, nil
}

// HasBranches tells whether the relays serve further receivers, whose packets share hops with those of the one at the end.
func (r *Relays) HasBranches() bool { return len(r.plan.Branches) > 0 }

// Receiver is where the receiver at the end of the link was admitted; the zero address before that.
func (r *Relays) Receiver() netip.AddrPort { return r.receiver }

// Run is the run's number.
func (r *Relays) Run() uint64 { return r.plan.Run }

// Fly lets the relays have the sites of a way from a moment on.
func (r *Relays) Fly(at time.Duration, places func(at time.Duration) ([]emulate.Place, time.Duration, bool)) {
	r.places = places
	r.follow(at)
}

// Ask names the neighbour upstream, whom the first relay of the way asks.
func (r *Relays) Ask(at time.Duration, hop intcp.Hop, peer netip.AddrPort) error {
	hop.Peer = addressOf(peer)
	r.upstream = &hop
	if len(r.chain) == 0 {
		return nil
	}
	return r.askUpstream(at, r.chain[0])
}

func (r *Relays) askUpstream(at time.Duration, first *relay) error {
	if r.upstream == nil {
		return nil
	}
	if err := first.node.Ask(*r.upstream); err != nil {
		return err
	}
	first.wake = at
	return first.node.Greet(r.plan.Run)
}

// Has tells whether a packet that enters the link is for the relays.
func (r *Relays) Has(packet []byte) bool {
	to, isUDP := destination(packet)
	return isUDP && to == r.plan.Here
}

// Take is given a packet that has come to a site.
func (r *Relays) Take(at time.Duration, site emulate.Site, p *emulate.Packet) {
	r.arrivals = append(r.arrivals, arrival{at, site, p})
}

// Wake is when Turn has something to do.
func (r *Relays) Wake() time.Duration {
	wake := r.until
	for i := range r.arrivals {
		wake = min(wake, r.arrivals[i].at)
	}
	for _, each := range r.chain {
		wake = min(wake, each.wake)
	}
	return wake
}

// Reach is when something that a relay sends of itself can be at an end of the link.
func (r *Relays) Reach() time.Duration {
	reach := r.until
	if len(r.arrivals) > 0 {
		return r.arrivals[0].at
	}
	for _, each := range r.chain {
		if each.wake != emulate.Never {
			reach = min(reach, each.wake+min(each.ToReceiver, each.ToGateway))
		}
	}
	return reach
}

// AreHosts is false: satellites relay as well, and what they send goes on inside the link.
func (r *Relays) AreHosts() bool { return false }

// Turn does what is due, and puts in what comes of it.
func (r *Relays) Turn(at time.Duration, give func(site emulate.Site, isUp bool, p *emulate.Packet)) {
	if at >= r.until {
		r.follow(at)
	}
	for i := 0; i < len(r.arrivals); i++ {
		r.arrive(at, &r.arrivals[i], give)
	}
	r.arrivals = r.arrivals[:0]
	for _, each := range r.chain {
		if each.wake <= at {
			r.step(at, each, intcp.Address{}, nil, false, give)
		}
	}
}

func (r *Relays) arrive(at time.Duration, a *arrival, give func(emulate.Site, bool, *emulate.Packet)) {
	defer r.pool.Free(a.packet)
	here := r.at[a.site]
	from, payload, isSound := source(a.packet)
	isOfEnd := a.packet.Tag == 0 // or of a further receiver
	if here == nil || here.position == resting || !isSound || isOfEnd && r.plan.Hosts[from.Addr()] != a.packet.Branch {
		r.astray++ // who comes by one way in the name of a host on another would lead that one's data astray
		return
	}
	// Who comes at the first site comes down.
	isUp := isOfEnd && a.packet.Branch == 0 && (here.position != 0 || here.isLast && !r.isUpstream(from))
	r.step(at, here, r.sender(a.packet.Tag, from), payload, isUp, give)
	if isUp && from != r.receiver && r.isAdmitted(here, from) {
		r.receiver = from
	}
}

// isAdmitted tells whether the receiver at the end of the link is somebody whom a node serves.
func (r *Relays) isAdmitted(here *relay, from netip.AddrPort) bool {
	return slices.ContainsFunc(r.exits[0].hops, func(hop intcp.Hop) bool {
		return slices.ContainsFunc(here.node.Callers(r.plan.Run, hop.Number), func(c intcp.Caller) bool { return c.Address == addressOf(from) })
	})
}

func (r *Relays) isUpstream(from netip.AddrPort) bool {
	return r.upstream != nil && from.Addr() == addrPort(r.upstream.Peer).Addr()
}

// sender is a packet's as nodes know it.
func (r *Relays) sender(tag int, from netip.AddrPort) intcp.Address {
	switch {
	case tag > 0:
		return innerAddress(tag - 1)
	case tag < 0:
		return innerAddress(-tag - 1)
	}
	return addressOf(from)
}

func (r *Relays) step(
	at time.Duration, here *relay, from intcp.Address, datagram []byte, isUp bool, give func(emulate.Site, bool, *emulate.Packet),
) {
	r.out.Reset()
	wake := here.node.Step(at+clockBegin, from, datagram, &r.out)
	here.wake = emulate.Never
	if wake < emulate.Never-clockBegin {
		here.wake = wake - clockBegin
	}
	for i := range r.out.Datagrams {
		d := &r.out.Datagrams[i]
		if branch := r.branchOf(d.To); branch > 0 {
			r.leaveBy(branch, here, d, give)
			continue
		}
		direction, isNeighbour := r.direction(here, d.To, datagram != nil && d.To == from, isUp)
		if !isNeighbour {
			r.astray++
			continue
		}
		give(here.Site, direction, r.pack(here, d, direction))
	}
}

// branchOf is the further receiver at an address, from 1; 0: none is.
func (r *Relays) branchOf(to intcp.Address) int {
	if len(r.plan.Hosts) == 0 {
		return 0
	}
	return r.plan.Hosts[addrPort(to).Addr()]
}

// direction tells which way a datagram leaves a site: to a neighbouring site, or out of the link at its ends.
func (r *Relays) direction(here *relay, to intcp.Address, isAnswer, cameUp bool) (isUp, isNeighbour bool) {
	if number, isInner := innerNumber(to); isInner {
		next, before := here.position+1, here.position-1
		if next < len(r.chain) && r.chain[next].number == number {
			return false, true
		}
		return true, before >= 0 && r.chain[before].number == number
	}
	if isAnswer {
		isUp = !cameUp
	} else {
		isUp = r.upstream != nil && to == r.upstream.Peer
	}
	if isUp {
		return true, here.position == 0
	}
	return false, here.position == len(r.chain)-1
}

// key is that of a hop between two sites: nobody else knows it.
func (r *Relays) key(number uint16) (key intcp.Key) {
	text := binary.BigEndian.AppendUint16(slices.Clone(r.plan.Secret[:]), number)
	digest := sha256.Sum256(append(text, "hop between sites"...))
	copy(key[:], digest[:])
	return key
}
