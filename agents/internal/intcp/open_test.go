package intcp

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// openingTrips are round trips of hops: on the ground, to a geostationary satellite, the same with a full queue, and beyond.
var openingTrips = []time.Duration{20 * ms, 600 * ms, 1200 * ms, 3 * time.Second, 9 * time.Second}

// isUpOpen tells whether each of a node's flows is open upstream.
func (w *world) isUpOpen(node int) bool {
	for _, f := range w.nodes[node].ups[testRun].flows {
		if !f.isOpen {
			return false
		}
	}
	return true
}

// TestAFlowOpensAfterTwoRoundTrips: one brings the cookie and one the flow, however many OPENs leave meanwhile.
func TestAFlowOpensAfterTwoRoundTrips(t *testing.T) {
	for _, rtt := range openingTrips {
		t.Run(rtt.String(), func(t *testing.T) {
			c := newChain(t, 1, DefaultOptions(), 50_000, link(20e6, rtt, 0))
			second := Content{Run: testRun, Name: Name{'b'}, Length: 1000, UnitBytes: MaxUnitBytes}
			require.NoError(t, c.nodes[1].Publish(second, Stream{Seed: 2}, second.Length))
			c.consume(0, second, 2)
			c.run(5*rtt, func() bool { return c.isUpOpen(0) })
			require.Less(t, c.now, 2*rtt+10*ms)
			c.run(time.Minute, c.done)
			c.requireComplete()
			require.Zero(t, c.consumer.Counts().AskedAgainUnits)
			require.InDelta(t, rtt, c.nodes[0].HopCounts(testRun).RTT, float64(rtt/20+2*ms))
		})
	}
}

// TestAGreetingIsAnsweredAfterARoundTrip, and a flow that begins then opens after one more.
func TestAGreetingIsAnsweredAfterARoundTrip(t *testing.T) {
	for _, rtt := range openingTrips {
		t.Run(rtt.String(), func(t *testing.T) {
			w := newWorld(t, 2)
			w.begin(testRun, DefaultOptions())
			w.join(0, 1, link(20e6, rtt, 0), 1)
			w.neighbours(testRun, 0, 1)
			content := Content{Run: testRun, Name: testName, Length: 1000, UnitBytes: MaxUnitBytes}
			require.NoError(t, w.nodes[1].Publish(content, Stream{Seed: 1}, content.Length))
			require.NoError(t, w.nodes[0].Greet(testRun))
			w.run(5*rtt, func() bool { return w.nodes[0].IsMet(testRun) })
			require.Less(t, w.now, rtt+5*ms)
			began := w.now
			w.consume(0, content, 1)
			w.run(began+5*rtt, func() bool { return w.isUpOpen(0) })
			require.Less(t, w.now-began, rtt+5*ms)
		})
	}
}

// TestAnAnswerToNoOpenOpensNothing: the clock of an OPEN that was sent, and a tag that holds, are needed both.
func TestAnAnswerToNoOpenOpensNothing(t *testing.T) {
	c := newChain(t, 1, DefaultOptions(), 50_000, link(20e6, 3*time.Second, 0))
	answers := 0
	c.meddle = func(from, _ int, d []byte) [][]byte {
		h, err := parseHead(d)
		require.NoError(t, err)
		if from != 1 || h.kind != kindOpened {
			return [][]byte{d}
		}
		answers++
		otherClock := bytes.Clone(d)
		otherClock[27] ^= 1
		newSealer(keyOf(int(hopOf(testRun, 0, 1).Number))).seal(stateless, parseOpened(h, d).salt, h.sequence, otherClock, openedBytes-tagBytes)
		forged := bytes.Clone(d)
		forged[openedBytes-1] ^= 1
		return [][]byte{otherClock, forged}
	}
	c.run(10*time.Second, nil)
	require.NotZero(t, answers)
	require.False(t, c.isUpOpen(0))
	require.False(t, c.nodes[0].IsMet(testRun))
	require.NotZero(t, c.nodes[0].HopCounts(testRun).Forged)
}
