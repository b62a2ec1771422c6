package intcp

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/lab/emulate"
)

func repeated(n int, hop emulate.Profile) []emulate.Profile {
	hops := make([]emulate.Profile, n)
	for i := range hops {
		hops[i] = hop
	}
	return hops
}

func TestFifteenHopsAreStable(t *testing.T) {
	options := DefaultOptions()
	hops := repeated(15, link(20e6, 7*ms, 1e-5))
	hops[3] = link(15e6, 7*ms, 1e-5)
	c := newChain(t, 9, options, 1<<40, hops...)
	c.run(5*time.Second, nil)
	before, most := c.consumer.Counts().ArrivedBytes, 0
	for until := c.now + 5*time.Second; c.now < until; {
		c.run(c.now+10*ms, c.done)
		for i := range c.nodes {
			_, waiting := c.nodes[i].ContentCounts(testRun, testName)
			if i < len(hops) { // at the origin everything waits that was asked for
				most = max(most, waiting*MaxUnitBytes)
			}
		}
	}
	got := float64(c.consumer.Counts().ArrivedBytes-before) * 8 / 5
	t.Logf("%.1f %% of the ceiling, at most %d bytes wait at a relay", 100*got/ceiling(15e6), most)
	require.Greater(t, got, 0.93*ceiling(15e6))
	require.LessOrEqual(t, most, 80_000)
	c.requireConserved()
	for i, v := range c.ways {
		if i%2 == 0 {
			require.Zero(t, v.line.Counts().Lost[emulate.QueueFull])
		}
	}
}

func TestFifteenLossyHopsRepairThemselves(t *testing.T) {
	c := newChain(t, 10, DefaultOptions(), 4_000_000, repeated(15, link(20e6, 7*ms, 0.02))...)
	c.run(60*time.Second, c.done)
	c.requireComplete()
	resent := uint64(0)
	for _, n := range c.nodes {
		resent += n.HopCounts(testRun).Resent
	}
	counts := c.consumer.Counts()
	t.Logf("%d repairs at hops, %d units asked again end to end", resent, counts.AskedAgainUnits)
	require.LessOrEqual(t, counts.AskedAgainUnits*99, resent, "hops make 99 % of all repairs")
}

func TestRateStepsBehindABuffer(t *testing.T) {
	options := DefaultOptions()
	options.BufferBytes, options.WindowBytes = 24_000_000, 64<<20
	for _, period := range []time.Duration{2 * time.Second, 4 * time.Second} {
		c := newChain(t, 1, options, 1<<40, link(20e6, 50*ms, 0), steps(100*ms, period, 5e6, 35e6))
		c.run(2*period, nil)
		got := c.over(4 * period)
		t.Logf("period %v: %.1f Mb/s", period, got/1e6)
		require.Greater(t, got, 0.8*ceiling(20e6))
	}
}

func TestManyReceiversAreServedByCaches(t *testing.T) {
	for _, shares := range []bool{true, false} {
		options := DefaultOptions()
		options.SharesCache = shares
		const relays, length = 4, 5_000_000
		w := newWorld(t, 2*relays+1) // relays 0..3 towards the origin, node 4; receivers 5..8
		w.begin(testRun, options)
		content := Content{Run: testRun, Name: testName, Length: length, UnitBytes: MaxUnitBytes}
		for i := range relays {
			w.join(i, i+1, link(20e6, 20*ms, 0), uint64(i))
			w.neighbours(testRun, i, i+1)
		}
		require.NoError(t, w.nodes[relays].Publish(content, Stream{Seed: 4}, length))
		var consumers []*Consumer
		for i := range relays {
			w.join(relays+1+i, i, link(100e6, 20*ms, 0), uint64(100+i))
			w.neighbours(testRun, relays+1+i, i)
			consumers = append(consumers, w.consume(relays+1+i, content, 4))
		}
		w.run(60*time.Second, func() bool {
			for _, c := range consumers {
				if state, _ := c.State(); state == "" {
					return false
				}
			}
			return true
		})
		counts, _ := w.nodes[relays].ContentCounts(testRun, testName)
		t.Logf("cache shared %v: the origin sent %d units for %d receivers in %v", shares, counts.Sent, relays, w.now)
		for _, c := range consumers {
			state, _ := c.State()
			require.Equal(t, "complete", state)
		}
		if shares {
			require.Less(t, counts.Sent, uint64(1.05*float64(content.units())))
		} else {
			require.GreaterOrEqual(t, counts.Sent, uint64(relays)*uint64(content.units()))
		}
		w.requireConserved()
	}
}

