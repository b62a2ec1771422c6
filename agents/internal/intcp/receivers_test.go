package intcp

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The way of Figure 7: a source whose first hop, to its satellite, is the narrowest, and twelve satellites up to the
// farthest receiver's. Each receiver has a hop of its own below one of them.
const (
	wayRelays   = 13
	wayRTT      = 7 * ms
	sourceBps   = 15e6
	betweenBps  = 20e6
	wayLoss     = 1e-5
	wayBytes    = 6_000_000
	wayNearOnce = 50 * ms // from one receiver's beginning to the next's
)

// audience is receivers along a way that ask for one content. Node 0 is the relay that is farthest from the origin.
type audience struct {
	*world
	source    *way // its first hop's data
	consumers []*Consumer
	begins    []time.Duration
}

func newAudience(t testing.TB, receivers int, shares bool) *audience {
	options := DefaultOptions()
	options.SharesCache = shares
	const origin = wayRelays
	a := &audience{world: newWorld(t, wayRelays+1+receivers)}
	a.begin(testRun, options)
	for i := range wayRelays - 1 {
		a.join(i, i+1, link(betweenBps, wayRTT, wayLoss), uint64(i))
		a.neighbours(testRun, i, i+1)
	}
	a.source, _ = a.join(wayRelays-1, origin, link(sourceBps, wayRTT, wayLoss), wayRelays)
	a.neighbours(testRun, wayRelays-1, origin)
	content := Content{Run: testRun, Name: testName, Length: wayBytes, UnitBytes: MaxUnitBytes}
	require.NoError(t, a.nodes[origin].Publish(content, Stream{Seed: 4}, wayBytes))
	for i := range receivers {
		node, relay := origin+1+i, i*wayRelays/receivers
		a.join(node, relay, link(betweenBps, wayRTT, wayLoss), uint64(100+i))
		a.neighbours(testRun, node, relay)
		a.begins = append(a.begins, a.now)
		a.consumers = append(a.consumers, a.consume(node, content, 4))
		a.run(a.now+wayNearOnce, nil)
	}
	return a
}

// rates are those at which each receiver got all of the content, in bits a second.
func (a *audience) rates() (rates []float64) {
	ends := make([]time.Duration, len(a.consumers))
	left := len(ends)
	a.run(600*time.Second, func() bool {
		for i, c := range a.consumers {
			if state, at := c.State(); state != "" && ends[i] == 0 {
				require.Equal(a.t, "complete", state)
				ends[i], left = at, left-1
			}
		}
		return left == 0
	})
	require.Zero(a.t, left)
	for i, end := range ends {
		rates = append(rates, wayBytes*8/(end-a.begins[i]).Seconds())
	}
	a.requireConserved()
	return rates
}

func mean(values []float64) (sum float64) {
	for _, v := range values {
		sum += v / float64(len(values))
	}
	return sum
}

// TestReceiversAlongAWayShareItsCaches: what the source's first hop carries does not grow with those who ask, and each of
// them is served as one alone would be. Without shared caches the hop carries everything once for each.
func TestReceiversAlongAWayShareItsCaches(t *testing.T) {
	one := newAudience(t, 1, true)
	alone := one.rates()[0]
	t.Logf(" 1 receiver:  %5.2f Mb/s, %5.1f %% of the ceiling", alone/1e6, 100*alone/ceiling(sourceBps))
	require.Greater(t, alone, 0.9*ceiling(sourceBps))
	for _, n := range []int{2, 4, 8, 12} {
		with, without := newAudience(t, n, true), newAudience(t, n, false)
		shared, single := with.rates(), without.rates()
		growth := float64(with.source.sizes[kindData])/float64(one.source.sizes[kindData]) - 1
		copies := float64(without.source.sizes[kindData]) / float64(one.source.sizes[kindData])
		ratio := mean(shared) / mean(single)
		t.Logf("%2d receivers: %5.2f Mb/s at least with caches, %5.2f at most without, of means %.2f times; "+
			"the source's hop carries %.1f %% more, or all of it %.2f times",
			n, slices.Min(shared)/1e6, slices.Max(single)/1e6, ratio, 100*growth, copies)
		require.GreaterOrEqual(t, slices.Min(shared), 0.9*alone)
		require.LessOrEqual(t, slices.Max(single), 1.2/float64(n)*alone)
		require.Less(t, growth, 0.05)
		require.InEpsilon(t, n, copies, 0.05)
		if n >= 8 {
			require.Greater(t, ratio, 6.0)
		}
	}
}
