package intcp

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/lab/emulate"
)

// offered is a chain whose origin makes a message each few milliseconds.
type offered struct {
	*chain
	every  time.Duration
	made   uint64
	madeAt []time.Duration
	delays []time.Duration // of the units that came
}

func newOffered(t testing.TB, options Options, messageBytes uint16, every time.Duration, hops ...emulate.Profile) *offered {
	w := newWorld(t, len(hops)+1)
	w.begin(testRun, options)
	for i, hop := range hops {
		w.join(i, i+1, hop, uint64(i))
		w.neighbours(testRun, i, i+1)
	}
	o := &offered{chain: &chain{world: w}, every: every}
	o.content = Content{Run: testRun, Name: testName, Length: uint64(messageBytes) * (1<<31 - 1), UnitBytes: messageBytes}
	require.NoError(t, w.nodes[len(hops)].Publish(o.content, Stream{Seed: 1}, 0))
	w.nodes[0].Watch(testRun, testName, Watch{Arrived: func(now time.Duration, unit, _ uint32) {
		o.delays = append(o.delays, now-o.madeAt[unit])
	}})
	o.consumer = w.consume(0, o.content, 1)
	return o
}

// offer goes on until a moment.
func (o *offered) offer(until time.Duration) {
	origin := len(o.nodes) - 1
	for o.now < until {
		o.made++
		o.madeAt = append(o.madeAt, o.now)
		o.nodes[origin].OfferMade(testRun, testName, o.made*uint64(o.content.UnitBytes))
		o.touch(origin)
		o.run(o.now+o.every, nil)
	}
}

// TestTheRoundTripOfAnOfferIsTheWays, whatever was asked for ahead; the offer gets through without more interests.
func TestTheRoundTripOfAnOfferIsTheWays(t *testing.T) {
	for _, way := range []struct {
		hops int
		rtt  time.Duration
	}{{1, 100 * ms}, {5, 20 * ms}, {15, 7 * ms}} {
		t.Run(fmt.Sprintf("%d hops", way.hops), func(t *testing.T) {
			o := newOffered(t, DefaultOptions(), 16, 5*ms, repeated(way.hops, link(20e6, way.rtt, 0))...)
			o.offer(30 * time.Second)
			whole, counts := time.Duration(way.hops)*way.rtt, o.consumer.Counts()
			interests := o.nodes[0].HopCounts(testRun).Interests
			t.Logf("RTT %v, %d of %d messages, %d asked for ahead, %d interests", counts.RTT, len(o.delays), o.made, counts.Outstanding, interests)
			require.InEpsilon(t, whole, counts.RTT, 0.05)
			require.InDelta(t, o.made, len(o.delays), float64(whole/o.every+2))
			require.Less(t, o.delays[len(o.delays)-1], whole/2+5*ms)
			require.Zero(t, counts.Timeouts)
			require.Zero(t, counts.AskedAgainUnits)
			require.Less(t, interests, uint64(30*40))
		})
	}
}

// TestALostMessageIsAskedForAgain from end to end, within a few round trips, where hops do not repair.
func TestALostMessageIsAskedForAgain(t *testing.T) {
	options := DefaultOptions()
	options.RecoversByHop = false
	hops := repeated(5, link(20e6, 20*ms, 0))
	hops[2] = link(20e6, 20*ms, 0.02)
	o := newOffered(t, options, 16, 5*ms, hops...)
	o.offer(30 * time.Second)
	longest := time.Duration(0)
	for _, delay := range o.delays {
		longest = max(longest, delay)
	}
	counts := o.consumer.Counts()
	t.Logf("the latest message after %v, %d asked for again, %d duplicates", longest, counts.AskedAgainUnits, counts.Duplicates)
	require.NotZero(t, o.way(3, 2).line.Counts().Lost)
	require.Less(t, longest, time.Second)
	require.Zero(t, counts.Timeouts)
	require.InDelta(t, o.made, counts.InOrderBytes/16, 100)
}

// TestASlowOfferIsNoSilence: its pauses are longer than the timeout. An end of the path is noticed all the same.
func TestASlowOfferIsNoSilence(t *testing.T) {
	o := newOffered(t, DefaultOptions(), 200, time.Second, repeated(2, link(20e6, 20*ms, 0))...)
	o.offer(30 * time.Second)
	counts := o.consumer.Counts()
	require.LessOrEqual(t, counts.Timeouts, uint64(2), "until the first pauses are known")
	require.InEpsilon(t, 40*ms, counts.RTT, 0.05)
	o.cut(0, 1)
	o.offer(90 * time.Second)
	state, _ := o.consumer.State()
	require.Equal(t, "link_lost", state)
}

// TestAnOfferBesideABulkFlowKnowsItsWay: the hop's answers are all to the other flow, but for a few.
func TestAnOfferBesideABulkFlowKnowsItsWay(t *testing.T) {
	o := newOffered(t, DefaultOptions(), 16, 5*ms, repeated(3, link(20e6, 20*ms, 0))...)
	bulk := Content{Run: testRun, Name: Name{'b'}, Length: 1 << 40, UnitBytes: MaxUnitBytes}
	require.NoError(t, o.nodes[3].Publish(bulk, Stream{Seed: 2}, bulk.Length))
	other := o.consume(0, bulk, 2)
	o.offer(20 * time.Second)
	t.Logf("RTT %v of the offer, %v of the bulk flow", o.consumer.Counts().RTT, other.Counts().RTT)
	require.Greater(t, o.consumer.Counts().RTT, 60*ms)
	require.Less(t, o.consumer.Counts().RTT, 150*ms)
	require.Less(t, o.delays[len(o.delays)-1], 150*ms)
}

// TestAnIdleGrantIsNoOffer: an origin that gives a bulk content step by step leaves the consumer to its own measurement.
func TestAnIdleGrantIsNoOffer(t *testing.T) {
	o := newOffered(t, DefaultOptions(), MaxUnitBytes, 5*ms, repeated(2, link(20e6, 20*ms, 0))...)
	o.madeAt = make([]time.Duration, 1<<20/MaxUnitBytes)
	o.run(time.Second, nil)
	o.nodes[2].Offer(testRun, testName, 1<<20)
	o.touch(2)
	o.run(5*time.Second, nil)
	require.NotZero(t, o.consumer.Counts().ArrivedBytes)
	require.False(t, o.consumer.isMade)
}
