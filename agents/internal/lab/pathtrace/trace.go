// Package pathtrace reads path traces, dl-path/1: how a path through satellites changes over time (docs/paths.md,
// section 2). It is pure: bytes in, a checked trace out.
package pathtrace

import (
	"fmt"
	"sort"
	"time"
)

// Trace is a path over time. Its paths follow each other without a gap, from 0 to Duration.
type Trace struct {
	Header
	SHA256   string // of the file
	Duration time.Duration
	Paths    []Path
}

// Path holds from Start on, at End the next one holds already. Without hops there is none.
type Path struct {
	Start, End time.Duration
	Hops       []Hop
}

// Node is a satellite, from 0, or a station: -1 is the first, -2 the second.
type Node int32

// FirstStation is where every path begins.
const FirstStation Node = -1

// LastStation is where every path of the trace ends.
func (t *Trace) LastStation() Node { return Node(-len(t.Stations)) }

// Hop leads to a node. It carries nothing for Gap from its path's start on.
type Hop struct {
	To    Node
	Gap   time.Duration
	Knots []Knot // the first at the path's start, the last at its end
}

// Knot is what a hop is like at a moment: the delay is straight to the next knot, rate and loss hold until then.
type Knot struct {
	At, Delay time.Duration
	Bps       float64
	LossRatio float64
}

// At is the index of the path that holds at a moment from 0 to below Duration.
func (t *Trace) At(moment time.Duration) int {
	return sort.Search(len(t.Paths), func(i int) bool { return t.Paths[i].End > moment })
}

// Delay is the hop's at a moment of its path.
func (h Hop) Delay(moment time.Duration) time.Duration {
	next := sort.Search(len(h.Knots), func(i int) bool { return h.Knots[i].At > moment })
	if next == len(h.Knots) {
		return h.Knots[next-1].Delay
	}
	a, b := h.Knots[next-1], h.Knots[next]
	return a.Delay + time.Duration(float64(b.Delay-a.Delay)*float64(moment-a.At)/float64(b.At-a.At))
}

// Knot is the one whose rate and loss hold at a moment, and until is when they end.
func (h Hop) Knot(moment time.Duration) (knot Knot, until time.Duration) {
	last := len(h.Knots) - 1
	next := min(last, sort.Search(last, func(i int) bool { return h.Knots[i+1].At > moment })+1)
	return h.Knots[next-1], h.Knots[next].At
}

// Least is the hop's shortest delay.
func (h Hop) Least() time.Duration {
	least := h.Knots[0].Delay
	for _, knot := range h.Knots {
		least = min(least, knot.Delay)
	}
	return least
}

// From are the nodes at which the hops begin: the first station, and where the hop before ends.
func (p Path) From() []Node {
	from := make([]Node, len(p.Hops))
	for i := range from {
		from[i] = FirstStation
		if i > 0 {
			from[i] = p.Hops[i-1].To
		}
	}
	return from
}

// wrong is the error of everything about path traces: where, why, what to do.
func wrong(place, remedy, reason string, values ...any) error {
	return fmt.Errorf("%s: %s. %s", place, fmt.Sprintf(reason, values...), remedy)
}

const (
	copyAgain = "Make the path again, or copy the file again."
	makeAgain = "Make the path again."
	another   = "This is no path trace; name another file."
)
