package intcp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/lab/emulate"
)

func randomDirection(rng *rand.Rand) emulate.Direction {
	d := direction(1e6+rng.Float64()*50e6, time.Duration(rng.IntN(60))*ms, 0, 20+rng.IntN(1000))
	if rng.IntN(2) == 0 {
		d.Loss.IndependentRatio = rng.Float64() * 0.1
	}
	if rng.IntN(4) == 0 {
		d.Gap = &emulate.Gap{EveryS: 2 + 3*rng.Float64(), LengthMs: 300 * rng.Float64(), IsLossy: rng.IntN(2) == 0}
	}
	if rng.IntN(4) == 0 {
		d.Delay.Reorders = true
		d.Delay.Variations = []emulate.Variation{{HoldMs: 20 * rng.Float64(), Uniform: &emulate.UniformMs{LowMs: 0, HighMs: 5}}}
	}
	return d
}

func randomLink(rng *rand.Rand) emulate.Profile {
	return emulate.Profile{Down: randomDirection(rng), Up: randomDirection(rng)}
}

// tree is a random one of nodes, with the origin as its root and consumers as its leaves, that changes while they are served.
type tree struct {
	*world
	rng     *rand.Rand
	seed    uint64
	options Options
	policy  Policy
	shelf   *Shelf
	above   map[int]int // of each node on the path but the origin, who is upstream of it
	relays  []int       // on the path
	resting []int       // relays that left the path, and may come back
	leaves  []*leaf
	changes int
	weighAt time.Duration
}

// leaf is a consumer and what came to it.
type leaf struct {
	*Consumer
	node   int
	begins time.Duration
	stops  time.Duration // 0: it does not
	came   map[uint32]int
}

const (
	treeOrigin = 0
	// emptyRoom is what lists may keep for later that have nothing in them.
	emptyRoom = 64 << 10
	// hopRoom is what a neighbour costs, without the log of what it was sent.
	hopRoom = 128 << 10
)

func newTree(t testing.TB, seed uint64) *tree {
	rng := rand.New(rand.NewPCG(seed, 2))
	options := DefaultOptions()
	options.SharesCache = rng.IntN(4) > 0
	options.RecoversByHop = rng.IntN(4) > 0
	options.AsksOnHandover = rng.IntN(2) == 0
	options.BufferBytes = rng.IntN(2) * (20_000 + rng.IntN(300_000))
	options.WindowBytes = 50_000 << rng.IntN(8)
	policy := DefaultPolicy()
	policy.MaxCacheBytes >>= rng.IntN(8)
	e := &tree{world: newWorld(t, 0), rng: rng, seed: seed, options: options, policy: policy, above: map[int]int{}}
	if rng.IntN(2) == 0 {
		e.shelf = NewShelf()
	}
	contents := make([]Content, 1+rng.IntN(2))
	e.addNode()
	for i := range contents {
		contents[i] = Content{Run: testRun, Name: Name{byte(1 + i)}, Length: 1 + rng.Uint64N(2_000_000),
			UnitBytes: uint16(1 + rng.IntN(MaxUnitBytes))}
		if rng.IntN(4) > 0 {
			contents[i].UnitBytes = MaxUnitBytes
		}
		contents[i].Length = min(contents[i].Length, 2000*uint64(contents[i].UnitBytes))
		require.NoError(t, e.nodes[treeOrigin].Publish(contents[i], Stream{Seed: seed + uint64(i)}, contents[i].Length))
	}
	for range rng.IntN(6) {
		e.relays = append(e.relays, e.hang(e.anyAbove()))
	}
	for range 1 + rng.IntN(5) {
		e.addLeaf(rng.IntN(len(contents)), contents)
	}
	return e
}

func (e *tree) addNode() int {
	number := len(e.nodes)
	config := Config{Secret: [16]byte{byte(number), 1}, Salt: uint32(number+1) << 16, Policy: e.policy, Shelf: e.shelf}
	e.nodes = append(e.nodes, &worldNode{Node: New(config)})
	require.NoError(e.t, e.nodes[number].Begin(testRun, e.options))
	return number
}

// hang puts a new node below another one.
func (e *tree) hang(above int) int {
	node := e.addNode()
	e.below(node, above)
	return node
}

func (e *tree) below(node, above int) {
	e.join(node, above, randomLink(e.rng), e.rng.Uint64())
	e.neighbours(testRun, node, above)
	e.above[node] = above
}

// anyAbove is the origin or a relay; mostly the newest one, so that ways become long.
func (e *tree) anyAbove() int {
	switch {
	case len(e.relays) == 0:
		return treeOrigin
	case e.rng.IntN(2) == 0:
		return e.relays[len(e.relays)-1]
	}
	return append(e.relays, treeOrigin)[e.rng.IntN(len(e.relays)+1)]
}

