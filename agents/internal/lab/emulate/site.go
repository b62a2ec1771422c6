package emulate

import (
	"math"
	"slices"
	"time"

	"downlink/agents/internal/lab/pathtrace"
)

// Site is a place between two hops of a link, at which packets can be taken out and put in.
type Site struct {
	Hop  int // of the profile, from 0 at the gateway
	Node pathtrace.Node
}

// Router is the node behind a hop of the profile; a hop that is a path has its satellites and stations as well.
const Router pathtrace.Node = math.MinInt32

// Place is a site of the way that holds now, and the shortest times from there to both ends of the link.
type Place struct {
	Site
	ToReceiver, ToGateway time.Duration
}

// taker is given a packet that stops at a site, and keeps it.
type taker func(at time.Duration, site Site, p *Packet)

// borders are where a line crosses from one hop of the profile to the next.
type borders struct {
	hops  []int // of each node of the line
	isUp  bool
	take  taker // nil: nobody has the sites, and nothing stops there
	bound []reach
	// isAtRouters: nothing stops at satellites.
	isAtRouters bool
}

// reach is the shortest time from a node's exit to either end of the link, given that relays turn packets back.
type reach struct{ onward, back time.Duration }

// stops tells whether a packet that leaves a node comes to a router there, and hands it over.
func (l *Line) stops(node int, at time.Duration, p *Packet) bool {
	if l.take == nil || p == nil || !p.StopsAtSites || p.Lost != NotLost || node+1 >= len(l.nodes) || l.hops[node] == l.hops[node+1] {
		return false
	}
	l.handOver(at, l.routerBehind(node), p)
	return true
}

func (l *Line) routerBehind(node int) Site {
	if l.isUp { // the router before a hop is the one behind the hop before it
		return Site{l.hops[node] - 1, Router}
	}
	return Site{l.hops[node], Router}
}

func (l *Line) handOver(at time.Duration, site Site, p *Packet) {
	l.counts.Taken++
	l.counts.TakenBytes += uint64(p.SizeBytes)
	p.LeftAt = at
	l.take(at, site, p)
}

// give puts a packet in at a site, from where it goes on along the line. The line has been run up to this moment.
func (l *Line) give(now time.Duration, site Site, p *Packet, out []*Packet) []*Packet {
	l.counts.Given++
	l.counts.GivenBytes += uint64(p.SizeBytes)
	if site.Node == Router {
		hop := site.Hop + 1
		if l.isUp {
			hop = site.Hop
		}
		return l.pass(slices.Index(l.hops, hop), now, p, out)
	}
	node := slices.Index(l.hops, site.Hop)
	path, isPath := l.nodes[node].(*constellation)
	if !isPath {
		p.Lost = PathChange
		return l.leave(now, p, out)
	}
	p, wake := path.give(now, site.Node, p)
	l.sleep(node, wake)
	if l.stops(node, now, p) {
		return out
	}
	return l.pass(node+1, now, p, out)
}

// firstReach is when something that is inside can come to either end of the link at the earliest, if relays may answer at
// each site.
func (l *Line) firstReach() time.Duration {
	first := Never
	for i, wake := range l.wakes {
		if wake == Never {
			continue
		}
		if path, isPath := l.nodes[i].(*constellation); isPath {
			onward, back := path.firstReach()
			first = min(first, later(onward, l.bound[i].onward), later(back, l.bound[i].back))
			continue
		}
		first = min(first, later(wake, min(l.bound[i].onward, l.bound[i].back)))
	}
	return first
}

func later(at, by time.Duration) time.Duration {
	if at == Never || by == Never {
		return Never
	}
	return at + by
}

// give puts a packet in at a node of the path.
func (n *constellation) give(now time.Duration, node pathtrace.Node, p *Packet) (*Packet, time.Duration) {
	n.now = now
	if n.held == 0 {
		n.seek(now)
	}
	for event := n.next(); event <= now; event = n.next() {
		n.happen(event)
	}
	n.held++
	switch i := n.siteOf(node); {
	case len(n.sites) == 0:
		n.lose(p, OutageLoss)
	case i < 0:
		n.lose(p, PathChange)
	default:
		n.enter(i, now, p)
	}
	return n.leave()
}

// firstReach is like firstExit, and says as well when an answer can be back at the path's beginning.
func (n *constellation) firstReach() (onward, back time.Duration) {
	onward = n.firstExit()
	switch {
	case len(n.gone) > 0:
		return n.now, n.now
	case n.held == 0:
		return Never, Never
	}
	back = n.end()
	past := time.Duration(0)
	for _, s := range n.sites {
		past += s.least
		if s.queue.n > 0 && s.doneAt != Never {
			back = min(back, s.doneAt+s.least+past)
		}
		if due := s.air.packets.next(); due != Never {
			back = min(back, due+past)
		}
	}
	for _, old := range n.left {
		back = min(back, old.packets.next())
	}
	return onward, back
}

// places are the nodes between the ends of the path that holds at a moment, from the gateway's side on, and until when.
func (p Path) places(hop int, at time.Duration) (places []Place, until time.Duration) {
	trace := p.plan.trace
	inside := at % trace.Duration
	path := trace.Paths[trace.At(inside)]
	sum := time.Duration(0)
	for _, each := range path.Hops {
		sum += each.Least()
	}
	past := time.Duration(0)
	for _, each := range path.Hops[:max(0, len(path.Hops)-1)] {
		past += each.Least()
		place := Place{Site: Site{hop, each.To}, ToGateway: past, ToReceiver: sum - past}
		if p.plan.isTurned {
			place.ToGateway, place.ToReceiver = place.ToReceiver, place.ToGateway
		}
		places = append(places, place)
	}
	if p.plan.isTurned {
		slices.Reverse(places)
	}
	return places, at - inside + path.End
}
