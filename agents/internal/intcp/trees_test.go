package intcp

import (
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// keptTrees failed once. Each stays a case of the proof, with what was wrong.
var keptTrees = []struct {
	seed  uint64
	wrong string
}{
	{1795792505185746031,
		"What a relay had asked for on behalf of a requester that left came a packet each 100 ms, hop after hop, and kept its flows alive."},
	{1003078, "A consumer that had stopped was called each 20 ms, by its test."},
	{1003853, "The same with one that was complete before it would have stopped."},
	{1004976, "A consumer that looked for holes on a link that was lost counted as a storm of timers."},
}

const (
	quickTrees = 25  // of the quick proof
	wholeTrees = 300 // of the long one
	fewTrees   = 20  // of which not all kinds of events are in
	mostFailed = 10  // after which no more trees are run
)

// findings add up over trees.
type findings struct {
	ends                           map[string]int
	changes                        int
	merged, cached, repaired, lost uint64
}

// verdict takes in what the requirements of a tree say, so that the next one is run all the same.
type verdict struct {
	testing.TB
	text string
}

func (v *verdict) Helper() {}

func (v *verdict) Errorf(format string, args ...any) { v.text += fmt.Sprintf(format, args...) }

func (v *verdict) Fatalf(format string, args ...any) {
	v.Errorf(format, args...)
	v.FailNow()
}

func (v *verdict) FailNow() { panic(v) }

// judge runs a tree and says what is wrong with it; nothing: "".
func judge(t testing.TB, tree func(testing.TB)) (wrong string) {
	v := &verdict{TB: t}
	defer func() {
		switch reason := recover(); reason {
		case nil, v:
			wrong = v.text
		default:
			wrong = fmt.Sprintf("%v\n%s", reason, debug.Stack())
		}
	}()
	tree(v)
	return ""
}

// runRandomTree serves consumers at the leaves of a random tree, some of whose nodes are replaced on the way. All that is asked
// for comes, once, and is right, or the consumer says why it does not. It ends within a virtual time, whatever is wrong. What
// nodes send goes to trace, if that is not nil.
func runRandomTree(t testing.TB, seed uint64, found *findings, trace io.Writer) {
	e := newTree(t, seed)
	if trace != nil {
		e.meddle = traced(e.world, trace)
	}
	for range e.rng.IntN(4) {
		e.over(time.Duration(e.rng.IntN(1500)) * ms)
		if !e.done() {
			e.change()
		}
	}
	e.over(900 * time.Second)
	for _, l := range e.leaves {
		state, _ := l.State()
		l.requireEnded(t, state, e.show())
		found.ends[state]++
	}
	e.requireConserved()
	e.requireAllCarriedIsCounted(found)
	e.requireEmptyInTheEnd()
	e.requireFewTimers()
	found.changes += e.changes
}

// traced writes down what nodes send, and when.
func traced(w *world, to io.Writer) func(from, to int, datagram []byte) [][]byte {
	return func(from, towards int, datagram []byte) [][]byte {
		_, _ = fmt.Fprint(to, w.now, from, towards)
		_, _ = to.Write(datagram)
		return [][]byte{datagram}
	}
}

// requireSound runs trees from a seed on and tells which of them are wrong.
func requireSound(t *testing.T, first uint64, n int) {
	t.Logf("%d seeds from %d on", n, first)
	found, failed := findings{ends: map[string]int{}}, 0
	for i := range uint64(n) {
		if wrong := judge(t, func(t testing.TB) { runRandomTree(t, first+i, &found, nil) }); wrong != "" {
			t.Errorf("tree %d: %s\nIt is repeated by\n  INTCP_TREES=1 INTCP_SEED=%d go test -count 1 ./internal/intcp -run TestRandomTrees",
				first+i, wrong, first+i)
			if failed++; failed == mostFailed {
				t.Fatalf("%d of %d trees failed", failed, i+1)
			}
		}
		if done := int(i) + 1; done%1000 == 0 {
			t.Logf("%d trees, %d failed: %+v", done, failed, found)
		}
	}
	t.Logf("%d trees, %d failed: %+v", n, failed, found)
	if n >= fewTrees {
		require.Greater(t, found.ends["complete"], n, "most consumers get all")
		require.NotZero(t, min(uint64(found.changes), found.merged, found.cached, found.repaired), "trees have it all")
	}
}

// TestRandomTrees runs the trees of fixed seeds. INTCP_TREES runs so many of new seeds, from INTCP_SEED on if it is there.
func TestRandomTrees(t *testing.T) {
	first, n := uint64(1), wholeTrees
	if testing.Short() {
		n = quickTrees
	}
	if wanted, err := strconv.Atoi(os.Getenv("INTCP_TREES")); err == nil {
		first, n = uint64(time.Now().UnixNano()), wanted
	}
	if wanted, err := strconv.ParseUint(os.Getenv("INTCP_SEED"), 10, 64); err == nil {
		first = wanted
	}
	requireSound(t, first, n)
}

// TestTreesThatFailedOnce runs each of them.
func TestTreesThatFailedOnce(t *testing.T) {
	for _, kept := range keptTrees {
		requireSound(t, kept.seed, 1)
	}
}

// TestATreeThatFailsSaysWhy: a requirement, a storm of timers and a panic end a tree, and not those that come after it.
func TestATreeThatFailsSaysWhy(t *testing.T) {
	require.Empty(t, judge(t, func(testing.TB) {}))
	require.Contains(t, judge(t, func(t testing.TB) { require.Equal(t, 1, 2, "node %d", 7) }), "node 7")
	require.Contains(t, judge(t, func(t testing.TB) { t.Fatalf("a storm of %d", 8) }), "a storm of 8")
	require.Contains(t, judge(t, func(testing.TB) { panic("out of range") }), "out of range\ngoroutine")
}

// TestASeedRepeatsItsTree to the last byte: what fails once fails again. In the tree of 13 flows of several neighbours end at once.
func TestASeedRepeatsItsTree(t *testing.T) {
	for seed := uint64(12); seed < 15; seed++ {
		var sums [2]uint64
		for i := range sums {
			trace := fnv.New64a()
			runRandomTree(t, seed, &findings{ends: map[string]int{}}, trace)
			sums[i] = trace.Sum64()
		}
		require.Equal(t, sums[0], sums[1], "seed %d", seed)
	}
}
