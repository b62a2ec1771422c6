package emulate

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const ms = time.Millisecond

func TestAGapBeginsAndEndsAtItsMoments(t *testing.T) {
	g := gaps{every: time.Second, offset: 300 * ms, length: 50 * ms}
	for _, c := range []struct {
		at     time.Duration
		inside bool
		until  time.Duration
	}{
		{0, false, 300 * ms},
		{300*ms - 1, false, 300 * ms},
		{300 * ms, true, 350 * ms},
		{350*ms - 1, true, 350 * ms},
		{350 * ms, false, 1300 * ms},
		{1300 * ms, true, 1350 * ms},
	} {
		inside, until := g.next(c.at)
		require.Equal(t, c.inside, inside, "at %v", c.at)
		require.Equal(t, c.until, until, "at %v", c.at)
	}
}

func TestAGapAndARateChangeEachEndAStretchOfTheRate(t *testing.T) {
	g := gappedRate{constantRate(8e6), gaps{every: time.Second, length: 50 * ms}}
	bps, until := g.at(0)
	require.Zero(t, bps)
	require.Equal(t, 50*ms, until)
	bps, until = g.at(50 * ms)
	require.InDelta(t, 8e6, bps, 0)
	require.Equal(t, time.Second, until)
	g.rate = recordedRate{&Trace{At: []time.Duration{0, 100 * ms}, Bps: []float64{8e6, 4e6}, Repeat: time.Second}}
	_, until = g.at(60 * ms)
	require.Equal(t, 100*ms, until)
}

func TestARecordedCourseChangesAtItsPointsAndRepeats(t *testing.T) {
	r := recordedRate{&Trace{At: []time.Duration{0, 100 * ms, 200 * ms}, Bps: []float64{1e6, 2e6, 3e6}, Repeat: 500 * ms}}
	for _, c := range []struct {
		at, until time.Duration
		bps       float64
	}{
		{0, 100 * ms, 1e6}, {100*ms - 1, 100 * ms, 1e6}, {100 * ms, 200 * ms, 2e6}, {200 * ms, 500 * ms, 3e6},
		{500*ms - 1, 500 * ms, 3e6}, {500 * ms, 600 * ms, 1e6}, {1100 * ms, 1200 * ms, 2e6},
	} {
		bps, until := r.at(c.at)
		require.InDelta(t, c.bps, bps, 0, "at %v", c.at)
		require.Equal(t, c.until, until, "at %v", c.at)
	}
}

func TestATransmissionMayEndExactlyWhereTheRateChanges(t *testing.T) {
	r := recordedRate{&Trace{At: []time.Duration{0, 100 * ms}, Bps: []float64{1e6, 1e3}, Repeat: 200 * ms}}
	require.Equal(t, 100*ms, finish(r, 0, 1e5))
	require.Equal(t, 101*ms, finish(r, 0, 1e5+1))
	require.Equal(t, 150*ms, finish(constantRate(1e6), 50*ms, 1e5))
	gapped := gappedRate{constantRate(1e6), gaps{every: time.Second, offset: 100 * ms, length: 50 * ms}}
	require.Equal(t, 100*ms, finish(gapped, 0, 1e5), "a packet that ends with the gap's first moment is through")
	require.Equal(t, 151*ms, finish(gapped, 0, 1e5+1e3))
}

func TestARateIsDrawnAgainAtTheEndOfItsPeriod(t *testing.T) {
	r := &stepRate{period: 10 * ms, lowBps: 1e6, highBps: 2e6, course: newCourse(testRng())}
	first, until := r.at(0)
	require.Equal(t, 10*ms, until)
	same, _ := r.at(10*ms - 1)
	require.InDelta(t, first, same, 0)
	other, until := r.at(10 * ms)
	require.NotEqual(t, first, other)
	require.Equal(t, 20*ms, until)
}

func TestAnOutageLosesFromItsFirstMomentToJustBeforeItsLast(t *testing.T) {
	n := &outages{meanLength: time.Hour, meanSpacing: time.Hour, rng: testRng(), from: 10 * ms, to: 20 * ms}
	for _, c := range []struct {
		at   time.Duration
		lost Cause
	}{{0, NotLost}, {10*ms - 1, NotLost}, {10 * ms, OutageLoss}, {20*ms - 1, OutageLoss}, {20 * ms, NotLost}} {
		out, wake := n.Process(c.at, &Packet{})
		require.Equal(t, c.lost, out.Lost, "at %v", c.at)
		require.Equal(t, Never, wake)
	}
	require.Greater(t, n.from, 20*ms, "the next one is drawn from the end of this one on")
	require.Greater(t, n.to, n.from)
}

