package emulate

import (
	"math/rand/v2"
	"slices"
	"time"

	"downlink/agents/internal/lab/pathtrace"
)

// constellation is one direction of a path through satellites: a queue and a transmitter at each node, and what is in the
// air behind each. The path changes while packets are on their way: what is in the air arrives if its node is still on the
// path then, what waits at a node that left is lost. A hop that goes to another node from now on sends what waits there
// over the new hop, the packet that was being sent from its beginning.
type constellation struct {
	plan  *plan
	isUp  bool // from the trace's last station to its first
	limit int  // bytes that may wait at a node
	seed  uint64

	index int           // of the path that holds; -1: none was looked for
	base  time.Duration // of the trace's present repetition
	sites []*site       // in the order of passing; none: there is no path
	left  []*air        // behind hops that the path no longer has
	gone  []*Packet     // that leave now
	held  int
	now   time.Duration
	take  func(at time.Duration, node pathtrace.Node, p *Packet) bool // keeps what stops at a node; nil: nothing does
}

// site is a node of the path and the hop behind it.
type site struct {
	node, to pathtrace.Node
	hop      pathtrace.Hop
	opensAt  time.Duration // a changed hop carries nothing before
	after    time.Duration // the shortest time from the hop's end to the path's
	least    time.Duration // of the hop
	draws    *course

	queue       waiting // the first is being sent
	queuedBytes int
	doneAt      time.Duration // when it is; Never: not on this path
	bits        float64       // of it, not sent yet when the path ends
	air         *air
}

// air is what is between two nodes.
type air struct {
	from, to pathtrace.Node
	packets  waiting
}

// pathStream begins the random streams of a path's nodes: one each, and others for the way up.
const (
	pathStream   = 1 << 48
	pathUpStream = 1 << 49
)

func (p Path) node(isUp bool, seed uint64) *constellation {
	return &constellation{plan: p.plan, isUp: isUp != p.plan.isTurned, limit: p.Queue.LimitBytes, seed: seed, index: -1}
}

func (n *constellation) Process(now time.Duration, in *Packet) (*Packet, time.Duration) {
	n.now = now
	if n.held == 0 {
		n.seek(now)
	}
	for event := n.next(); event <= now; event = n.next() {
		n.happen(event)
	}
	if in != nil {
		n.held++
		n.enter(0, now, in)
	}
	return n.leave()
}

func (n *constellation) leave() (out *Packet, wake time.Duration) {
	if len(n.gone) > 0 {
		out = n.gone[0]
		n.gone = slices.Delete(n.gone, 0, 1)
		n.held--
	}
	if len(n.gone) > 0 {
		return out, n.now
	}
	return out, n.next()
}

// next is the next event, Never when nothing is inside.
func (n *constellation) next() time.Duration {
	if n.held == len(n.gone) {
		return Never
	}
	_, _, at := n.earliest()
	return min(at, n.end())
}

// earliest finds what comes next: a transmission's end (arrives nil) or an arrival. Of several at one moment it is the one
// furthest down the path.
func (n *constellation) earliest() (s *site, arrives *air, at time.Duration) {
	at = Never
	for _, candidate := range slices.Backward(n.sites) {
		if due := candidate.air.packets.next(); due < at {
			s, arrives, at = nil, candidate.air, due
		}
		if candidate.queue.n > 0 && candidate.doneAt < at {
			s, arrives, at = candidate, nil, candidate.doneAt
		}
	}
	for _, old := range n.left {
		if due := old.packets.next(); due < at {
			s, arrives, at = nil, old, due
		}
	}
	return s, arrives, at
}

// happen lets the next event happen, a change of path before all else of its moment.
func (n *constellation) happen(at time.Duration) {
	if n.end() <= at {
		n.change()
		return
	}
	s, arrives, _ := n.earliest()
	if arrives == nil {
		n.sent(s, at)
		return
	}
	p, _ := arrives.packets.take(at)
	n.land(arrives.to, at, p)
	n.left = slices.DeleteFunc(n.left, func(old *air) bool { return old.packets.n == 0 })
}

