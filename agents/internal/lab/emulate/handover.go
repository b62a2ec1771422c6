package emulate

import (
	"slices"
	"time"

	"downlink/agents/internal/lab/pathtrace"
)

// How one path follows another.

func (n *constellation) path() pathtrace.Path { return n.plan.trace.Paths[n.index] }

// end is when the present path ends.
func (n *constellation) end() time.Duration { return n.base + n.path().End }

// seek goes to the path of a moment while nothing is inside.
func (n *constellation) seek(now time.Duration) {
	inside := now % n.plan.trace.Duration
	if n.index >= 0 && n.base == now-inside && inside >= n.path().Start && inside < n.path().End {
		return
	}
	n.base, n.index, n.sites = now-inside, n.plan.trace.At(inside), nil
	n.lay()
}

// change is the end of the present path. After the trace's last one its first one follows.
func (n *constellation) change() {
	old := n.sites
	at := n.end()
	if n.index++; n.index == len(n.plan.trace.Paths) {
		n.index, n.base = 0, n.base+n.plan.trace.Duration
	}
	n.lay()
	for _, s := range old {
		if !slices.Contains(n.sites, s) {
			n.abandon(s)
		}
	}
	for _, s := range n.sites {
		if s.queue.n > 0 {
			n.send(s, at, s.bits)
		}
	}
}

// lay puts a site at each node that the present path leaves from; a site that was there before stays, with what waits there.
func (n *constellation) lay() {
	before, path := n.sites, n.path()
	from := path.From()
	n.sites = make([]*site, len(path.Hops))
	for i, hop := range path.Hops {
		near, far, place := from[i], hop.To, i
		if n.isUp {
			near, far, place = far, near, len(path.Hops)-1-i
		}
		s := findSite(before, near)
		if s == nil {
			s = &site{node: near, draws: newCourse(n.streamOf(near)), doneAt: Never}
		}
		n.lead(s, far)
		s.hop, s.opensAt, s.least = hop, n.base+path.Start+hop.Gap, hop.Least()
		n.sites[place] = s
	}
	after := time.Duration(0)
	for _, s := range slices.Backward(n.sites) {
		s.after = after
		after += s.least
	}
}

func findSite(sites []*site, node pathtrace.Node) *site {
	for _, s := range sites {
		if s.node == node {
			return s
		}
	}
	return nil
}

// lead lets a site send to a node. What is in the air towards another one stays there.
func (n *constellation) lead(s *site, to pathtrace.Node) {
	if s.air != nil && s.to == to {
		return
	}
	n.keep(s.air)
	s.to, s.air = to, &air{from: s.node, to: to}
	if i := slices.IndexFunc(n.left, func(old *air) bool { return old.from == s.node && old.to == to }); i >= 0 {
		s.air = n.left[i]
		n.left = slices.Delete(n.left, i, i+1)
	}
	if s.queue.n > 0 {
		s.bits = float64((*s.queue.at(0)).SizeBytes) * 8
	}
}

func (n *constellation) keep(old *air) {
	if old != nil && old.packets.n > 0 {
		n.left = append(n.left, old)
	}
}

// abandon loses what waits at a site that is no longer on the path. A station goes nowhere: without a path it has an outage.
func (n *constellation) abandon(s *site) {
	cause := PathChange
	if s.node < 0 && len(n.sites) == 0 {
		cause = OutageLoss
	}
	for s.queue.n > 0 {
		p, _ := s.queue.take(Never - 1)
		n.lose(p, cause)
	}
	s.queuedBytes = 0
	n.keep(s.air)
}

// show adds what the present path is like.
func (n *constellation) show(now time.Duration, look *Look) {
	if n.held == 0 {
		n.seek(now)
	}
	path, inside := n.path(), now-n.base
	look.Path = n.index
	for _, s := range n.sites {
		look.WaitingBytes += s.queuedBytes
		look.Delay += s.hop.Delay(inside)
		if knot, _ := s.hop.Knot(inside); now >= s.opensAt {
			look.narrow(knot.Bps)
		} else {
			look.narrow(0)
			look.IsGap = true
		}
	}
	repeats := n.base / n.plan.trace.Duration
	last := len(n.plan.trace.Paths)
	look.GapTime += repeats*n.plan.gaps[last] + n.plan.gaps[n.index] + min(longestGap(path), inside-path.Start)
	look.OutageTime += repeats*n.plan.outages[last] + n.plan.outages[n.index]
	if len(path.Hops) == 0 {
		look.narrow(0)
		look.IsOutage = true
		look.OutageTime += inside - path.Start
	}
}