func TestAProfileLosesWhatItSays(t *testing.T) {
	lost := func(change func(*Profile), packets int) int {
		profile := sound()
		profile.Down.Rate.ConstantBps = 1e9
		change(&profile)
		return packets - len(delivered(simulate(t, down(profile, 3), every(ms, packets, 100))))
	}
	require.InDelta(t, 500, lost(func(p *Profile) { p.Down.Loss.IndependentRatio = 0.5 }, 1000), 70)
	require.Zero(t, lost(func(*Profile) {}, 1000))
	require.Equal(t, 100, lost(func(p *Profile) { p.Down.Gap = &Gap{EveryS: 0.5, LengthMs: 50, IsLossy: true} }, 1000))
	require.Zero(t, lost(func(p *Profile) { p.Down.Gap, p.Down.Queue.LimitBytes = &Gap{EveryS: 0.5, LengthMs: 50}, 1e6 }, 1000))
}

func TestARandomDropBeginsAboveItsThreshold(t *testing.T) {
	for queued, cause := range map[int]Cause{1000: NotLost, 1001: EarlyDrop, 9900: EarlyDrop, 9901: QueueFull} {
		b := &bottleneck{rate: constantRate(1e6), rule: dropRule{limitBytes: 10_000, aboveBytes: 1000, dropRatio: 1}, drops: newCourse(testRng()),
			queuedBytes: queued}
		require.Equal(t, cause, b.verdict(0, &Packet{SizeBytes: 100}), "%d bytes wait", queued)
	}
}

func TestAHeldDelayIsDrawnAgainAtTheEndOfItsHold(t *testing.T) {
	draws := 0
	v := newVariation(40*ms, 0, func(*rand.Rand) time.Duration { draws++; return time.Duration(draws) }, 0, testRng())
	require.EqualValues(t, 1, v.at(0))
	require.EqualValues(t, 1, v.at(40*ms-1))
	require.EqualValues(t, 2, v.at(40*ms))
	require.EqualValues(t, 3, v.at(200*ms))
	require.EqualValues(t, 3, v.at(240*ms-1))
	v.hold = 0
	require.EqualValues(t, 4, v.at(200*ms), "each packet its own")
	require.EqualValues(t, 5, v.at(200*ms))
}

func TestNoVariationSendsAPacketBackInTime(t *testing.T) {
	early := newVariation(0, 0, func(*rand.Rand) time.Duration { return -5 * ms }, -5*ms, testRng())
	node := &delay{base: 3 * ms, variations: []*variation{early}}
	require.Zero(t, node.Least())
	out, wake := node.Process(10*ms, &Packet{})
	require.NotNil(t, out)
	require.Equal(t, Never, wake)
	node.base = 7 * ms
	require.Equal(t, 2*ms, node.Least())
	_, wake = node.Process(10*ms, &Packet{})
	require.Equal(t, 12*ms, wake)
}

func TestDrawsStayWithinTheirDistribution(t *testing.T) {
	rng := testRng()
	cases := map[string]struct {
		v          Variation
		least      time.Duration
		most, mean time.Duration
	}{
		"normal":    {Variation{Normal: &NormalMs{10, -10, 20}}, -10 * ms, 20 * ms, 2300 * time.Microsecond},
		"uniform":   {Variation{Uniform: &UniformMs{4, 8}}, 4 * ms, 8 * ms, 6 * ms},
		"quantiles": {Variation{Quantiles: []QuantilesMs{{0, 2}, {0.5, 4}, {1, 12}}}, 2 * ms, 12 * ms, 5500 * time.Microsecond},
	}
	for name, c := range cases {
		draw, least := c.v.distribution()
		require.Equal(t, c.least, least, name)
		sum, low, high := time.Duration(0), c.most, c.least
		for range 20_000 {
			d := draw(rng)
			require.True(t, d >= c.least && d <= c.most, "%s: %v", name, d)
			sum, low, high = sum+d, min(low, d), max(high, d)
		}
		require.InDelta(t, c.mean, sum/20_000, float64(200*time.Microsecond), name)
		require.InDelta(t, c.least, low, float64(100*time.Microsecond), name)
		require.InDelta(t, c.most, high, float64(100*time.Microsecond), name)
	}
}

func TestWaitingPacketsLeaveInTheOrderInWhichTheyAreDue(t *testing.T) {
	var w waiting
	require.Equal(t, Never, w.next())
	for round := range 3 { // the ring's head moves on, so that it wraps, and then grows
		for i := range 50 + 30*round {
			w.put(&Packet{due: time.Duration(i / 2), SizeBytes: i})
		}
		for i := range 50 + 30*round {
			p, _ := w.take(time.Duration(i / 2))
			require.NotNil(t, p)
			require.Equal(t, i, p.SizeBytes, "of those due at once the first to come")
		}
	}
	require.Len(t, w.ring, 128)
	for _, due := range []time.Duration{9, 8, 7} {
		w.put(&Packet{due: due})
	}
	for _, due := range []time.Duration{7, 8, 9} {
		p, _ := w.take(9)
		require.Equal(t, due, p.due, "one that comes last may be the first to leave")
	}
	w.put(&Packet{due: 5})
	p, wake := w.take(4)
	require.Nil(t, p)
	require.EqualValues(t, 5, wake)
}