func (e *tree) addLeaf(which int, contents []Content) {
	l := &leaf{node: e.hang(e.anyAbove()), begins: time.Duration(e.rng.IntN(2000)) * ms, came: map[uint32]int{}}
	if e.rng.IntN(8) == 0 {
		l.stops = l.begins + time.Duration(e.rng.IntN(3000))*ms
	}
	e.leaves = append(e.leaves, l)
	if len(e.leaves) == 1 {
		l.begins = 0
	}
	content := contents[which]
	e.nodes[l.node].Watch(testRun, content.Name, Watch{Arrived: func(_ time.Duration, unit, _ uint32) { l.came[unit]++ }})
	e.run(l.begins, nil)
	l.Consumer = e.consume(l.node, content, e.seed+uint64(which))
}

// change makes the path another one.
func (e *tree) change() {
	e.changes++
	kind := e.rng.IntN(4)
	switch {
	case kind == 0 && e.shelf == nil && len(e.relays) > 0:
		e.beginAnew(e.relays[e.rng.IntN(len(e.relays))])
	case kind == 1:
		e.moveOne()
	case len(e.relays) > 0:
		e.replace(e.rng.IntN(len(e.relays)))
	}
}

func (e *tree) children(node int) (list []int) {
	for child := range e.nodes {
		if above, isThere := e.above[child]; isThere && above == node {
			list = append(list, child)
		}
	}
	return list
}

// replace puts another satellite in the place of a relay: a new one, or one that was there before. The one before leaves as
// it does in the pump, which tells it and its neighbours, or without a word.
func (e *tree) replace(which int) {
	old := e.relays[which]
	above, children, isTold := e.above[old], e.children(old), e.rng.IntN(2) == 0
	for _, each := range append(children, above) {
		e.cut(old, each)
	}
	if isTold {
		e.nodes[old].Rest(testRun)
		e.touch(old)
		e.nodes[above].Part(testRun, hopOf(testRun, old, above).Number)
	}
	fresh := e.next()
	e.relays[which] = fresh
	delete(e.above, old)
	if isTold {
		e.resting = append(e.resting, old)
	}
	e.below(fresh, above)
	for _, child := range children {
		e.below(child, fresh)
	}
}

// next is a relay that comes to the path.
func (e *tree) next() int {
	if len(e.resting) > 0 && e.rng.IntN(2) == 0 {
		i := e.rng.IntN(len(e.resting))
		back := e.resting[i]
		e.resting = slices.Delete(e.resting, i, i+1)
		return back
	}
	return e.addNode()
}

// moveOne hangs a node, with all below it, to another one.
func (e *tree) moveOne() {
	node := 1 + e.rng.IntN(len(e.nodes)-1)
	before, isOnPath := e.above[node]
	to := e.anyAbove()
	for at := to; at != treeOrigin; at = e.above[at] {
		if at == node {
			return // it would be below itself
		}
	}
	if !isOnPath || to == before {
		return
	}
	e.cut(node, before)
	if e.rng.IntN(2) == 0 {
		e.nodes[before].Part(testRun, hopOf(testRun, node, before).Number)
	}
	e.below(node, to)
}

// beginAnew lets a relay's process end and another one take its place.
func (e *tree) beginAnew(node int) {
	salt := e.nodes[node].salt + 1<<24
	e.nodes[node] = &worldNode{Node: New(Config{Secret: [16]byte{byte(node), 1}, Salt: salt, Policy: e.policy})}
	require.NoError(e.t, e.nodes[node].Begin(testRun, e.options))
	require.NoError(e.t, e.nodes[node].Ask(hopOf(testRun, node, e.above[node])))
	for _, child := range e.children(node) {
		require.NoError(e.t, e.nodes[node].Serve(hopOf(testRun, child, node)))
	}
	e.touch(node)
}

func (e *tree) done() bool {
	for _, l := range e.leaves {
		if state, _ := l.State(); state == "" {
			return false
		}
	}
	return true
}

// most is what nodes may keep. What was asked for along an earlier path stays pending there until it comes.
func (e *tree) most() bounds {
	asked := 0
	for _, l := range e.leaves {
		asked += min(int(l.place.units()), e.options.WindowBytes/int(l.place.UnitBytes))
	}
	return bounds{asked: asked * (1 + e.changes), flows: 4 * (len(e.leaves) + e.changes), losts: seenSequences}
}