func TestANewNeighbourIsAskedAtOnce(t *testing.T) {
	for _, asks := range []bool{true, false} {
		options := DefaultOptions()
		options.AsksOnHandover = asks
		c := newChain(t, 3, options, 20_000_000, link(20e6, 20*ms, 0), link(20e6, 20*ms, 0))
		c.nodes = append(c.nodes, newNode(3, DefaultPolicy()))
		require.NoError(t, c.nodes[3].Begin(testRun, options))
		c.join(0, 3, link(20e6, 20*ms, 0), 71)
		c.join(3, 2, link(20e6, 20*ms, 0), 72)
		c.run(3*time.Second, nil)
		c.cut(0, 1)
		c.cut(1, 2)
		before := c.now
		c.neighbours(testRun, 3, 2)
		c.neighbours(testRun, 0, 3)
		arrived := c.consumer.Counts().ArrivedBytes
		c.run(c.now+2*time.Second, func() bool { return c.consumer.Counts().ArrivedBytes > arrived+100_000 })
		t.Logf("asks %v: data again after %v", asks, c.now-before)
		if asks {
			require.Less(t, c.now-before, 300*ms)
		}
		c.run(60*time.Second, c.done)
		c.requireComplete()
	}
}

func TestARelayThatBeginsAnewIsMetAgain(t *testing.T) {
	c := newChain(t, 3, DefaultOptions(), 20_000_000, link(20e6, 20*ms, 0), link(20e6, 20*ms, 0))
	c.run(3*time.Second, nil)
	again := newNode(1, DefaultPolicy())
	again.salt, again.salts = 99<<20, 99<<20
	c.nodes[1] = again
	require.NoError(t, again.Begin(testRun, DefaultOptions()))
	require.NoError(t, again.Serve(hopOf(testRun, 0, 1)))
	require.NoError(t, again.Ask(hopOf(testRun, 1, 2)))
	c.run(60*time.Second, c.done)
	c.requireComplete()
}

// TestTheClockOfANodeThatBeginsAnewIsNoQueue: it counts from another moment than that of the one before, and the hop's delay
// seems to jump by that.
func TestTheClockOfANodeThatBeginsAnewIsNoQueue(t *testing.T) {
	for _, behind := range []time.Duration{-2500 * ms, 300 * ms, 2500 * ms} {
		for _, delay := range []time.Duration{ms / 10, 5 * ms, 20 * ms} {
			c := newChain(t, 1, DefaultOptions(), 1<<40, link(20e6, delay, 0), link(20e6, delay, 0))
			c.run(3*time.Second, nil)
			again := newNode(1, DefaultPolicy())
			again.salt, again.salts, again.behind = 99<<20, 99<<20, behind
			c.nodes[1] = again
			require.NoError(t, again.Begin(testRun, DefaultOptions()))
			require.NoError(t, again.Serve(hopOf(testRun, 0, 1)))
			require.NoError(t, again.Ask(hopOf(testRun, 1, 2)))
			c.run(c.now+500*ms, nil) // it is met again
			first, later := c.over(time.Second), c.over(2*time.Second)
			t.Logf("behind by %v, delay %v: %.1f, then %.1f Mb/s; queue %v",
				behind, delay, first/1e6, later/1e6, c.nodes[0].HopCounts(testRun).Queue)
			require.Greater(t, first, 16e6)
			require.Greater(t, later, 18e6)
		}
	}
}

func TestAPathThatEndsIsALostLink(t *testing.T) {
	c := newChain(t, 3, DefaultOptions(), 1<<40, link(20e6, 20*ms, 0))
	c.run(3*time.Second, nil)
	c.cut(0, 1)
	c.run(200*time.Second, c.done)
	state, at := c.consumer.State()
	require.Equal(t, "link_lost", state)
	t.Log(at)
}

// TestARelayWaitsForNothingOnBehalfOfOneWhoLeft: nobody would ask again for what got lost. It has asked another neighbour only
// for what it was asked for since then, as with the paper's handover.
func TestARelayWaitsForNothingOnBehalfOfOneWhoLeft(t *testing.T) {
	options := DefaultOptions()
	options.AsksOnHandover = false
	c := newChain(t, 3, options, 20_000_000, link(20e6, 20*ms, 0), link(20e6, 20*ms, 0), link(20e6, 20*ms, 0))
	c.run(2*time.Second, nil)
	c.cut(1, 2)
	c.join(1, 3, link(20e6, 20*ms, 0), 5)
	c.neighbours(testRun, 1, 3)
	c.cut(0, 1)
	c.nodes[1].Part(testRun, hopOf(testRun, 0, 1).Number)
	c.join(0, 3, link(20e6, 20*ms, 0), 6)
	c.neighbours(testRun, 0, 3)
	c.run(60*time.Second, c.done)
	c.requireComplete()
	c.run(c.now+2*readerLife, nil)
	before := c.steps
	c.run(c.now+time.Minute, nil)
	require.Equal(t, before, c.steps, "nothing is asked for")
	look := c.nodes[1].Look(c.now, testRun, testName)
	require.Zero(t, look.PendingBytes)
}

