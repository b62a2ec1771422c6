package intcp

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/lab/emulate"
)

func TestATransferOverOneHop(t *testing.T) {
	c := newChain(t, 1, DefaultOptions(), 5_000_001, link(20e6, 50*ms, 0))
	c.run(20*time.Second, c.done)
	c.requireComplete()
}

// queues looks at the standing queue of a way each 10 ms, in time to send it at the rate.
func (c *chain) queues(v *way, bps float64, time time.Duration) (delays []time.Duration) {
	for until := c.now + time; c.now < until && !c.done(); {
		c.run(c.now+10*ms, c.done)
		look, out := v.line.Look(c.now, v.out)
		v.out = out
		delays = append(delays, asTime(float64(look.WaitingBytes)*8/bps))
	}
	slices.Sort(delays)
	return delays
}

func asTime(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

func TestAStaticHopIsFilledWithASmallQueue(t *testing.T) {
	for _, rtt := range []time.Duration{4 * ms, 20 * ms, 50 * ms, 100 * ms, 300 * ms} {
		for _, bps := range []float64{5e6, 20e6, 100e6} {
			t.Run(fmt.Sprintf("%v %.0f Mb/s", rtt, bps/1e6), func(t *testing.T) {
				c := newChain(t, 1, DefaultOptions(), 1<<40, link(bps, rtt, 0))
				c.run(3*time.Second+20*rtt, nil)
				before, from := c.consumer.Counts().ArrivedBytes, c.now
				delays := c.queues(c.way(1, 0), bps, 5*time.Second)
				got := float64(c.consumer.Counts().ArrivedBytes-before) * 8 / (c.now - from).Seconds()
				median, p95 := delays[len(delays)/2], delays[len(delays)*95/100]
				t.Logf("%.1f %% of the ceiling, queue %v median, %v p95", 100*got/ceiling(bps), median, p95)
				require.Greater(t, got, 0.93*ceiling(bps), c.show())
				require.LessOrEqual(t, median, max(20*ms, asTime(12*1480*8/bps)))
				interests, datas := c.way(0, 1).sizes[kindInterest], c.way(1, 0).sizes[kindData]
				require.Less(t, float64(interests), 0.02*float64(datas)+20_000)
			})
		}
	}
}

// steps is a hop whose rate changes in even periods.
func steps(rtt, period time.Duration, rates ...float64) emulate.Profile {
	profile := link(rates[0], rtt, 0)
	profile.Down.Rate = emulate.Rate{Trace: &emulate.RateTrace{RepeatS: (period * time.Duration(len(rates))).Seconds()}}
	for i, bps := range rates {
		profile.Down.Rate.Trace.Points = append(profile.Down.Rate.Trace.Points,
			emulate.RatePoint{AtS: (period * time.Duration(i)).Seconds(), Bps: bps})
	}
	return profile
}

func TestStepsOfTheRateAreFollowed(t *testing.T) {
	const rtt, period = 100 * ms, 6 * time.Second
	c := newChain(t, 1, DefaultOptions(), 1<<40, steps(rtt, period, 5e6, 35e6))
	c.run(period, nil)
	for range 3 {
		c.run(c.now+6*rtt, nil)
		high := c.over(period - 6*rtt)
		c.run(c.now+6*rtt, nil)
		low := c.over(period - 6*rtt)
		t.Logf("%.1f %% of 35 Mb/s, %.1f %% of 5 Mb/s", 100*high/ceiling(35e6), 100*low/ceiling(5e6))
		require.Greater(t, high, 0.9*ceiling(35e6))
		require.Greater(t, low, 0.9*ceiling(5e6))
	}
	require.Zero(t, c.way(1, 0).line.Counts().Lost[emulate.QueueFull])
}

func TestTheRateIsBackWithinSixRoundTrips(t *testing.T) {
	const rtt, period = 100 * ms, 6 * time.Second
	c := newChain(t, 1, DefaultOptions(), 1<<40, steps(rtt, period, 5e6, 35e6))
	c.run(period+6*rtt, nil)
	require.Greater(t, c.over(rtt), 0.9*ceiling(35e6))
}

func TestLossOfDataAndOfInterests(t *testing.T) {
	for _, c := range []struct{ data, interests float64 }{{0.01, 0}, {0.05, 0.05}, {0.3, 0}, {0, 0.3}, {0.3, 0.3}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			profile := link(20e6, 100*ms, c.data)
			profile.Up.Loss.IndependentRatio = c.interests
			chain := newChain(t, 3, DefaultOptions(), 20_000_000, profile)
			chain.run(120*time.Second, chain.done)
			chain.requireComplete()
			_, at := chain.consumer.State()
			hop, counts := chain.nodes[0].HopCounts(testRun), chain.consumer.Counts()
			rate := float64(chain.content.Length) * 8 / at.Seconds() / (1 - c.data)
			t.Logf("%.1f Mb/s, resent %d, asked again %d, timeouts %d, floor %.3f",
				rate/1e6, hop.Resent, counts.AskedAgainUnits, counts.Timeouts, hop.LossFloor)
			require.Greater(t, rate, 0.5*ceiling(20e6))
			// Seeds from 1 on have up to 531 at 30 % of interests.
			require.LessOrEqual(t, counts.AskedAgainUnits, hop.Resent/100+uint64(0.15*c.interests*14286), "hops repair, not the end")
		})
	}
}

