package pathrelay

import (
	"time"

	"downlink/agents/internal/emulate"
	"downlink/agents/internal/intcp"
)

// regained is how long nobody may ask after the way has changed: those below open again within that time, or have left.
const regained = 5 * time.Second

// Seen is a content at the relays as it is now. Packets, bytes sent and what was asked for are sums over all sites, times are
// sums over the hops of the way; what arrived is what came from the sender, and what passed is what went out to the receiver.
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
	first, last := r.chain[0], r.chain[len(r.chain)-1]
	for name, p := range r.passed {
		out, in := last.node.Look(0, r.plan.Run, name), first.node.Look(0, r.plan.Run, name)
		p.passed += out.PassedBytes - p.passedBase
		p.arrived += in.ArrivedBytes - p.arrivedBase
		p.newBytes += in.NewBytes - p.newBase
	}
}

// restart counts from now on by the nodes that are at the ends of the way now.
func (r *Relays) restart() {
	if len(r.chain) == 0 {
		return
	}
	first, last := r.chain[0], r.chain[len(r.chain)-1]
	for name, p := range r.passed {
		out, in := last.node.Look(0, r.plan.Run, name), first.node.Look(0, r.plan.Run, name)
		p.passedBase, p.arrivedBase, p.newBase = out.PassedBytes, in.ArrivedBytes, in.NewBytes
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
	s.Look.PassedBytes = p.passed + out.PassedBytes - p.passedBase
	s.Look.ArrivedBytes = p.arrived + in.ArrivedBytes - p.arrivedBase
	s.Look.NewBytes = p.newBytes + in.NewBytes - p.newBase
	s.Look.GrantedBps, s.Look.AskedBps, s.Look.Peer, s.Look.IsOpenUpstream = out.GrantedBps, in.AskedBps, out.Peer, in.IsOpenUpstream
	s.Look.Readers = out.Readers
	if r.wasAsked = r.wasAsked || out.Readers > 0; out.Readers == 0 && r.wasAsked && at < r.turned+regained {
		s.Look.Readers = 1
	}
	s.IsMet = first.node.IsMet(r.plan.Run)
	return s
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
