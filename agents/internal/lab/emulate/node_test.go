package emulate

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func testRng() *rand.Rand { return rand.New(rand.NewPCG(7, 7)) }

func queueOf(limitBytes int) dropRule { return dropRule{limitBytes: limitBytes} }

func TestSerialiserKeepsItsRate(t *testing.T) {
	line := NewLine(&bottleneck{rate: constantRate(12e6), rule: queueOf(1e9)})
	fates := simulate(t, line, every(0, 1000, 1500))
	require.Len(t, fates, 1000)
	require.Equal(t, time.Millisecond, fates[0].at, "1500 bytes take 1 ms at 12 Mb/s")
	require.Equal(t, time.Second, fates[999].at)
}

func TestALineCountsTheBytesThatItDelivers(t *testing.T) {
	line := NewLine(&bottleneck{rate: constantRate(12e6), rule: queueOf(3000)})
	simulate(t, line, []arrival{{0, 1500}, {0, 1000}, {0, 1400}, {time.Second, 40}})
	counts := line.Counts()
	require.EqualValues(t, 1500+1000+40, counts.DeliveredBytes, "1400 bytes found no room")
	require.EqualValues(t, 3, counts.Delivered)
}

func TestIdleTimeIsNotSaved(t *testing.T) {
	line := NewLine(&bottleneck{rate: constantRate(12e6), rule: queueOf(1e9)})
	fates := simulate(t, line, []arrival{{0, 1500}, {time.Second, 1500}, {time.Second, 1500}})
	require.Equal(t, time.Second+2*time.Millisecond, fates[2].at)
}

func TestRateChangesInTheMiddleOfAPacket(t *testing.T) {
	trace := recordedRate{&Trace{At: []time.Duration{0, 500 * time.Microsecond}, Bps: []float64{12e6, 6e6}, Repeat: time.Second}}
	line := NewLine(&bottleneck{rate: trace, rule: queueOf(1e9)})
	fates := simulate(t, line, []arrival{{0, 1500}, {time.Second, 1500}})
	require.Equal(t, 1500*time.Microsecond, fates[0].at, "half of it at 12 Mb/s, half at 6")
	require.Equal(t, time.Second+1500*time.Microsecond, fates[1].at, "the trace begins again")
}

func TestRateStepsStayWithinTheirBounds(t *testing.T) {
	steps := &stepRate{period: 15 * time.Second, lowBps: 60e6, highBps: 100e6, course: newCourse(testRng())}
	seen := map[float64]bool{}
	for s := range 1500 {
		bps, until := steps.at(time.Duration(s) * time.Second)
		require.True(t, bps >= 60e6 && bps <= 100e6)
		require.Equal(t, time.Duration(s/15+1)*15*time.Second, until)
		seen[bps] = true
	}
	require.Len(t, seen, 100, "a new rate each 15 s")
}

func TestRateStepsBeginAtTheirOffset(t *testing.T) {
	steps := &stepRate{period: 15 * time.Second, offset: 4 * time.Second, lowBps: 60e6, highBps: 100e6, course: newCourse(testRng())}
	for _, c := range []struct{ at, until time.Duration }{{0, 4}, {3, 4}, {4, 19}, {18, 19}, {19, 34}} {
		_, until := steps.at(c.at * time.Second)
		require.Equal(t, c.until*time.Second, until, "at %d s", c.at)
	}
}

func TestHandoverGapHoldsPackets(t *testing.T) {
	gap := gaps{every: 15 * time.Second, length: 40 * time.Millisecond}
	line := NewLine(&bottleneck{rate: gappedRate{constantRate(12e6), gap}, rule: queueOf(1e9)})
	fates := simulate(t, line, []arrival{{15*time.Second - 500*time.Microsecond, 1500}, {20 * time.Second, 1500}})
	require.Equal(t, 15*time.Second+40500*time.Microsecond, fates[0].at, "its second half waits for the end of the gap")
	require.Equal(t, 20*time.Second+time.Millisecond, fates[1].at)
}