func TestALossyHopIsFilled(t *testing.T) {
	profile := link(20e6, 100*ms, 0.05)
	profile.Up.Loss.IndependentRatio = 0.05
	c := newChain(t, 1, DefaultOptions(), 1<<40, profile)
	c.run(5*time.Second, nil)
	got := c.over(20*time.Second) / 0.95
	t.Logf("%.1f %% of what the loss leaves", 100*got/ceiling(20e6))
	require.Greater(t, got, 0.9*ceiling(20e6))
}

func TestOutagesEndQuickly(t *testing.T) {
	for _, length := range []time.Duration{100 * ms, time.Second, 4 * time.Second, 10 * time.Second} {
		t.Run(length.String(), func(t *testing.T) {
			profile := link(20e6, 100*ms, 0)
			gap := &emulate.Gap{EveryS: 1000, OffsetS: 3, LengthMs: float64(length / ms), IsLossy: true}
			profile.Down.Gap, profile.Up.Gap = gap, gap
			c := newChain(t, 1, DefaultOptions(), 1<<40, profile)
			c.run(3*time.Second+length+100*ms, c.done)
			before := c.consumer.Counts().ArrivedBytes
			c.run(c.now+300*ms, c.done)
			require.Greater(t, c.consumer.Counts().ArrivedBytes, before, "moves again within 0.3 s and a round trip\n%s", c.show())
			got := c.over(5 * time.Second)
			t.Logf("%.1f %% in the five seconds that follow", 100*got/ceiling(20e6))
			require.Greater(t, got, 0.8*ceiling(20e6))
			inOrder := c.consumer.Counts().InOrderBytes
			require.Less(t, c.consumer.Counts().ArrivedBytes-inOrder, uint64(5_000_000), "holes are filled")
		})
	}
}

func TestAShallowQueueLosesLittle(t *testing.T) {
	for _, bps := range []float64{5e6, 20e6, 100e6} {
		profile := link(bps, 50*ms, 0)
		profile.Down.Queue.LimitBytes = 20 * 1500
		c := newChain(t, 1, DefaultOptions(), 1<<40, profile)
		got := c.over(20 * time.Second)
		counts := c.way(1, 0).line.Counts()
		lost := float64(counts.Lost[emulate.QueueFull]) / float64(counts.Received)
		t.Logf("%.0f Mb/s: %.2f %% lost, %.1f %% of the ceiling", bps/1e6, 100*lost, 100*got/ceiling(bps))
		require.Less(t, lost, 0.03)
		require.Greater(t, got, 0.7*ceiling(bps))
	}
}

func TestALongerWayIsNoQueue(t *testing.T) {
	profile := link(20e6, 50*ms, 0)
	profile.Down.Delay.Variations = []emulate.Variation{{HoldMs: 7000,
		Quantiles: []emulate.QuantilesMs{{Ratio: 0, DelayMs: 0}, {Ratio: 1, DelayMs: 60}}}}
	c := newChain(t, 5, DefaultOptions(), 1<<40, profile)
	c.run(3*time.Second, nil)
	got := c.over(60 * time.Second)
	t.Logf("%.1f %% of the ceiling", 100*got/ceiling(20e6))
	require.Greater(t, got, 0.85*ceiling(20e6))
}

func TestReorderingIsNoLoss(t *testing.T) {
	profile := link(20e6, 50*ms, 0)
	profile.Down.Delay.Reorders = true
	profile.Down.Delay.Variations = []emulate.Variation{{Uniform: &emulate.UniformMs{LowMs: 0, HighMs: 1}}}
	c := newChain(t, 5, DefaultOptions(), 10_000_000, profile)
	c.run(60*time.Second, c.done)
	c.requireComplete()
	t.Log(c.show())
}

func TestDuplicatesChangeNothing(t *testing.T) {
	c := newChain(t, 5, DefaultOptions(), 10_000_000, link(20e6, 50*ms, 0.01))
	c.meddle = func(_, _ int, d []byte) [][]byte { return [][]byte{d, d} }
	c.run(60*time.Second, c.done)
	c.requireComplete()
	require.NotZero(t, c.nodes[0].HopCounts(testRun).Replayed)
	require.NotZero(t, c.nodes[1].Counts().Replayed)
}
