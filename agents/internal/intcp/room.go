package intcp

import "slices"

// What neighbours name costs a relay memory, whether or not anybody has such contents. A peer with a hop's key may name any.

// mostPlaces is how many contents of a run a relay knows, each once for each who asked where they are not shared.
const mostPlaces = 256

// goneContent is what a place that had to go counted.
type goneContent struct {
	counts       Counts
	times        Times
	reachedBytes uint64
}

// isUnproven: that there is such a content only a neighbour downstream says. Nothing of it has come yet.
func (p *place) isUnproven() bool {
	return p.stream == nil && p.consumer == nil && p.counts.Arrived == 0
}

// mayGo: nobody asks for it, and what is held of it serves nobody else.
func (p *place) mayGo() bool {
	return p.stream == nil && p.consumer == nil && !p.isAsked() && (p.isUnproven() || !p.node.options[p.Run].SharesCache)
}

// makeRoom lets the oldest content of a run that may go do so, if it has too many of them.
func (n *Node) makeRoom(run uint64) bool {
	known := 0
	var oldest *place
	for key, p := range n.places {
		if key.run != run {
			continue
		}
		known++
		if p.mayGo() && (oldest == nil || p.born < oldest.born) {
			oldest = p
		}
	}
	if known < mostPlaces {
		return true
	}
	if oldest == nil {
		return false
	}
	n.forget(oldest)
	return true
}

// forget lets a place go. What it counted stays, unless that is nothing.
func (n *Node) forget(p *place) {
	delete(n.places, p.key)
	if p.up != nil {
		n.closeUp(p, ReasonDone)
	}
	p.dropLeft()
	p.held.wipe()
	if p.isUnproven() {
		for _, hop := range n.hops {
			if passed := hop.passed[p.Name]; hop.Run == p.Run && passed != nil && *passed == 0 && !hop.asksFor(p.Name) {
				delete(hop.passed, p.Name)
			}
		}
		return
	}
	key := placeKey{run: p.Run, name: p.Name}
	gone := n.gone[key]
	if gone == nil {
		gone = &goneContent{}
		n.gone[key] = gone
	}
	gone.counts, gone.times = gone.counts.plus(p.counts), gone.times.with(p.times)
	gone.reachedBytes += min(uint64(p.sentEnd)*uint64(p.UnitBytes), p.Length)
}

func (h *served) asksFor(name Name) bool {
	return h.now != nil && slices.ContainsFunc(h.now.readers, func(r *reader) bool { return r.place.Name == name })
}
