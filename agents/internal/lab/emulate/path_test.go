package emulate

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"downlink/agents/internal/lab/pathtrace"
	"downlink/agents/internal/lab/pathtrace/pathtest"
)

// flying is a profile of one path.
func flying(t require.TestingT, packed []byte) Profile {
	trace, err := pathtrace.Decode(packed)
	require.NoError(t, err)
	path := &Path{Queue: PathQueue{defaultPathQueueBytes}, plan: newPlan(trace)}
	require.NoError(t, path.turn())
	return Profile{Name: "p", Orbit: "LEO", Path: path}.withFacts()
}

func over(t require.TestingT, paths ...pathtest.Lasting) Profile {
	return flying(t, pathtest.Encode(pathtest.Header(), paths))
}

// TestAnyFlightConservesPackets sends packets over random paths that change under them.
func TestAnyFlightConservesPackets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { // prints its seed
		seed := rapid.Uint64().Draw(t, "seed")
		rng := rand.New(rand.NewPCG(seed, 0))
		profile := flying(t, pathtest.Random(rng, 1+rng.IntN(40)))
		profile.Path.Queue.LimitBytes = 3000 + rng.IntN(60_000)
		for _, way := range New(profile, seed) {
			arrivals, at := []arrival{}, time.Duration(rng.IntN(5e9))
			for range 400 {
				at += time.Duration(rng.ExpFloat64() * 2e6)
				arrivals = append(arrivals, arrival{at, 40 + rng.IntN(1461)})
			}
			fates := simulate(t, way.Line, arrivals) // conserves at each step
			require.Len(t, fates, len(arrivals), "each packet leaves once")
			for _, fate := range fates {
				isFast := fate.at < arrivals[fate.index].at+profile.Path.plan.least
				require.False(t, fate.lost == NotLost && isFast, "no packet is faster than the shortest hops with the ground")
			}
			requireSameLate(t, profile, seed, way, arrivals, fates)
		}
	})
}

// requireSameLate runs the line again by a caller that comes only when a packet can be through, as the pump does.
func requireSameLate(t require.TestingT, profile Profile, seed uint64, way Way, arrivals []arrival, want []departure) {
	line := New(profile, seed).Line(way.From, way.To)
	index := map[*Packet]int{}
	var out []*Packet
	for i, a := range arrivals {
		p := &Packet{SizeBytes: a.sizeBytes}
		index[p] = i
		out, _ = line.Step(a.at, p, out)
	}
	out, _ = line.Step(arrivals[len(arrivals)-1].at+time.Hour, nil, out)
	require.Len(t, out, len(want))
	for i, p := range out {
		require.Equal(t, want[i], departure{index[p], p.LeftAt, p.Lost})
	}
}

func TestNothingIsThroughBeforeTheLineSaysThatItCanBe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		rng := rand.New(rand.NewPCG(seed, 0))
		line := New(flying(t, pathtest.Random(rng, 20)), seed).Line(Gateway, Receiver)
		at := time.Duration(0)
		for range 200 {
			at += time.Duration(rng.ExpFloat64() * 2e6)
			_, promised := line.Step(at, &Packet{SizeBytes: 1000}, nil)
			if promised == Never || promised <= at {
				continue
			}
			at = promised - 1
			out, _ := line.Step(at, nil, nil)
			for _, p := range out {
				require.NotEqual(t, NotLost, p.Lost)
			}
		}
	})
}

func TestAPacketFliesForAsLongAsTheTraceSays(t *testing.T) {
	profile := over(t, pathtest.Chain(15, 3*ms, 5*ms, 20e6, 0, 10, 10*time.Second))
	fates := simulate(t, down(profile, 1), []arrival{{time.Second, 1500}})
	onAir := 2*3*ms + 13*5*ms
	require.Equal(t, time.Second+onAir+15*600*time.Microsecond, fates[0].at, "each hop sends 1500 bytes in 0.6 ms")
	require.Equal(t, 15, profile.MostHops())
	require.InDelta(t, 20e6, profile.PeakBps(), 0)
	require.InDelta(t, 142, profile.Facts.BaseRttMs, 1e-9)
}

func TestADelayIsStraightBetweenKnots(t *testing.T) {
	path := pathtest.Chain(2, 2*ms, 0, 1e9, 0, 7, 10*time.Second)
	path.Hops[0].Knots[1].Delay = 3 * ms
	fates := simulate(t, down(over(t, path), 1), []arrival{{5 * time.Second, 125}})
	require.InDelta(t, float64(5*time.Second+4500*time.Microsecond+2*time.Microsecond), float64(fates[0].at), 3)
}

// Hops of 2 ms to satellite 1, 10 ms on to 2, 2 ms to the ground; then over 1 and 3.
func twoPaths(t require.TestingT, second []pathtrace.Node, isl time.Duration) Profile {
	first := pathtest.Lasting{For: time.Second, Hops: []pathtrace.Hop{
		pathtest.Still(1, 2*ms, 12e6, 0, time.Second), pathtest.Still(2, 10*ms, 12e6, 0, time.Second),
		pathtest.Still(-2, 2*ms, 12e6, 0, time.Second),
	}}
	other := pathtest.Lasting{For: time.Second}
	for i, node := range second {
		delay := isl
		if i == 0 || node < 0 {
			delay = 2 * ms
		}
		other.Hops = append(other.Hops, pathtest.Still(node, delay, 12e6, 0, time.Second))
	}
	return over(t, first, other)
}

