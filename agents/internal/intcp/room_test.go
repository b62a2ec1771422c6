package intcp

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Nodes of a way with two requesters: the neighbour that has a key and does harm with it, and one that wants a content.
const (
	harmful = iota
	honest
	relayed
	upper
	source
)

// newKeyed is a way of two relays. Node 0 has the key of its hop.
func newKeyed(t testing.TB, options Options) (*world, Content) {
	w := newWorld(t, source+1)
	w.begin(testRun, options)
	for _, hop := range []ends{{harmful, relayed}, {honest, relayed}, {relayed, upper}, {upper, source}} {
		w.join(hop.from, hop.to, link(20e6, 10*ms, 0), uint64(hop.from))
		w.neighbours(testRun, hop.from, hop.to)
	}
	content := Content{Run: testRun, Name: testName, Length: 500_000, UnitBytes: MaxUnitBytes}
	require.NoError(t, w.nodes[source].Publish(content, Stream{Seed: 1}, content.Length))
	return w, content
}

func (w *world) requireGets(content Content) {
	w.t.Helper()
	c := w.consume(honest, content, 1)
	w.run(w.now+30*time.Second, func() bool { state, _ := c.State(); return state != "" })
	state, _ := c.State()
	require.Equal(w.t, "complete", state)
}

// TestNamesCostNoMemory: a neighbour with a key opens and closes flows of ever new names.
func TestNamesCostNoMemory(t *testing.T) {
	w, content := newKeyed(t, DefaultOptions())
	for i := range 1000 {
		content := content
		binary.BigEndian.PutUint32(content.Name[:], uint32(i+1))
		c := w.consume(harmful, content, 1)
		w.run(w.now+25*ms, nil)
		c.Stop(w.now)
		w.touch(harmful)
	}
	w.run(w.now+time.Second, nil)
	for _, node := range []int{relayed, upper} {
		require.LessOrEqual(t, len(w.nodes[node].places), mostPlaces)
		for _, hop := range w.nodes[node].hops {
			require.LessOrEqual(t, len(hop.passed), mostPlaces)
		}
		require.Empty(t, w.nodes[node].readers)
		require.Empty(t, w.nodes[node].up)
	}
	w.requireGets(content)
}

// TestFlowsWithoutASharedCacheCostNoMemory, one after the other of the same name; what they counted stays.
func TestFlowsWithoutASharedCacheCostNoMemory(t *testing.T) {
	options := DefaultOptions()
	options.SharesCache = false
	w, content := newKeyed(t, options)
	content.Length = 1400
	w.nodes[source].End(testRun)
	require.NoError(t, w.nodes[source].Begin(testRun, options))
	require.NoError(t, w.nodes[source].Serve(hopOf(testRun, upper, source)))
	require.NoError(t, w.nodes[source].Publish(content, Stream{Seed: 1}, content.Length))
	const flows = mostPlaces + 100
	for range flows {
		c := w.consume(harmful, content, 1)
		w.run(w.now+time.Second, func() bool { state, _ := c.State(); return state != "" })
		state, _ := c.State()
		require.Equal(t, "complete", state)
		w.run(w.now+100*ms, nil)
	}
	require.LessOrEqual(t, len(w.nodes[relayed].places), mostPlaces)
	counts, _ := w.nodes[relayed].ContentCounts(testRun, content.Name)
	require.EqualValues(t, flows, counts.Kept)
	look := w.nodes[relayed].Look(w.now, testRun, content.Name)
	require.EqualValues(t, flows*1400, look.PassedBytes)
	w.requireGets(content)
}

// ask gives a relay an interest of the harmful node, with its key.
func (w *world) ask(flow uint32, ranges []byteRange) {
	s := w.nodes[harmful].ups[testRun]
	s.sequence++
	p := interest{head: head{kind: kindInterest, flow: flow, sequence: s.sequence}, ttl: ttlFar, ranges: ranges}
	b := make([]byte, p.size())
	p.put(b)
	s.sealer.seal(upstream, s.salt, p.sequence, b, len(b)-tagBytes)
	w.spoof(relayed, addressOf(harmful), b)
}

// TestAnInterestNamesSoManyUnits at most, and all of a flow's so many runs.
func TestAnInterestNamesSoManyUnits(t *testing.T) {
	const ranges = (MaxInterestBytes - interestFixedBytes - tagBytes) / rangeBytes
	w, content := newKeyed(t, DefaultOptions())
	content.Name, content.Length, content.UnitBytes = Name{'x'}, 1<<30, 1
	require.NoError(t, w.nodes[source].Publish(content, Stream{Seed: 1}, 0))
	w.consume(harmful, content, 1)
	w.run(time.Second, nil)
	w.meddle = func(from, _ int, d []byte) [][]byte { // the harmful node says what is written here alone
		if from == harmful {
			return nil
		}
		return [][]byte{d}
	}
	flow, relay := w.nodes[harmful].ups[testRun].flows[0].key.flow, w.nodes[relayed]
	place := relay.places[placeKey{run: testRun, name: content.Name}]
	before, refused := place.pending.units(), relay.counts.Refused
	var all []byteRange
	for i := range uint64(ranges) {
		all = append(all, byteRange{1<<25 + i<<20, 1 << 20})
	}
	w.ask(flow, all)
	require.LessOrEqual(t, place.pending.units(), before+mostAskUnits)
	require.Greater(t, place.pending.units(), before)
	require.Greater(t, relay.counts.Refused, refused)
	for i := range uint64(1000) {
		for k := range all {
			all[k] = byteRange{1<<26 + 2*(i*ranges+uint64(k)), 1}
		}
		w.ask(flow, all)
	}
	require.LessOrEqual(t, len(place.pending.list), mostRuns)
	w.meddle = nil
	content.Name, content.Length, content.UnitBytes = testName, 500_000, MaxUnitBytes
	w.requireGets(content)
}

// TestAManyUnitAskIsCutByWhoAsks: a consumer of small units gets all of them, over relays that bound each interest.
func TestAManyUnitAskIsCutByWhoAsks(t *testing.T) {
	w, content := newKeyed(t, DefaultOptions())
	content.Name, content.Length, content.UnitBytes = Name{'s'}, 150_000, 1
	require.NoError(t, w.nodes[source].Publish(content, Stream{Seed: 1}, content.Length))
	w.requireGets(content)
	for _, n := range w.nodes {
		require.Zero(t, n.counts.Refused)
	}
}

// TestAnEarlyWrongLengthKeepsNobodyOut, whether its flow goes on, is closed, or is refused by then.
func TestAnEarlyWrongLengthKeepsNobodyOut(t *testing.T) {
	for _, after := range []time.Duration{0, 12 * ms, 22 * ms, 200 * ms} {
		for _, closes := range []bool{false, true} {
			w, content := newKeyed(t, DefaultOptions())
			wrong := content
			wrong.Length++
			c := w.consume(harmful, wrong, 1)
			w.run(w.now+after, nil)
			if closes {
				c.Stop(w.now)
				w.touch(harmful)
			}
			w.requireGets(content)
			wrong.Length++ // once something has come, nobody has to wait
			late := w.consume(harmful, wrong, 1)
			w.run(w.now+100*ms, nil)
			state, _ := late.State()
			require.Equal(t, "refused: bad_content", state)
		}
	}
}
