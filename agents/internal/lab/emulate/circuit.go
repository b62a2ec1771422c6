package emulate

import (
	"slices"
	"time"
)

// Relays have the sites of a link: what stops at one is theirs, and they put in there what they like. Times are on a clock
// of theirs.
type Relays interface {
	// Take is given a packet that has come to a site. It is done with by the next Turn.
	Take(at time.Duration, site Site, p *Packet)
	// Turn does what is due, and puts in what comes of it.
	Turn(at time.Duration, give func(site Site, isUp bool, p *Packet))
	// Wake is when Turn has something to do; at once after a Take.
	Wake() time.Duration
	// Reach is when something that they put in of themselves can be at an end of the link at the earliest.
	Reach() time.Duration
	// AreHosts tells whether they are hosts at the routers: packets leave the link there, and none stops at a satellite.
	AreHosts() bool
}

// Circuit is both ways of a link with relays at the sites between. What happens on either way and at the relays happens in
// the order of its moments, however late the caller comes.
type Circuit struct {
	profile  Profile
	down, up *Line
	relays   Relays
	zero     time.Duration // of the lines, on the relays' clock
	now      time.Duration // likewise
	fork     *Fork         // who has the sites, where there are further receivers; nil: there are none
	outs     [2][]*Packet
	giving   func(site Site, isUp bool, p *Packet) // give, made once
}

// NewCircuit gives the sites of a network to relays. zero is the lines' time 0 on the relays' clock.
func NewCircuit(profile Profile, network Network, relays Relays, zero time.Duration) *Circuit {
	c := &Circuit{profile: profile, down: network.Line(Gateway, Receiver), up: network.Line(Receiver, Gateway), relays: relays, zero: zero}
	c.fork, _ = relays.(*Fork)
	c.giving = c.give
	for _, line := range []*Line{c.down, c.up} {
		line.take = func(at time.Duration, site Site, p *Packet) { c.relays.Take(at+c.zero, site, p) }
	}
	if relays.AreHosts() {
		c.down.isAtRouters, c.up.isAtRouters = true, true
		c.down.bound, c.up.bound = toRouters(c.down), toRouters(c.up)
	} else {
		c.down.bound, c.up.bound = bounds(c.down, c.up), bounds(c.up, c.down)
	}
	return c
}

// toRouters are the shortest times from each node of a line to the end of its hop, where a host may be.
func toRouters(line *Line) []reach {
	found := make([]reach, len(line.nodes))
	for i := range line.nodes {
		found[i] = reach{onward: line.ahead[i] - line.ahead[line.lastOfHop(i)], back: Never}
	}
	return found
}

// lastOfHop is the last node of a node's hop.
func (l *Line) lastOfHop(node int) int {
	for node+1 < len(l.nodes) && l.hops[node+1] == l.hops[node] {
		node++
	}
	return node
}

// bounds are the shortest times from each node of a line to the ends of the link: onward from its exit, and back by the other
// line, from the end of its hop or, where it is a path, from the path's beginning.
func bounds(line, other *Line) []reach {
	found := make([]reach, len(line.nodes))
	for i, node := range line.nodes {
		end := line.lastOfHop(i)
		rest := line.ahead[i] - line.ahead[end]
		found[i] = reach{onward: line.ahead[i], back: Never}
		if _, isPath := node.(*constellation); isPath {
			found[i].back = 0
			if i > 0 {
				found[i].back = other.from(line.hops[i-1])
			}
			continue
		}
		if end+1 < len(line.nodes) {
			found[i].back = rest + other.from(line.hops[i])
		}
	}
	return found
}

// from is the shortest time from the beginning of a hop to the end of the line.
func (l *Line) from(hop int) time.Duration {
	first := slices.Index(l.hops, hop)
	return l.ahead[first] + l.nodes[first].Least()
}

// Places are the sites of the way that holds at a moment of the relays' clock, from the gateway to the receiver, and until
// when it holds. Without a path over the constellation the way is not whole.
func (c *Circuit) Places(at time.Duration) (places []Place, until time.Duration, isWhole bool) {
	at -= c.zero
	until, isWhole = Never, true
	hops := c.profile.hops()
	for i, hop := range hops {
		if hop.Path != nil {
			inside, end := hop.Path.places(i, at)
			isWhole = isWhole && len(inside) > 0
			for _, place := range inside {
				if i > 0 {
					place.ToGateway += c.up.from(i - 1)
				}
				if i+1 < len(hops) {
					place.ToReceiver += c.down.from(i + 1)
				}
				places = append(places, place)
			}
			until = min(until, end+c.zero)
		}
		if i+1 < len(hops) {
			places = append(places, Place{Site{i, Router}, c.down.from(i + 1), c.up.from(i)})
		}
	}
	return places, until, isWhole
}

// Run goes on up to now, on the relays' clock. What left either way is handed to leave, with the moment's own time in LeftAt.
// wake is when something can be through at the earliest.
func (c *Circuit) Run(now time.Duration, leave func(isUp bool, out []*Packet)) (wake time.Duration) {
	for {
		downAt, upAt, turnAt := later(c.down.next(), c.zero), later(c.up.next(), c.zero), c.relays.Wake()
		at := min(downAt, upAt, turnAt)
		if at > now {
			break
		}
		c.now = max(c.now, at)
		if at == downAt {
			c.outs[0] = c.down.happen(c.outs[0])
			continue
		}
		if at == upAt {
			c.outs[1] = c.up.happen(c.outs[1])
			continue
		}
		c.relays.Turn(c.now, c.giving)
	}
	c.now = max(c.now, now)
	return c.letOut(leave)
}

// Enter goes on up to now, and lets a packet in at one end.
func (c *Circuit) Enter(now time.Duration, isUp bool, p *Packet, leave func(isUp bool, out []*Packet)) (wake time.Duration) {
	c.Run(now, leave)
	if isUp {
		c.outs[1], _ = c.up.Step(c.now-c.zero, p, c.outs[1])
	} else {
		c.outs[0], _ = c.down.Step(c.now-c.zero, p, c.outs[0])
	}
	return c.letOut(leave)
}

// Put goes on up to now, and lets a packet in at a site.
func (c *Circuit) Put(now time.Duration, site Site, isUp bool, p *Packet, leave func(isUp bool, out []*Packet)) (wake time.Duration) {
	c.Run(now, leave)
	c.give(site, isUp, p)
	return c.letOut(leave)
}

func (c *Circuit) letOut(leave func(isUp bool, out []*Packet)) (wake time.Duration) {
	for i, isUp := range []bool{false, true} {
		if len(c.outs[i]) > 0 {
			leave(isUp, c.outs[i])
			c.outs[i] = c.outs[i][:0]
		}
	}
	wake = min(later(c.down.firstReach(), c.zero), later(c.up.firstReach(), c.zero), c.relays.Reach())
	if c.fork != nil { // what is anywhere may be at a site by the next event, and from there at a further receiver
		wake = min(wake, later(min(c.down.next(), c.up.next()), c.zero+c.fork.least))
	}
	return wake
}

func (c *Circuit) give(site Site, isUp bool, p *Packet) {
	if isUp {
		c.outs[1] = c.up.give(c.now-c.zero, site, p, c.outs[1])
	} else {
		c.outs[0] = c.down.give(c.now-c.zero, site, p, c.outs[0])
	}
}

// Leave lets packets pass the sites again, and nothing stop there.
func (c *Circuit) Leave() { c.down.take, c.up.take = nil, nil }
