package pathrelay

import (
	"time"

	"downlink/agents/internal/intcp"
	"downlink/agents/internal/lab/emulate"
)

// regained is how long nobody may ask after the way has changed: those below open again within that time, or have left.
const regained = 5 * time.Second

// Seen is a content at the relays as it is now. Packets, bytes sent and what was asked for are sums over all sites, times are
// sums over the hops of the way; what arrived is what came from the sender, and what passed is what went out to the receivers.
type Seen struct {
	Look  intcp.Look
	Hop   intcp.HopCounts
	Node  intcp.NodeCounts
	IsMet bool
	// Sites are those of the way, from the sender on.
	Sites int
}

// passing is what of a content went out, and came in, by nodes that were at the ends of the way before.
type passing struct {
	gone              intcp.Look // of nodes that are forgotten
	goneHops          intcp.HopCounts
	passed            uint64 // until the present last node
	passedBase        uint64 // of it
	arrived, newBytes uint64 // until the present first node
	arrivedBase       uint64
	newBase           uint64
}

// Watch begins to count what passes of a content.
func (r *Relays) Watch(name intcp.Name) { r.passed[name] = &passing{} }

// settle adds up what passed by the nodes that are at the ends of the way, before it changes.
func (r *Relays) settle() {
	first := r.chain[0]
	for name, p := range r.passed {
		in := first.node.Look(0, r.plan.Run, name)
		passed, _ := r.left(name)
		p.passed += passed - p.passedBase
		p.arrived += in.ArrivedBytes - p.arrivedBase
		p.newBytes += in.NewBytes - p.newBase
	}
}

// restart counts from now on by the nodes that are at the ends of the way now.
func (r *Relays) restart() {
	if len(r.chain) == 0 {
		return
	}
	first := r.chain[0]
	for name, p := range r.passed {
		in := first.node.Look(0, r.plan.Run, name)
		p.passedBase, _ = r.left(name)
		p.arrivedBase, p.newBase = in.ArrivedBytes, in.NewBytes
	}
}

func (r *Relays) keepCounts(each *relay) {
	for name, p := range r.passed {
		p.gone = p.gone.With(each.node.Look(0, r.plan.Run, name))
		p.goneHops = p.goneHops.With(each.node.HopCounts(r.plan.Run))
	}
}

// Look looks at a content that is watched.
func (r *Relays) Look(at time.Duration, name intcp.Name) (s Seen) {
	p := r.passed[name]
	if p == nil || len(r.chain) == 0 {
		return s
	}
	now := at + clockBegin
	s.Look, s.Hop, s.Sites = p.gone, p.goneHops, len(r.chain)
	for _, each := range r.at {
		s.Look = s.Look.With(each.node.Look(now, r.plan.Run, name))
		s.Hop = s.Hop.With(each.node.HopCounts(r.plan.Run))
		counts := each.node.Counts()
		s.Node.HeldBytes += counts.HeldBytes
		s.Node.Evicted += counts.Evicted
		s.Node.Flows = max(s.Node.Flows, counts.Flows)
	}
	first, last := r.chain[0], r.chain[len(r.chain)-1]
	in, out := first.node.Look(now, r.plan.Run, name), last.node.Look(now, r.plan.Run, name)
	passed, readers := r.left(name)
	s.Look.PassedBytes = p.passed + passed - p.passedBase
	s.Look.ArrivedBytes = p.arrived + in.ArrivedBytes - p.arrivedBase
	s.Look.NewBytes = p.newBytes + in.NewBytes - p.newBase
	s.Look.GrantedBps, s.Look.AskedBps, s.Look.Peer, s.Look.IsOpenUpstream = out.GrantedBps, in.AskedBps, out.Peer, in.IsOpenUpstream
	s.Look.Readers = readers
	if len(r.exits) == 1 { // that sites ask each other says nothing of the receiver
		s.Look.Heard = out.Heard
	}
	if r.wasAsked = r.wasAsked || readers > 0; readers == 0 && r.wasAsked && at < r.turned+regained {
		s.Look.Readers = 1
	}
	s.IsMet = first.node.IsMet(r.plan.Run)
	return s
}

// left is what of a content the nodes at the exits have sent out of the way, each byte once for each who asked, since they
// have the exits, and how many ask there now.
func (r *Relays) left(name intcp.Name) (bytes uint64, readers int) {
	if len(r.exits) == 1 {
		out := r.chain[len(r.chain)-1].node.Look(0, r.plan.Run, name)
		return out.PassedBytes, out.Readers
	}
	for _, e := range r.exits {
		for _, hop := range e.hops {
			passed, asking := e.by.node.Passed(r.plan.Run, hop.Number, name)
			bytes, readers = bytes+passed, readers+asking
		}
	}
	return bytes, readers
}

// End ends the run at every node. The next Turn tells the neighbours; what was held is wiped.
func (r *Relays) End(at time.Duration) {
	for _, each := range r.at {
		each.node.End(r.plan.Run)
		if each.position != resting {
			each.wake = at
		}
	}
	r.until, r.isMeasured = emulate.Never, false
}

// Moment is a moment of the nodes' clock on the carrier's; 0 stays 0.
func Moment(at time.Duration) time.Duration {
	if at == 0 {
		return 0
	}
	return at - clockBegin
}
