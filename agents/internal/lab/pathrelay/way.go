package pathrelay

import (
	"slices"
	"time"

	"downlink/agents/internal/intcp"
	"downlink/agents/internal/lab/emulate"
)

// How the relays follow a way that changes.

// follow puts a node at each site of the way that holds now, and makes neighbours of those beside each other. Without a path
// everybody waits where they are.
func (r *Relays) follow(at time.Duration) {
	places, until, isWhole := r.places(at)
	r.until = until
	if !isWhole {
		return
	}
	r.turned = at
	before := r.chain
	if len(before) > 0 {
		r.settle()
		for _, e := range r.exits {
			e.hear(r.plan.Run)
		}
	}
	r.chain = make([]*relay, 0, len(places))
	for _, place := range places {
		each := r.relayAt(place.Site)
		each.Place = place
		r.chain = append(r.chain, each)
	}
	for _, each := range before {
		if !slices.Contains(r.chain, each) {
			r.rest(at, each)
		}
	}
	for i, each := range r.chain {
		each.position = i
		r.join(at, i)
		each.wake = at
	}
	r.handOver()
	r.forget(at)
	r.restart()
}

func (r *Relays) relayAt(site emulate.Site) *relay {
	if known := r.at[site]; known != nil {
		return known
	}
	node, err := r.newNode()
	if err != nil { // it was well when the relays were made
		panic(err)
	}
	made := &relay{number: len(r.all), node: node, position: resting, wake: emulate.Never, told: map[intcp.Name]RowCounts{},
		left: map[intcp.Name]Row{}}
	r.all, r.at[site] = append(r.all, made), made
	return made
}

// rest lets a node leave the way.
func (r *Relays) rest(at time.Duration, gone *relay) {
	for name := range r.passed {
		gone.left[name] = r.row(at, gone, name)
	}
	gone.node.Rest(r.plan.Run)
	gone.position, gone.leftAt, gone.wake = resting, at, emulate.Never
	gone.below, gone.above, gone.isFirst, gone.isLast = 0, nil, false, false
}

// join lets a node ask the one before it, the first one the sender.
func (r *Relays) join(at time.Duration, i int) {
	each := r.chain[i]
	if i == 0 {
		if !each.isFirst {
			each.isFirst, each.above = true, nil
			_ = r.askUpstream(at, each) // the run has begun at each node
		}
		return
	}
	above := r.chain[i-1]
	if each.above == above && !each.isFirst && above.below != 0 {
		return
	}
	if above.below != 0 {
		above.node.Part(r.plan.Run, above.below)
	}
	hop := intcp.Hop{Run: r.plan.Run, Number: r.inner, Key: r.key(r.inner), Peer: innerAddress(above.number)}
	above.below, each.above, each.isFirst = r.inner, above, false
	if r.inner++; r.inner < firstInner {
		r.inner = firstInner
	}
	_ = above.node.Serve(hop)
	_ = each.node.Ask(hop)
	_ = each.node.Greet(r.plan.Run)
}

// forget ends nodes that left the way long ago.
func (r *Relays) forget(at time.Duration) {
	for site, each := range r.at {
		if each.position == resting && at >= each.leftAt+CacheKeep && !r.owes(each) {
			r.keepCounts(each)
			each.node.End(r.plan.Run)
			r.all[each.number] = nil
			delete(r.at, site)
		}
	}
}