// land lets a packet arrive at a node.
func (n *constellation) land(node pathtrace.Node, at time.Duration, p *Packet) {
	if node == n.exit() {
		n.gone = append(n.gone, p)
		return
	}
	if i := n.siteOf(node); i >= 0 {
		if p.StopsAtSites && n.take != nil && n.take(at, node, p) {
			n.held--
			return
		}
		n.enter(i, at, p)
		return
	}
	n.lose(p, PathChange)
}

func (n *constellation) siteOf(node pathtrace.Node) int {
	return slices.IndexFunc(n.sites, func(s *site) bool { return s.node == node })
}

// exit is the station at the path's end.
func (n *constellation) exit() pathtrace.Node {
	if n.isUp {
		return pathtrace.FirstStation
	}
	return n.plan.trace.LastStation()
}

func (n *constellation) lose(p *Packet, cause Cause) {
	p.Lost = cause
	n.gone = append(n.gone, p)
}

// enter lets a packet wait at a site. Without a path there is no way on.
func (n *constellation) enter(i int, at time.Duration, p *Packet) {
	if len(n.sites) == 0 {
		n.lose(p, OutageLoss)
		return
	}
	s := n.sites[i]
	if s.queuedBytes+p.SizeBytes > n.limit {
		n.lose(p, QueueFull)
		return
	}
	p.due = 0 // in the order of coming
	s.queue.put(p)
	s.queuedBytes += p.SizeBytes
	if s.queue.n == 1 {
		n.send(s, at, float64(p.SizeBytes)*8)
	}
}

// send reckons when the first packet's bits are sent, as far as the path lasts.
func (n *constellation) send(s *site, at time.Duration, bits float64) {
	s.doneAt = Never
	for at = max(at, s.opensAt); at < n.end(); {
		knot, until := s.hop.Knot(at - n.base)
		until += n.base
		needs := time.Duration(bits / knot.Bps * float64(time.Second))
		if at+needs <= until && at+needs < n.end() {
			s.doneAt = at + needs
			return
		}
		bits, at = max(0, bits-knot.Bps*(until-at).Seconds()), until
	}
	s.bits = bits
}

// sent is the end of a transmission.
func (n *constellation) sent(s *site, at time.Duration) {
	p, _ := s.queue.take(at)
	s.queuedBytes -= p.SizeBytes
	knot, _ := s.hop.Knot(at - n.base)
	if knot.LossRatio > 0 && s.draws.draw(at).Float64() < knot.LossRatio {
		n.lose(p, RandomLoss)
	} else {
		p.due = at + s.hop.Delay(at-n.base)
		s.air.packets.put(p)
	}
	if s.queue.n > 0 {
		n.send(s, at, float64((*s.queue.at(0)).SizeBytes)*8)
	}
}

func (n *constellation) Held() int { return n.held }

func (n *constellation) Least() time.Duration { return n.plan.least }

// firstExit is when the next packet can be through at the earliest. No later change of path is looked ahead to.
func (n *constellation) firstExit() time.Duration {
	switch {
	case len(n.gone) > 0:
		return n.now
	case n.held == 0:
		return Never
	}
	first := n.end()
	for _, s := range n.sites {
		if s.queue.n > 0 && s.doneAt != Never {
			first = min(first, s.doneAt+s.least+s.after)
		}
		if due := s.air.packets.next(); due != Never {
			first = min(first, due+s.after)
		}
	}
	for _, old := range n.left {
		first = min(first, old.packets.next())
	}
	return first
}

func (n *constellation) streamOf(node pathtrace.Node) *rand.Rand {
	stream := uint64(pathStream)
	if n.isUp {
		stream = pathUpStream
	}
	return rand.New(rand.NewPCG(n.seed, stream+uint64(uint32(node))))
}
