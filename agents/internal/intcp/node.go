package intcp

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"time"
)

// Node is one identity on a path: a relay, and as well an origin or a consumer where it has or wants a content itself.
type Node struct {
	policy  Policy
	catchUp time.Duration
	salt    uint32
	cookies cookies
	options map[uint64]*Options // by run
	hops    map[hopKey]*served
	ups     map[uint64]*requester // by run: the neighbour upstream
	past    map[uint64]HopCounts  // of neighbours upstream before
	expects map[uint64]bool       // runs whose neighbour upstream is named later
	places  map[placeKey]*place
	gone    map[placeKey]*goneContent // places that had to go, by run and name
	watches map[placeKey]*Watch
	readers map[flowKey]*reader // by who asks
	left    []*reader           // of requesters that have left the path, as long as nobody has their place
	up      map[flowKey]*upFlow // by who is asked
	senders []*responder
	askers  []*requester
	wanting []*Consumer
	cache   cache

	flows             uint32 // ids handed out
	salts             uint32
	statelessSequence uint32
	nextRefusal       time.Duration // none of a stranger before
	counts            NodeCounts
	interest          interest // scratch
	closings          []flowClosing
	calls             []calling
	wake, expireAt    time.Duration
}

type hopKey struct {
	run    uint64
	number uint16
}

type flowKey struct {
	peer Address
	flow uint32
}

func (k flowKey) compare(other flowKey) int {
	return cmp.Or(bytes.Compare(k.peer[:], other.peer[:]), cmp.Compare(k.flow, other.flow))
}

// served is a hop on which this node answers.
type served struct {
	Hop
	sealer *sealer
	salts  []uint32 // of requesters seen, the newest last
	now    *responder
	passed map[Name]*uint64
}

// NodeCounts are what a node refused.
type NodeCounts struct {
	Strangers uint64 // OPENs without the key
	Unknown   uint64 // packets of no flow
	Malformed uint64
	Forged    uint64
	Replayed  uint64
	Refused   uint64 // flows above the policy's number, bad contents, and what an interest asked for above its bound
	Evicted   uint64 // units that made room in the cache
	HeldBytes int
	Flows     int
}

// New makes a node that knows nobody.
func New(config Config) *Node {
	return &Node{
		policy: config.Policy, catchUp: max(config.CatchUp, catchUp), salt: config.Salt, salts: config.Salt, cookies: cookies{config.Secret},
		options: map[uint64]*Options{}, hops: map[hopKey]*served{}, ups: map[uint64]*requester{}, past: map[uint64]HopCounts{},
		expects: map[uint64]bool{}, places: map[placeKey]*place{}, gone: map[placeKey]*goneContent{}, watches: map[placeKey]*Watch{},
		readers: map[flowKey]*reader{}, up: map[flowKey]*upFlow{}, cache: cache{limitBytes: config.Policy.MaxCacheBytes, shelf: config.Shelf},
		interest: interest{ranges: make([]byteRange, 0, 64), losts: make([]lostRun, 0, 128)},
	}
}

// Errors of orders.
var (
	ErrContent = errors.New("a content needs 1 to 1400 bytes a unit, a length, and below 2^31 units")
	ErrHole    = errors.New("hole_packets must be from 1 to 16")
	ErrRun     = errors.New("the run has begun already, or not yet")
)

// Begin lets a run use the node.
func (n *Node) Begin(run uint64, options Options) error {
	if n.options[run] != nil {
		return ErrRun
	}
	if options.HolePackets < 1 || options.HolePackets > mostHolePackets {
		return ErrHole
	}
	n.options[run] = &options
	return nil
}

// Serve lets the neighbour downstream ask over a hop.
func (n *Node) Serve(hop Hop) error {
	if n.options[hop.Run] == nil {
		return ErrRun
	}
	n.hops[hopKey{hop.Run, hop.Number}] = &served{Hop: hop, sealer: newSealer(hop.Key), passed: map[Name]*uint64{}}
	return nil
}

// Ask names the neighbour upstream, the first or a new one. What is pending is asked for again at once, if the run's
// options say so; otherwise its consumer has to notice.
func (n *Node) Ask(hop Hop) error {
	options := n.options[hop.Run]
	if options == nil {
		return ErrRun
	}
	n.salts++
	s := &requester{node: n, hop: hop, options: options, sealer: newSealer(hop.Key), salt: n.salts, law: newLaw(), oldest: 1}
	s.arrivals.holePackets = options.HolePackets
	delete(n.expects, hop.Run)
	before := n.ups[hop.Run]
	n.ups[hop.Run] = s
	n.askers = append(n.askers, s)
	if before != nil {
		n.move(before, s)
		n.forgetAsker(before)
	}
	n.wake = 0
	return nil
}

// Expect: the neighbour upstream will be named later. A peer that asks before gets no answer, and asks again.
func (n *Node) Expect(run uint64) { n.expects[run] = true }

func (n *Node) forgetAsker(s *requester) {
	n.past[s.hop.Run] = n.past[s.hop.Run].plus(s.counts)
	n.askers = slices.DeleteFunc(n.askers, func(other *requester) bool { return other == s })
}