func TestLossyHandoverGapLosesExactlyWhatPassesInIt(t *testing.T) {
	line := NewLine(lossyGaps{gaps{every: time.Second, offset: 300 * time.Millisecond, length: 50 * time.Millisecond}})
	for _, d := range simulate(t, line, every(time.Millisecond, 5000, 100)) {
		inGap := d.at%time.Second >= 300*time.Millisecond && d.at%time.Second < 350*time.Millisecond
		require.Equal(t, inGap, d.lost == HandoverLoss, "at %v", d.at)
	}
}

func TestTailDropBeginsAtTheLimit(t *testing.T) {
	line := NewLine(&bottleneck{rate: constantRate(12e6), rule: queueOf(15000)})
	fates := simulate(t, line, every(0, 100, 1500))
	require.Equal(t, 90, countLost(fates, QueueFull))
	require.Equal(t, 9, fates[len(fates)-1].index, "the ten that came first got in")
}

func TestAQuarterIsDroppedAtRandomAboveHalfTheQueue(t *testing.T) {
	rule := dropRule{limitBytes: 36e6, aboveBytes: 18e6, dropRatio: 0.25}
	line := NewLine(&bottleneck{rate: constantRate(144e6), rule: rule, drops: newCourse(testRng())})
	fates := simulate(t, line, every(0, 20000, 1500))
	require.Zero(t, countLost(fates, QueueFull))
	above := 20000 - 12001 // 12001 packets fit before more than 18 MB wait
	for _, d := range fates {
		require.False(t, d.lost != NotLost && d.index <= 12000, "packet %d was dropped below half", d.index)
	}
	sd := math.Sqrt(float64(above) * 0.25 * 0.75)
	require.InDelta(t, float64(above)*0.25, float64(countLost(fates, EarlyDrop)), 4*sd)
}

func TestIndependentLossIsIndependent(t *testing.T) {
	fates := simulate(t, NewLine(&independentLoss{0.01, newCourse(testRng())}), every(time.Millisecond, 200000, 100))
	lost, pairs := countLost(fates, RandomLoss), 0
	for i := range fates[1:] {
		if fates[i].lost != NotLost && fates[i+1].lost != NotLost {
			pairs++
		}
	}
	require.InDelta(t, 2000, lost, 4*math.Sqrt(2000))
	require.InDelta(t, 20, pairs, 4*math.Sqrt(20), "a lost packet says nothing about the next")
}

func TestOutagesAreBurstsInTime(t *testing.T) {
	const mean, spacing = 10 * time.Millisecond, time.Second
	fates := simulate(t, NewLine(newOutages(mean, spacing, testRng())), every(time.Millisecond, 1_000_000, 100))
	bursts, lost := 0, countLost(fates, OutageLoss)
	for i := range fates[1:] {
		if fates[i].lost == NotLost && fates[i+1].lost != NotLost {
			bursts++
		}
	}
	require.InDelta(t, 950, bursts, 4*math.Sqrt(950), "about one each second: the shortest fall between packets")
	require.InDelta(t, 10, float64(lost)/float64(bursts), 2, "each as long as ten packets on average")
}

func TestDelayKeepsTheOrder(t *testing.T) {
	draw := truncatedNormal(20*time.Millisecond, -60*time.Millisecond, 60*time.Millisecond)
	node := &delay{base: 100 * time.Millisecond, variations: []*variation{newVariation(0, 0, draw, -60*time.Millisecond, testRng())}}
	requireOrdered(t, simulate(t, NewLine(node), every(time.Millisecond, 5000, 100)))
}

func TestReorderingOnlyWhenAsked(t *testing.T) {
	varying := newVariation(0, 0, uniform(0, 50*time.Millisecond), 0, testRng())
	node := &delay{base: 100 * time.Millisecond, reorders: true, variations: []*variation{varying}}
	fates := simulate(t, NewLine(node), every(time.Millisecond, 1000, 100))
	overtakes := 0
	for i := range fates[1:] {
		require.LessOrEqual(t, fates[i].at, fates[i+1].at)
		if fates[i+1].index < fates[i].index {
			overtakes++
		}
	}
	require.Greater(t, overtakes, 100)
}

func requireOrdered(t require.TestingT, fates []departure) {
	last := departure{index: -1}
	for _, d := range delivered(fates) {
		require.Greater(t, d.index, last.index)
		require.GreaterOrEqual(t, d.at, last.at)
		last = d
	}
}