// TestAHopThatIsAwayForHalfAMinute delays the content, whichever it is. An agent calls the link lost before that.
func TestAHopThatIsAwayForHalfAMinute(t *testing.T) {
	for _, away := range []time.Duration{9 * time.Second, 30 * time.Second} {
		for hop := range 3 {
			c := newChain(t, 2, DefaultOptions(), 20_000_000, link(20e6, 20*ms, 0), link(20e6, 20*ms, 0), link(20e6, 20*ms, 0))
			c.run(3*time.Second, nil)
			c.cut(hop, hop+1)
			c.run(c.now+away, c.done)
			c.restore(hop, hop+1)
			c.run(c.now+60*time.Second, c.done)
			c.requireComplete()
		}
	}
}

// delays is how long units took from the origin to the consumer, in rising order, and the payload's rate.
func (c *chain) delays(from, lasting time.Duration) (delays []time.Duration, bps float64) {
	sentAt := map[uint32]time.Duration{}
	isMeasured := false
	c.nodes[len(c.nodes)-1].Watch(testRun, testName, Watch{Sent: func(now time.Duration, unit uint32) { sentAt[unit] = now }})
	c.nodes[0].Watch(testRun, testName, Watch{Arrived: func(now time.Duration, unit, _ uint32) {
		if isMeasured {
			delays = append(delays, now-sentAt[unit])
		}
		delete(sentAt, unit)
	}})
	c.run(c.now+from, nil)
	isMeasured = true
	bps = c.over(lasting)
	slices.Sort(delays)
	return delays, bps
}

// TestAFullHopFillsNoBufferAbove: what waits before the full hop would wait at each of the fourteen relays above it.
func TestAFullHopFillsNoBufferAbove(t *testing.T) {
	const alone = 15 * 7 * ms / 2
	for _, loss := range []float64{0, 1e-2} {
		for _, full := range []int{0, 7, 14} {
			t.Run(fmt.Sprintf("loss %g, hop %d", loss, full), func(t *testing.T) {
				hops := repeated(15, link(20e6, 7*ms, loss))
				hops[full] = link(15e6, 7*ms, loss)
				c := newChain(t, 9, DefaultOptions(), 1<<40, hops...)
				delays, bps := c.delays(5*time.Second, 5*time.Second)
				p80 := delays[len(delays)*8/10]
				t.Logf("80 %% below %v, of them %v on the way; %.1f %% of the ceiling", p80.Round(ms), alone, 100*bps/ceiling(15e6))
				require.Less(t, p80, alone+110*ms)
				require.Greater(t, bps, 0.97*ceiling(15e6)*(1-loss))
			})
		}
	}
}

// TestALargeBufferIsUsedWhereItIsAskedFor: it holds what a short high rate brings, and costs its time.
func TestALargeBufferIsUsedWhereItIsAskedFor(t *testing.T) {
	options := DefaultOptions()
	options.BufferBytes = 150_000
	c := newChain(t, 9, options, 1<<40, append(repeated(1, link(15e6, 7*ms, 0)), repeated(14, link(20e6, 7*ms, 0))...)...)
	delays, _ := c.delays(5*time.Second, 5*time.Second)
	require.Greater(t, delays[len(delays)/2], 500*ms)
}

// TestTheWindowHoldsFromTheFirstAskOn.
func TestTheWindowHoldsFromTheFirstAskOn(t *testing.T) {
	options := DefaultOptions()
	options.WindowBytes = 3 * MaxUnitBytes
	c := newChain(t, 1, options, 300_000, link(20e6, 20*ms, 0))
	most := 0
	c.run(60*time.Second, func() bool {
		most = max(most, c.consumer.Counts().Outstanding)
		return c.done()
	})
	c.requireComplete()
	require.Equal(t, 3, most)
}

// TestTheWindowDoesNotGrowWithItsOwnWait: what is asked for ahead waits at the origin, which must not look like a long way.
func TestTheWindowDoesNotGrowWithItsOwnWait(t *testing.T) {
	hops := repeated(15, link(20e6, 7*ms, 1e-5))
	hops[0] = link(15e6, 7*ms, 1e-5)
	c := newChain(t, 9, DefaultOptions(), 1<<40, hops...)
	c.run(10*time.Second, nil)
	early := c.consumer.Counts().RTT
	c.run(60*time.Second, nil)
	t.Logf("%v after 10 s, %v after 60 s, window %d", early, c.consumer.Counts().RTT, c.consumer.WindowBytes())
	require.Less(t, c.consumer.Counts().RTT, 3*early/2)
}
