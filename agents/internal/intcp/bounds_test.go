package intcp

import (
	"reflect"
	"time"

	"github.com/stretchr/testify/require"
)

// requireBounded: what a node keeps is within what it may keep, at every moment.
func (w *world) requireBounded(most bounds) {
	w.t.Helper()
	for i, n := range w.nodes {
		atMost(w.t, len(n.readers), n.policy.MaxFlows, "node %d", i)
		atMost(w.t, len(n.places), mostPlaces, "node %d", i)
		atMost(w.t, n.cache.usedBytes, n.policy.MaxCacheBytes, "node %d", i)
		require.Equal(w.t, n.cache.usedBytes, n.heldBytes(), "node %d: what is held is what is counted", i)
		atMost(w.t, len(n.closings), 2*most.flows, "node %d", i)
		for _, s := range n.senders {
			atMost(w.t, len(s.log), logMost, "node %d", i)
		}
		for _, s := range n.askers {
			atMost(w.t, len(s.losts), most.losts, "node %d", i)
		}
		for _, r := range n.left {
			atMost(w.t, int(w.now-r.endsAt()), int(2*time.Second), "node %d: what is kept of those who left", i)
		}
		for _, p := range n.places {
			p.requireBounded(w.t, i, most)
		}
	}
}

// atMost is require.LessOrEqual at a hundredth of its cost where all is well: it is asked a million times.
func atMost(t require.TestingT, got, most int, format string, args ...any) {
	if got > most {
		require.LessOrEqual(t, got, most, append([]any{format}, args...)...)
	}
}

// bounds are what the options, and the path, let a node keep.
type bounds struct {
	asked int // units of a content, of all consumers together
	flows int
	losts int // runs of lost sequences that wait to be reported
}

func (p *place) requireBounded(t require.TestingT, node int, most bounds) {
	if p.consumer != nil {
		atMost(t, p.nPending*int(p.UnitBytes), p.consumer.options.WindowBytes, "node %d: the window", node)
	}
	atMost(t, p.nPending, most.asked, "node %d: what is pending", node)
	if p.up != nil {
		atMost(t, p.up.asks.units(), most.asked, "node %d: what is to be asked", node)
	}
	for _, r := range p.readers {
		atMost(t, r.wants.units()+r.line.total, most.asked, "node %d: what a neighbour waits for", node)
		atMost(t, r.resends.total, len(r.responder.log), "node %d: repairs", node)
		require.Equal(t, r.line.total, r.line.waits.units(), "node %d: what waits", node)
	}
}

func (n *Node) heldBytes() (sum int) {
	for _, p := range n.places {
		if p.held != nil {
			for _, b := range p.held.blocks {
				sum += len(b.bytes)
			}
		}
	}
	return sum
}

// spareBytes are those of blocks that are kept for later.
func (n *Node) spareBytes() (sum uint64) {
	for _, b := range n.cache.spare {
		sum += uint64(len(b.bytes))
	}
	return sum
}

// requireIdle: nobody asks a node for anything, nobody who left did so lately, and it asks nobody.
func (n *Node) requireIdle(t require.TestingT, shown string) {
	require.Empty(t, n.readers, shown)
	require.Empty(t, n.left, shown)
	require.Empty(t, n.up, shown)
	require.Empty(t, n.closings, shown)
	for _, p := range n.places {
		require.Zero(t, p.nPending, shown)
		require.Empty(t, p.pending.list, shown)
	}
}

// footprint is how many bytes can be reached from a node, without a shelf that other nodes use too.
func footprint(n *Node) uint64 { return (&reached{seen: map[uintptr]bool{}}).of(reflect.ValueOf(n)) }

type reached struct{ seen map[uintptr]bool }

// of is what lies behind a value, beyond its own bytes.
func (w *reached) of(v reflect.Value) (sum uint64) {
	switch v.Kind() { //nolint:exhaustive // all others hold nothing elsewhere
	case reflect.Pointer:
		if v.Type() != reflect.TypeFor[*Shelf]() && !v.IsNil() && w.isNew(v.Pointer()) {
			sum = uint64(v.Elem().Type().Size()) + w.of(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() {
			sum = w.of(v.Elem())
		}
	case reflect.Slice:
		if !v.IsNil() && w.isNew(v.Pointer()) {
			sum = uint64(v.Cap())*uint64(v.Type().Elem().Size()) + w.ofEach(v)
		}
	case reflect.Map:
		size := uint64(v.Type().Key().Size() + v.Type().Elem().Size())
		for each := v.MapRange(); each.Next(); {
			sum += size + w.of(each.Key()) + w.of(each.Value())
		}
	case reflect.Array:
		sum = w.ofEach(v)
	case reflect.Struct:
		for _, i := range fieldsWithPointers(v.Type()) {
			sum += w.of(v.Field(i))
		}
	}
	return sum
}

func (w *reached) ofEach(v reflect.Value) (sum uint64) {
	if !hasPointers(v.Type().Elem()) {
		return 0
	}
	for i := range v.Len() {
		sum += w.of(v.Index(i))
	}
	return sum
}

// withPointers keeps what fieldsWithPointers found: reflection takes most of a tree's time otherwise.
var withPointers = map[reflect.Type][]int{}

// fieldsWithPointers are those of a struct behind which something may lie.
func fieldsWithPointers(t reflect.Type) []int {
	list, isKnown := withPointers[t]
	if !isKnown {
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				list = append(list, i)
			}
		}
		withPointers[t] = list
	}
	return list
}

func (w *reached) isNew(at uintptr) bool {
	isNew := !w.seen[at]
	w.seen[at] = true
	return isNew
}

func hasPointers(t reflect.Type) bool {
	switch t.Kind() { //nolint:exhaustive // all others hold nothing elsewhere
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		return true
	case reflect.Array:
		return hasPointers(t.Elem())
	case reflect.Struct:
		return len(fieldsWithPointers(t)) > 0
	}
	return false
}