// over runs on, and looks at all nodes each 20 ms, and at all their memory each half second.
func (e *tree) over(lasting time.Duration) {
	for until := e.now + lasting; e.now < until && !e.done(); {
		e.run(min(until, e.now+20*ms), e.done)
		for _, l := range e.leaves {
			if state, _ := l.State(); state == "" && l.stops > 0 && e.now >= l.stops {
				l.Stop(e.now)
				e.touch(l.node)
			}
		}
		e.requireBounded(e.most())
		if e.now >= e.weighAt {
			e.weighAt = e.now + 500*ms
			e.requireSmall()
		}
	}
}

// requireSmall: beside the cache a node keeps what its neighbours need, and the more of it the more it has.
func (e *tree) requireSmall() {
	for i, n := range e.nodes {
		most := uint64(n.cache.usedBytes) + n.spareBytes() + emptyRoom + uint64(1+len(n.askers)+len(n.senders))*hopRoom
		for _, s := range n.senders {
			most += uint64(len(s.log)) * uint64(unsafe.Sizeof(sentUnit{}))
		}
		require.LessOrEqual(e.t, footprint(n.Node), most, "node %d", i)
	}
}

func (l *leaf) requireEnded(t testing.TB, state, shown string) {
	require.Contains(t, []string{"complete", "link_lost", "stopped"}, state,
		"the consumer at node %d; it waits as long as its state is empty\n%s", l.node, shown)
	for unit, times := range l.came {
		require.Equal(t, 1, times, "unit %d", unit)
	}
	if state == "complete" {
		require.Len(t, l.came, int(l.place.units()), "each unit")
		require.Equal(t, l.place.Length, l.Counts().ArrivedBytes, "each byte once")
		require.Equal(t, l.place.Length, l.Counts().InOrderBytes)
	}
}

// requireAllCarriedIsCounted: what nodes say that they sent left them, and what they say that came did come. What is neither
// was dropped for a reason that is counted.
func (e *tree) requireAllCarriedIsCounted(found *findings) {
	for i, n := range e.nodes {
		look := n.Look(e.now, testRun, Name{1}).With(n.Look(e.now, testRun, Name{2}))
		require.Equal(e.t, n.wentOut.bytes, look.SentBytes, "node %d", i)
		require.Equal(e.t, n.wentOut.packets, look.Sent+look.Again, "node %d", i)
		require.LessOrEqual(e.t, look.ArrivedBytes, n.cameIn.bytes, "node %d", i)
		hop := n.HopCounts(testRun)
		found.merged, found.cached = found.merged+look.Merged, found.cached+look.FromCache
		found.repaired, found.lost = found.repaired+look.Again, found.lost+hop.Lost
		require.LessOrEqual(e.t, n.cameIn.packets-look.Arrived, hop.Replayed+hop.Forged+n.counts.Unknown, "node %d", i)
	}
	for _, v := range e.ways {
		c, lost := v.line.Counts(), uint64(0)
		for _, each := range c.Lost {
			lost += each
		}
		require.Equal(e.t, c.Received, c.Delivered+lost+uint64(c.Queued), "from %d to %d", v.from, v.to)
	}
}

// requireFewTimers: a node is seldom called where nothing comes and nothing is to be sent. A consumer is, each quarter of its
// timeout, to see what has been missing for as long.
func (e *tree) requireFewTimers() {
	most := e.sent/50 + 10*len(e.nodes)
	for _, l := range e.leaves {
		most += l.marked
	}
	require.LessOrEqual(e.t, e.idle, most, "timers beside %d datagrams", e.sent)
}

// requireEmptyInTheEnd: flows end with their consumers, and nothing is left of a run that has ended.
func (e *tree) requireEmptyInTheEnd() {
	const patience = 2*readerLife + 5*time.Second
	e.run(e.now+patience, nil)
	for i, n := range e.nodes {
		n.requireIdle(e.t, fmt.Sprintf("node %d, %v after the last consumer ended", i, patience))
	}
	before := e.steps
	e.run(e.now+time.Hour, nil)
	require.Equal(e.t, before, e.steps, "nothing happens where nobody wants anything")
	for i, n := range e.nodes {
		n.End(testRun)
		e.touch(i)
	}
	e.run(e.now+time.Second, nil)
	for i, n := range e.nodes {
		require.Equal(e.t, never, n.wake, "node %d", i)
		require.Zero(e.t, n.cache.usedBytes, "node %d", i)
		require.LessOrEqual(e.t, footprint(n.Node), footprint(New(Config{}))+n.spareBytes()+emptyRoom, "node %d", i)
	}
	if e.shelf != nil {
		require.Empty(e.t, e.shelf.slots)
	}
}

func (e *tree) show() string {
	text := fmt.Sprintf("seed %d, options %+v", e.seed, e.options)
	for i, n := range e.nodes {
		text += fmt.Sprintf("\n%d below %d: %+v %+v", i, e.above[i], n.HopCounts(testRun), n.Counts())
	}
	return text
}