func TestPredictionsAreWhatALineDoes(t *testing.T) {
	profile := sound()
	profile.Down = Direction{Rate: Rate{ConstantBps: 12e6}, Queue: Queue{LimitBytes: 3000}, Delay: Delay{BaseMs: 10}}
	require.Equal(t, []time.Duration{11 * ms, 12 * ms, Never, 21 * ms}, Predict(profile, 1, []time.Duration{0, 0, 0, 10 * ms}, 1500))
}

func TestProbesAreSpacedAndLostOnesLeftOut(t *testing.T) {
	profile := sound()
	profile.Down = Direction{Rate: Rate{ConstantBps: 1e9}, Queue: Queue{LimitBytes: 3000}, Delay: Delay{BaseMs: 10}}
	profile.Up = profile.Down
	profile.Down.Gap = &Gap{EveryS: 1, LengthMs: 500, IsLossy: true}
	rtts := IdleRtts(profile, 1, 40, 100*ms, 125) // 1 us of transmission each way
	require.Len(t, rtts, 20)
	require.Equal(t, 20*ms+2*time.Microsecond, rtts[0])
}

func TestCountsNameOnlyWhatWasLost(t *testing.T) {
	c := Counts{Received: 5, Delivered: 2, Queued: 1}
	c.Lost[QueueFull] = 1
	c.Lost[HandoverLoss] = 1
	require.Equal(t, "5 received, 2 delivered, 1 queued, 1 lost (queue full), 1 lost (handover)", c.String())
	require.Equal(t, "0 received, 0 delivered, 0 queued", Counts{}.String())
}

func TestEveryCauseHasAName(t *testing.T) {
	names := []string{"not lost", "queue full", "early drop", "random loss", "outage", "handover", "path change", "thinned"}
	for cause := range causes {
		require.Equal(t, names[cause], cause.String())
	}
	require.Len(t, names, int(causes))
}

func TestDirectionsAndNodesDrawFromStreamsOfTheirOwn(t *testing.T) {
	profile := sound()
	profile.Down.Loss.IndependentRatio, profile.Up.Loss.IndependentRatio = 0.5, 0.5
	fates := func(line *Line) (lost []bool) {
		for _, d := range simulate(t, line, every(100*ms, 200, 100)) {
			lost = append(lost, d.lost != NotLost)
		}
		return lost
	}
	first := fates(down(profile, 1))
	require.Equal(t, first, fates(down(profile, 1)), "same seed, same fate")
	require.NotEqual(t, first, fates(New(profile, 1).Line(Receiver, Gateway)), "the ways differ")
	require.NotEqual(t, first, fates(down(profile, 2)), "seeds differ")
	s := seeds{1, 0}
	require.NotEqual(t, s.next().Uint64(), s.next().Uint64(), "nodes differ")
}

func TestEachHandoverDrawsItsLengthAndBothWaysStandStillTogether(t *testing.T) {
	profile := sound()
	gap := &Gap{EveryS: 15, OffsetS: 12, Lengths: []QuantilesMs{{0, 60}, {1, 100}}}
	profile.Down.Gap, profile.Up.Gap = gap, gap
	lengthsOf := func(way int) (found []time.Duration) {
		g := New(profile, 3)[way].Line.nodes[0].(*bottleneck).rate.(gappedRate).gaps
		for k := range 200 {
			begin := 12*time.Second + time.Duration(k)*15*time.Second
			inside, until := g.next(begin)
			require.True(t, inside)
			found = append(found, until-begin)
			inside, _ = g.next(until)
			require.False(t, inside)
		}
		return found
	}
	down := lengthsOf(0)
	require.Equal(t, down, lengthsOf(1))
	slices.Sort(down)
	require.InDelta(t, 60, down[0].Milliseconds(), 2)
	require.InDelta(t, 80, down[100].Milliseconds(), 5)
	require.InDelta(t, 100, down[199].Milliseconds(), 2)
}

func TestAVariationsFirstPeriodEndsAfterItsOffset(t *testing.T) {
	v := newVariation(15*time.Second, 12*time.Second, uniform(0, time.Second), 0, testRng())
	first := v.at(0)
	require.Equal(t, first, v.at(12*time.Second-1))
	second := v.at(12 * time.Second)
	require.NotEqual(t, first, second)
	require.Equal(t, second, v.at(27*time.Second-1))
	require.NotEqual(t, second, v.at(27*time.Second))
}