func TestWhatIsInTheAirArrivesIfItsSatelliteIsStillOnThePath(t *testing.T) {
	const before = time.Second - 8*ms // in the air from satellite 1 to 2 at the change
	stays := simulate(t, down(twoPaths(t, []pathtrace.Node{3, 2, -2}, 10*ms), 1), []arrival{{before, 1500}})
	require.Equal(t, departure{0, before + 17*ms, NotLost}, stays[0])
	leaves := simulate(t, down(twoPaths(t, []pathtrace.Node{1, 3, -2}, 10*ms), 1), []arrival{{before, 1500}})
	require.Equal(t, PathChange, leaves[0].lost)
	require.Equal(t, before+14*ms, leaves[0].at, "when it arrives where nobody is")
}

func TestWhatWaitsAtASatelliteThatLeftIsLost(t *testing.T) {
	burst := every(0, 20, 1500) // satellite 1 has sent some of them at the change
	line := down(twoPaths(t, []pathtrace.Node{3, 2, -2}, 10*ms), 1)
	fates := simulate(t, line, shifted(burst, time.Second-7500*time.Microsecond))
	counts := line.Counts()
	require.EqualValues(t, 20, counts.Delivered+counts.Lost[PathChange])
	lostAtOnce := 0
	for _, fate := range fates {
		if fate.lost == PathChange && fate.at == time.Second {
			lostAtOnce++
		}
	}
	require.Equal(t, 1, lostAtOnce, "one waits at satellite 1 and is being sent; the others are in the air or on the ground")
	require.EqualValues(t, 2, counts.Lost[PathChange]-uint64(lostAtOnce), "those in the air towards satellite 1")
	require.EqualValues(t, 17, counts.Delivered, "four over satellite 1, and what waited at the station over 3")
}

func TestAShorterPathLetsPacketsOvertake(t *testing.T) {
	fates := simulate(t, down(twoPaths(t, []pathtrace.Node{3, 2, -2}, time.Millisecond), 1),
		[]arrival{{time.Second - 5*ms, 1500}, {time.Second, 1500}})
	require.Equal(t, []int{1, 0}, []int{fates[0].index, fates[1].index})
	require.Empty(t, fates[0].lost+fates[1].lost)
}

func TestAChangedHopCarriesNothingInItsGap(t *testing.T) {
	profile := twoPaths(t, []pathtrace.Node{3, 2, -2}, time.Millisecond)
	paths := profile.Path.plan.trace.Paths
	paths[1].Hops[0].Gap = 50 * ms
	profile.Path.plan = newPlan(profile.Path.plan.trace)
	line := down(profile, 1)
	look, _ := line.Look(time.Second+10*ms, nil)
	require.True(t, look.IsGap)
	require.Zero(t, look.RateBps)
	require.Equal(t, 10*ms, look.GapTime)
	require.Equal(t, 1, look.Path)
	fates := simulate(t, line, []arrival{{time.Second + 20*ms, 1500}})
	require.Equal(t, time.Second+50*ms+5*ms+3*ms, fates[0].at)
	look, _ = line.Look(3500*ms, nil)
	require.Equal(t, 100*ms, look.GapTime, "the trace has begun again")
}

func TestWithoutAPathThereIsAnOutage(t *testing.T) {
	there := pathtest.Chain(3, 2*ms, 5*ms, 12e6, 0, 1, time.Second)
	line := down(over(t, there, pathtest.Lasting{For: time.Second}, there), 1)
	look, _ := line.Look(1500*ms, nil)
	require.True(t, look.IsOutage)
	require.Equal(t, 500*ms, look.OutageTime)
	fates := simulate(t, line, []arrival{{1600 * ms, 1500}, {2000 * ms, 1500}})
	require.Equal(t, departure{0, 1600 * ms, OutageLoss}, fates[0])
	require.Equal(t, NotLost, fates[1].lost)
}

func TestBothWaysOfAPathMirrorEachOther(t *testing.T) {
	profile := over(t, pathtest.Chain(5, 2*ms, 7*ms, 12e6, 0, 1, time.Minute))
	back := simulate(t, New(profile, 1).Line(Receiver, Gateway), []arrival{{time.Second, 1500}})
	require.Equal(t, time.Second+2*2*ms+3*7*ms+5*ms, back[0].at)
}

func TestALossOnEachHopAddsUp(t *testing.T) {
	profile := over(t, pathtest.Chain(10, 2*ms, ms, 100e6, 0.01, 1, time.Minute))
	fates := simulate(t, down(profile, 3), every(ms, 20_000, 500))
	require.InDelta(t, 1-0.9044, float64(countLost(fates, RandomLoss))/20_000, 0.01, "0.99 to the tenth get through")
}

func TestHopsAreJoinedInBothDirections(t *testing.T) {
	way := func(delayMs, bps float64) Direction {
		return Direction{Rate: Rate{ConstantBps: bps}, Queue: Queue{LimitBytes: 1e6}, Delay: Delay{BaseMs: delayMs}}
	}
	profile := Profile{Name: "x", Orbit: "LEO", Hops: []Hop{{Down: way(10, 12e6), Up: way(1, 12e6)},
		{Down: way(20, 6e6), Up: way(2, 6e6)}}}.withFacts()
	require.NoError(t, profile.validate())
	require.InDelta(t, 33, profile.Facts.BaseRttMs, 1e-9)
	require.InDelta(t, 6e6, profile.PeakBps(), 0, "the narrowest hop's")
	network := New(profile, 1)
	require.Equal(t, 33*ms, simulate(t, network.Line(Gateway, Receiver), []arrival{{0, 1500}})[0].at)
	require.Equal(t, 6*ms, simulate(t, network.Line(Receiver, Gateway), []arrival{{0, 1500}})[0].at)
}