// move takes the flows of a requester to its successor.
func (n *Node) move(from, to *requester) {
	for _, f := range from.flows {
		delete(n.up, f.key)
		n.openUp(to, f.place)
		if !to.options.AsksOnHandover {
			f.place.up.asks, f.place.up.waits = f.asks, true
		}
	}
}

// openUp begins a flow of a content to the neighbour upstream.
func (n *Node) openUp(s *requester, p *place) {
	n.flows++
	f := &upFlow{requester: s, key: flowKey{s.hop.Peer, n.flows}, place: p}
	p.up, p.failure = f, 0
	s.flows = append(s.flows, f)
	n.up[f.key] = f
}

// Publish makes the node the origin of a content, of whose bytes it has the first ready ones.
func (n *Node) Publish(content Content, stream Stream, ready uint64) error {
	if !content.isSound() {
		return ErrContent
	}
	if n.options[content.Run] == nil {
		return ErrRun
	}
	key := placeKey{run: content.Run, name: content.Name}
	p := &place{Content: content, node: n, key: key, stream: &stream, watch: n.watches[key]}
	n.places[key] = p
	p.offer(unitsOf(content, ready))
	return nil
}

// Offer says how many of a content's bytes its origin has by now.
func (n *Node) Offer(run uint64, name Name, ready uint64) {
	if p := n.places[placeKey{run: run, name: name}]; p != nil && p.stream != nil {
		p.offer(unitsOf(p.Content, ready))
		n.wake = 0
	}
}

// unitsOf is how many whole units the first bytes of a content are.
func unitsOf(content Content, bytes uint64) uint32 {
	if bytes >= content.Length {
		return content.units()
	}
	return uint32(bytes / uint64(content.UnitBytes))
}

// Take takes in a datagram that came at a moment, not before those of earlier calls; what follows from it is done by the
// next Step. A home whose process was busy says by it when the datagram came.
func (n *Node) Take(came time.Duration, from Address, datagram []byte, out *Outbox) {
	n.receive(came, from, datagram, out)
	n.wake = 0
}

// Step takes in a datagram, if one came, does what is due by now, and says when to call again.
func (n *Node) Step(now time.Duration, from Address, datagram []byte, out *Outbox) (wake time.Duration) {
	if datagram != nil {
		n.receive(now, from, datagram, out)
	} else if now < n.wake {
		return n.wake
	}
	for _, c := range n.wanting {
		c.tick(now)
	}
	for _, s := range n.askers {
		s.tick(now, out)
	}
	for _, s := range n.senders {
		s.send(now, out)
	}
	n.expire(now)
	n.sendClosings(now, out)
	n.sendCalls(now, out)
	n.wake = max(n.nextWake(), now+1)
	return n.wake
}

func (n *Node) nextWake() time.Duration {
	wake := never
	for _, c := range n.wanting {
		wake = min(wake, c.wake())
	}
	for _, s := range n.askers {
		wake = min(wake, s.wake())
	}
	for i := range n.closings {
		wake = min(wake, n.closings[i].dueAt)
	}
	for _, s := range n.senders {
		for _, r := range s.readers {
			wake = min(wake, r.wake(), max(r.endsAt(), n.expireAt))
		}
	}
	for _, r := range n.left {
		wake = min(wake, max(r.endsAt(), n.expireAt))
	}
	return wake
}

func (n *Node) receive(now time.Duration, from Address, b []byte, out *Outbox) {
	h, err := parseHead(b)
	if err != nil {
		n.counts.Malformed++
		return
	}
	switch h.kind {
	case kindOpen:
		n.onOpen(now, from, h, b, out)
	case kindOpened:
		n.onOpened(now, from, h, b, out)
	case kindRefused:
		n.onRefused(now, from, h, b, out)
	case kindInterest:
		n.onInterest(now, from, h, b, out)
	case kindData:
		n.onData(now, from, h, b)
	case kindClose:
		n.onClose(now, from, h, b)
	}
}

func (n *Node) onInterest(now time.Duration, from Address, h head, b []byte, out *Outbox) {
	r := n.readers[flowKey{from, h.flow}]
	if r == nil {
		n.counts.Unknown++
		n.callMoved(now, from, h, b, out)
		return
	}
	s := r.responder
	if !s.sealer.holds(upstream, s.peerSalt, h.sequence, b, len(b)-tagBytes) {
		n.counts.Forged++
		return
	}
	if !s.interests.take(h.sequence) {
		n.counts.Replayed++
		return
	}
	if n.interest.parse(h, b) != nil {
		n.counts.Malformed++
		return
	}
	s.onInterest(now, r, &n.interest)
}

func (n *Node) onData(now time.Duration, from Address, h head, b []byte) {
	f := n.up[flowKey{from, h.flow}]
	if f == nil || !f.isOpen {
		n.overhear(from, h, b)
		return
	}
	p, err := parseData(h, b)
	if err != nil {
		n.counts.Malformed++
		return
	}
	s := f.requester
	if !s.sealer.holds(downstream, s.peerSalt, h.sequence, b, dataBytes-tagBytes) {
		s.counts.Forged++
		return
	}
	s.onData(now, f, &p)
}