func TestLateCallerAddsNoDelayInside(t *testing.T) {
	line := NewLine(&bottleneck{rate: constantRate(12e6), rule: queueOf(1e9)}, &delay{base: 10 * time.Millisecond})
	for range 3 {
		line.Step(0, &Packet{SizeBytes: 1500}, nil)
	}
	out, wake := line.Step(time.Second, nil, nil)
	require.Len(t, out, 3)
	require.Equal(t, 13*time.Millisecond, out[2].LeftAt, "as if it had been called in time")
	require.Equal(t, Never, wake)
}

// anyDirection draws a valid direction of any kind.
func anyDirection(t *rapid.T) Direction {
	d := Direction{Queue: Queue{LimitBytes: rapid.IntRange(1500, 100_000).Draw(t, "limit")}}
	low := rapid.Float64Range(1e5, 1e8).Draw(t, "low")
	if rapid.Bool().Draw(t, "steps") {
		period := rapid.Float64Range(0.01, 2).Draw(t, "period")
		d.Rate.Steps = &RateSteps{PeriodS: period, OffsetS: period * rapid.Float64Range(0, 0.99).Draw(t, "offset"), LowBps: low, HighBps: 2 * low}
	} else {
		d.Rate.ConstantBps = low
	}
	if rapid.Bool().Draw(t, "varies") {
		d.Rate.Varies = &Varies{StepMs: rapid.Float64Range(1, 100).Draw(t, "step"), CorrelationS: 1, SdRatio: 0.3, LowRatio: 0.1, HighRatio: 2}
	}
	if rapid.Bool().Draw(t, "trace") {
		d.recorded = &Trace{At: []time.Duration{0, 30 * ms}, Repeat: 70 * ms, Delay: []time.Duration{5 * ms, 0}, Loss: []float64{0, 0.5}}
	}
	if rapid.Bool().Draw(t, "frames") {
		base := rapid.IntRange(1, 3000).Draw(t, "base bytes")
		d.Frames = &Frames{
			LengthMs: rapid.Float64Range(1, 50).Draw(t, "frame"), BaseBytes: base, MostBytes: rapid.IntRange(base, 100_000).Draw(t, "most bytes"),
			GrantDelayFrames: rapid.IntRange(1, 30).Draw(t, "grant delay"), HoldS: rapid.Float64Range(0, 2).Draw(t, "grant hold"),
		}
	}
	if d.Frames == nil && rapid.Bool().Draw(t, "early") {
		d.Queue.RandomDrop = &RandomDrop{AboveBytes: d.Queue.LimitBytes / 2, Ratio: 0.25}
	}
	if rapid.Bool().Draw(t, "gap") {
		d.Gap = &Gap{EveryS: 1, LengthMs: 50, IsLossy: rapid.Bool().Draw(t, "lossy")}
	}
	if rapid.Bool().Draw(t, "outages") {
		d.Loss.Outages = &Outages{MeanLengthMs: 20, MeanSpacingS: 0.2}
	}
	d.Loss.IndependentRatio = rapid.Float64Range(0, 0.2).Draw(t, "independent")
	d.Delay.BaseMs = rapid.Float64Range(0, 300).Draw(t, "base")
	d.Delay.Variations = []Variation{{HoldMs: rapid.Float64Range(0, 50).Draw(t, "hold"), Normal: &NormalMs{SdMs: 17, LowMs: -37, HighMs: 28}}}
	return d
}

func anyArrivals(t *rapid.T) []arrival {
	arrivals := make([]arrival, rapid.IntRange(1, 300).Draw(t, "packets"))
	now := time.Duration(0)
	for i := range arrivals {
		now += time.Duration(rapid.IntRange(0, 20_000_000).Draw(t, "pause"))
		arrivals[i] = arrival{now, rapid.IntRange(20, 1500).Draw(t, "size")}
	}
	return arrivals
}

func TestAnyLineConservesOrdersAndRepeats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		direction, arrivals, seed := anyDirection(t), anyArrivals(t), rapid.Uint64().Draw(t, "seed")
		fates := simulate(t, direction.line(seeds{seed, 0}), arrivals)
		require.Len(t, fates, len(arrivals), "each packet leaves exactly once")
		requireOrdered(t, fates)
		require.Equal(t, fates, simulate(t, direction.line(seeds{seed, 0}), arrivals), "same seed, same fate")
	})
}
