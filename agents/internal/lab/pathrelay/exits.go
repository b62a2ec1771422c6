package pathrelay

import (
	"downlink/agents/internal/intcp"
	"downlink/agents/internal/lab/emulate"
)

// exit is where a receiver is attached: the one at the end of the link, or a further one on its branch.
type exit struct {
	branch  int // from 1; 0: at the end of the link
	hops    []intcp.Hop
	by      *relay // who serves it; nil: nobody yet
	callers [][]intcp.Caller
}

// exitsOf are those to which a plan's hops lead; there is always the one at the end.
func exitsOf(plan Plan) []*exit {
	exits := make([]*exit, len(plan.Receivers)+1)
	for i := range exits {
		exits[i] = &exit{branch: i}
	}
	for _, hop := range plan.Serves {
		e := exits[plan.Branches[hop.Number]]
		e.hops = append(e.hops, hop)
	}
	return exits
}

// hear notes who asks for what at an exit, before the way changes.
func (e *exit) hear(run uint64) {
	e.callers = e.callers[:0]
	for _, hop := range e.hops {
		e.callers = append(e.callers, e.by.node.Callers(run, hop.Number))
	}
}

// relayAtExit is who has an exit's place on the way that holds.
func (r *Relays) relayAtExit(e *exit) *relay {
	last := len(r.chain) - 1
	if e.branch == 0 {
		return r.chain[last]
	}
	return r.chain[r.plan.Receivers[e.branch-1].Site(last+1)]
}

// handOver lets the nodes at the exits serve the neighbours downstream, who are told at once if another one did before.
func (r *Relays) handOver() {
	if len(r.chain) == 0 {
		return
	}
	for _, e := range r.exits {
		old := e.by
		if e.by = r.relayAtExit(e); e.by == old {
			continue
		}
		e.leave(r.plan.Run, old)
		if e.branch == 0 {
			r.endAt(e.by)
		}
		for i, hop := range e.hops {
			_ = e.by.node.Serve(hop) // the run has begun at each node
			if r.plan.Options.AsksOnHandover && old != nil {
				e.by.node.Call(r.plan.Run, hop.Number, e.callers[i])
			}
		}
	}
}

// leave ends the service of a node that had the exit before; one that is not on the way any more has ended it.
func (e *exit) leave(run uint64, old *relay) {
	if old == nil {
		return
	}
	if e.branch == 0 {
		old.isLast = false
	}
	if old.position == resting {
		return
	}
	for _, hop := range e.hops {
		old.node.Part(run, hop.Number)
	}
}

// endAt makes a node the last of the way.
func (r *Relays) endAt(last *relay) {
	last.isLast = true
	if last.below != 0 { // what was below it has left
		last.node.Part(r.plan.Run, last.below)
		last.below = 0
	}
}

// leaveBy sends a datagram to a further receiver, if this node serves it.
func (r *Relays) leaveBy(branch int, here *relay, d *intcp.Datagram, give func(emulate.Site, bool, *emulate.Packet)) {
	if r.exits[branch].by != here {
		r.astray++
		return
	}
	p := r.pack(here, d, false)
	p.Branch, p.StopsAtSites = branch, false
	give(here.Site, false, p)
}
