package intcp

import (
	"reflect"

	"github.com/stretchr/testify/require"
)

// requireBounded: what a node keeps is within what it may keep, at every moment.
func (w *world) requireBounded(most bounds) {
	w.t.Helper()
	for i, n := range w.nodes {
		require.LessOrEqual(w.t, len(n.readers), n.policy.MaxFlows, "node %d", i)
		require.LessOrEqual(w.t, len(n.places), mostPlaces, "node %d", i)
		require.LessOrEqual(w.t, n.cache.usedBytes, n.policy.MaxCacheBytes, "node %d", i)
		require.Equal(w.t, n.cache.usedBytes, n.heldBytes(), "node %d: what is held is what is counted", i)
		require.LessOrEqual(w.t, len(n.closings), 2*most.flows, "node %d", i)
		for _, s := range n.senders {
			require.LessOrEqual(w.t, len(s.log), logMost, "node %d", i)
		}
		for _, s := range n.askers {
			require.LessOrEqual(w.t, len(s.losts), most.losts, "node %d", i)
		}
		for _, p := range n.places {
			p.requireBounded(w.t, i, most)
		}
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
		require.LessOrEqual(t, p.nPending*int(p.UnitBytes), p.consumer.options.WindowBytes, "node %d: the window", node)
	}
	require.LessOrEqual(t, p.nPending, most.asked, "node %d: what is pending", node)
	if p.up != nil {
		require.LessOrEqual(t, p.up.asks.units(), most.asked, "node %d: what is to be asked", node)
	}
	for _, r := range p.readers {
		require.LessOrEqual(t, r.wants.units()+r.line.total, most.asked, "node %d: what a neighbour waits for", node)
		require.LessOrEqual(t, r.resends.total, len(r.responder.log), "node %d: repairs", node)
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

// requireIdle: nobody asks a node for anything, and it asks nobody. A content whose requester has left the path stays open for
// whoever takes that place.
func (n *Node) requireIdle(t require.TestingT, node int) {
	require.Empty(t, n.readers, "node %d", node)
	require.Empty(t, n.closings, "node %d", node)
	open := 0
	for _, p := range n.places {
		require.Zero(t, p.nPending, "node %d", node)
		require.Empty(t, p.pending.list, "node %d", node)
		if p.up != nil {
			require.True(t, p.isLeft(), "node %d", node)
			open++
		}
	}
	require.Len(t, n.up, open, "node %d", node)
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
			sum = uint64(v.Cap()) * uint64(v.Type().Elem().Size())
			for i := 0; i < v.Len() && hasPointers(v.Type().Elem()); i++ {
				sum += w.of(v.Index(i))
			}
		}
	case reflect.Map:
		size := uint64(v.Type().Key().Size() + v.Type().Elem().Size())
		for each := v.MapRange(); each.Next(); {
			sum += size + w.of(each.Key()) + w.of(each.Value())
		}
	case reflect.Array:
		for i := 0; i < v.Len() && hasPointers(v.Type().Elem()); i++ {
			sum += w.of(v.Index(i))
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			sum += w.of(field)
		}
	}
	return sum
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
		for field := range t.Fields() {
			if hasPointers(field.Type) {
				return true
			}
		}
	}
	return false
}
