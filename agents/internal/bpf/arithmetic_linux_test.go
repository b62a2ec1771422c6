package bpf_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"downlink/agents/internal/bpf"
	"downlink/agents/internal/testing/hosttest"

	"github.com/cilium/ebpf"
	"github.com/stretchr/testify/require"
)

// bench runs the controls' own arithmetic in the kernel, outside any connection.
func bench(t *testing.T) *ebpf.Collection {
	t.Helper()
	hosttest.NeedRoot(t)
	spec, err := bpf.LoadBench()
	require.NoError(t, err)
	objects, err := ebpf.NewCollection(spec)
	require.NoError(t, err)
	t.Cleanup(objects.Close)
	return objects
}

// call runs one program on a case and gives the case back as the program left it.
func call[Case any](t *testing.T, program *ebpf.Program, given Case) (result Case) {
	t.Helper()
	output := make([]byte, binary.Size(given))
	code, err := program.Run(&ebpf.RunOptions{Context: given, ContextOut: output})
	require.NoError(t, err)
	require.Zero(t, code)
	require.NoError(t, binary.Read(bytes.NewReader(output), binary.NativeEndian, &result))
	return result
}

func TestVivacesThroughputTermIsThePowerOfTheRate(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	program := bench(t).Programs["bench_throughput"]
	for _, kbps := range []uint64{100, 1000, 1047, 4194, 20_000, 99_999, 144_000, 1_000_000, 9_999_999} {
		got := call(t, program, bpf.BenchThroughputCase{Rate: kbps * 125})
		want := 1000 * math.Pow(float64(kbps)/1000, 0.9)
		require.InDelta(t, want, float64(got.Milli), 1.5+want/10_000, "%d kb/s", kbps)
		linear := call(t, program, bpf.BenchThroughputCase{Rate: kbps * 125, IsLinear: 1})
		require.Equal(t, kbps, linear.Milli)
	}
}

func TestVivacesStepsGrowAndAreBounded(t *testing.T) {
	program := bench(t).Programs["bench_step"]
	const mbps = 125_000
	step := func(steps, hits uint64, gradient int64) bpf.BenchStepCase {
		return call(t, program, bpf.BenchStepCase{BaseRate: 1000 * mbps, Steps: steps, BoundHits: hits, Gradient: gradient})
	}
	for steps, amplifier := range []int64{1, 1, 2, 3, 5, 7, 9} {
		require.Equal(t, amplifier*mbps*6/10, step(uint64(steps), 0, 600).Change, "gradient 0.6, step %d", steps)
		require.Equal(t, -amplifier*mbps*6/10, step(uint64(steps), 0, -600).Change)
	}
	for hits, percent := range []int64{5, 15, 25} {
		bounded := step(1, uint64(hits), 900_000)
		require.Equal(t, percent*10*mbps, bounded.Change)
		require.EqualValues(t, hits+1, bounded.BoundHits)
	}
	require.Zero(t, step(1, 2, 600).BoundHits, "a step within the bound forgets the hits")
}

// line is a series of RTT samples: a rise, and noise around it.
type line struct {
	spanUs, slope, noiseUs float64
	samples                int
}

// judge lets the kernel's machine see the samples, and gives its slope and verdict beside those of plain arithmetic.
func (l line) judge(t *testing.T) (got bpf.BenchSlopeCase, slope, riseOverDeviation float64) {
	t.Helper()
	program := bench(t).Programs["bench_slope"]
	rng := rand.New(rand.NewPCG(3, 4))
	var at, rtts []float64
	for i := range l.samples {
		at = append(at, math.Round(l.spanUs*float64(i)/float64(l.samples-1)))
		rtts = append(rtts, math.Round(600_000+at[i]*l.slope+rng.NormFloat64()*l.noiseUs))
		given := bpf.BenchSlopeCase{NowUs: uint64(5e9 + at[i]), RttUs: uint32(rtts[i]), TolerancePpm: 20_000, NoisePercent: 300}
		if i == 0 {
			given.LeastUs = uint32(l.spanUs / 4) // an interval can last longer than planned
		}
		got = call(t, program, given)
	}
	slope, deviation := leastSquares(at, rtts)
	return got, slope, math.Abs(slope) * at[len(at)-1] / deviation
}

// leastSquares is the slope of the line through points, and their deviation from it.
func leastSquares(xs, ys []float64) (slope, deviation float64) {
	var x, y, xx, xy, yy float64
	n := float64(len(xs))
	for i := range xs {
		x, y = x+xs[i]/n, y+ys[i]/n
	}
	for i := range xs {
		xx, xy, yy = xx+(xs[i]-x)*(xs[i]-x)/n, xy+(xs[i]-x)*(ys[i]-y)/n, yy+(ys[i]-y)*(ys[i]-y)/n
	}
	slope = xy / xx
	return slope, math.Sqrt(yy - slope*xy)
}

func TestVivacesSlopeIsTheLineOfLeastSquares(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	for _, l := range []line{
		{spanUs: 1_200_000, slope: 0.05, noiseUs: 1_000, samples: 10_000},
		{spanUs: 1_200_000, slope: 0.015, noiseUs: 100, samples: 1_000},
		{spanUs: 40_000, slope: 3, noiseUs: 100, samples: 100},
		{spanUs: 10_000, slope: 0, noiseUs: 15_000, samples: 20}, // a steep line through nothing but jitter
		{spanUs: 8_000_000, slope: 1, noiseUs: 100_000, samples: 16_384},
		{spanUs: 1_200_000, slope: -0.05, noiseUs: 17_000, samples: 3_000},
		{spanUs: 1_200_000, slope: 0.9, noiseUs: 0, samples: 16_000},
		{spanUs: 600_000, slope: 0, noiseUs: 17_000, samples: 50},
		{spanUs: 80_000, slope: 0.03, noiseUs: 5_000, samples: 500},
		{spanUs: 80_000, slope: 0.3, noiseUs: 5_000, samples: 500},
		{spanUs: 10_000, slope: 0.02, noiseUs: 10, samples: 50},
		{spanUs: 1_000, slope: -0.5, noiseUs: 20, samples: 50},
	} {
		t.Run(fmt.Sprintf("%+v", l), func(t *testing.T) {
			got, slope, riseOverDeviation := l.judge(t)
			require.InDelta(t, slope, float64(got.SlopePpm)/1e6, 0.001+0.01*math.Abs(slope))
			t.Logf("slope %.4f, the line rises by %.2f deviations", slope, riseOverDeviation)
			if math.Abs(slope) < 0.02 || riseOverDeviation < 3 {
				require.Zero(t, got.JudgedPpm)
			} else {
				require.Equal(t, max(min(got.SlopePpm, 1_000_000), -1_000_000), got.JudgedPpm)
			}
		})
	}
}

// fluid is a path in virtual time: a bottleneck, a queue, a delay; one acknowledgement per packet.
type fluid struct {
	rateBps, rttUs, queueBytes float64
	lossRatio                  float64
	jitterSdUs                 float64 // of a delay that is drawn again every 40 ms
	window                     int     // packets that may be in flight, 0: any number
	opensAtUs                  float64 // from when on any number may, 0: never
}

const packetBits = 1448 * 8

// Vivace's two utilities, otherwise as they are by default.
var (
	vivaceLatency = bpf.BenchVivaceCase{LatencyMilli: 900_000, NoisePercent: 300, IntervalRtts: 2}
	vivaceLoss    = bpf.BenchVivaceCase{NoisePercent: 300, IntervalRtts: 2}
)

type observation struct {
	atUs  float64
	rate  float64 // bits per second
	phase uint32
}

type flight struct {
	ackAtUs, rttUs float64
	isLost         bool
}

// drive lets Vivace send over the path for a time and returns what it did after every acknowledgement.
func (f fluid) drive(t *testing.T, options bpf.BenchVivaceCase, forUs float64) []observation {
	t.Helper()
	program := bench(t).Programs["bench_vivace"]
	rng := rand.New(rand.NewPCG(1, 2))
	state := call(t, program, bpf.BenchVivaceCase{MinRttUs: uint32(f.rttUs), InitialKbps: 4194, IntervalRtts: options.IntervalRtts})
	var path []flight
	var seen []observation
	var sent, delivered, lost uint64
	var sendAtUs, freeAtUs, ackAtUs, jitterUs, frame float64
	for sendAtUs < forUs {
		isOpen := f.window == 0 || len(path) < f.window || f.opensAtUs > 0 && sendAtUs > f.opensAtUs
		if len(path) == 0 || sendAtUs < path[0].ackAtUs && isOpen {
			freeAtUs = max(freeAtUs, sendAtUs)
			isLost := (freeAtUs-sendAtUs)*f.rateBps/8e6 > f.queueBytes || rng.Float64() < f.lossRatio
			if !isLost {
				freeAtUs += packetBits / f.rateBps * 1e6
			}
			if now := math.Floor(freeAtUs / 40_000); now != frame && f.jitterSdUs > 0 {
				frame, jitterUs = now, math.Abs(rng.NormFloat64()*f.jitterSdUs)
			}
			ackAtUs = max(ackAtUs, freeAtUs+f.rttUs+jitterUs) // nothing overtakes
			path = append(path, flight{ackAtUs, ackAtUs - sendAtUs, isLost})
			sent++
			sendAtUs += packetBits / (float64(state.Rate) * 8) * 1e6
			continue
		}
		now := path[0]
		path = path[1:]
		if !isOpen {
			sendAtUs = max(sendAtUs, now.ackAtUs)
		}
		if now.isLost {
			lost++
			continue
		}
		delivered++
		state = call(t, program, bpf.BenchVivaceCase{
			NowUs: uint64(now.ackAtUs), Sent: sent, InFlight: uint64(len(path)), Delivered: delivered, Lost: lost,
			RttUs: uint32(now.rttUs), MinRttUs: uint32(f.rttUs), Random: rng.Uint32(),
			LatencyMilli: options.LatencyMilli, NoisePercent: options.NoisePercent,
			StartNoisePercent: options.StartNoisePercent, IntervalRtts: options.IntervalRtts,
		})
		seen = append(seen, observation{now.ackAtUs, float64(state.Rate) * 8, state.Phase})
	}
	return seen
}

func meanRate(seen []observation, fromUs float64) float64 {
	sum, n := 0.0, 0
	for _, o := range seen {
		if o.atUs >= fromUs {
			sum += o.rate
			n++
		}
	}
	return sum / float64(n)
}

func TestVivaceConvergesInVirtualTime(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	path := fluid{rateBps: 20e6, rttUs: 50_000, queueBytes: 125_000}
	for name, utility := range map[string]bpf.BenchVivaceCase{"latency": vivaceLatency, "loss": vivaceLoss} {
		t.Run(name, func(t *testing.T) {
			seen := path.drive(t, utility, 20e6)
			require.InEpsilon(t, path.rateBps, meanRate(seen, 10e6), 0.15)
		})
	}
}

func TestVivaceDoublesUntilTheUtilityFalls(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	seen := fluid{rateBps: 100e6, rttUs: 50_000, queueBytes: 600_000}.drive(t, vivaceLatency, 3e6)
	rate, phase := seen[0].rate, seen[0].phase
	require.EqualValues(t, 1, phase)
	doublings, lastUs := 0, seen[0].atUs
	for _, o := range seen {
		if o.phase != 1 {
			require.LessOrEqual(t, o.rate, 1.06*100e6, "back at a rate that the path carries")
			break
		}
		if o.rate != rate {
			require.InEpsilon(t, 2*rate, o.rate, 0.001)
			require.GreaterOrEqual(t, o.atUs-lastUs, 50_000.0, "an interval lasts an RTT")
			rate, lastUs = o.rate, o.atUs
			doublings++
		}
	}
	require.GreaterOrEqual(t, doublings, 4, "4.2, 8.4, 16.8, 33.6, 67 Mb/s and perhaps one too many")
}

func TestVivaceProbesInPairsAroundTheRate(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	seen := fluid{rateBps: 20e6, rttUs: 50_000, queueBytes: 125_000}.drive(t, vivaceLatency, 10e6)
	plans := 0
	for i := 1; i < len(seen); i++ {
		if seen[i].phase != 2 || seen[i-1].phase == 2 {
			continue
		}
		rates, lasted := intervals(seen[i:])
		if len(rates) < 5 {
			continue
		}
		base := rates[4]
		for pair := 0; pair < 4; pair += 2 {
			require.InEpsilon(t, 2*base, rates[pair]+rates[pair+1], 0.001, "one above, one below")
			require.InDelta(t, 0.05*base, math.Abs(rates[pair]-base), 0.001*base)
		}
		for _, us := range lasted[:4] {
			require.GreaterOrEqual(t, us, 99_000.0, "two RTTs")
		}
		plans++
	}
	require.GreaterOrEqual(t, plans, 2)
}

// intervals are the successive rates and how long each was held; two equal neighbours are one above twice as long.
func intervals(seen []observation) (rates, lasted []float64) {
	began := seen[0].atUs
	for i := 1; i < len(seen) && len(rates) < 5; i++ {
		if seen[i].rate != seen[i-1].rate {
			rates, lasted = append(rates, seen[i-1].rate), append(lasted, seen[i].atUs-began)
			began = seen[i].atUs
		}
	}
	return split(rates, lasted)
}

// split undoes the merging of two equal neighbours in the middle of the four.
func split(rates, lasted []float64) ([]float64, []float64) {
	if len(rates) >= 4 && lasted[1] > 1.6*lasted[0] {
		rates = append(rates[:2:2], rates[1:]...)
		lasted = append(append(lasted[:1:1], lasted[1]/2, lasted[1]/2), lasted[2:]...)
	}
	return rates, lasted
}

// Above 11 % of loss the utility falls with the rate at every rate. Intervals of fifty packets judge a loss of 15 %
// roughly, so the way down is a drift.
func TestVivaceBacksOffInVirtualTime(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	lossy := fluid{rateBps: 20e6, rttUs: 50_000, queueBytes: 125_000, lossRatio: 0.15}
	const startBps = 4_194_000
	for _, utility := range []bpf.BenchVivaceCase{vivaceLatency, vivaceLoss} {
		seen := lossy.drive(t, utility, 60e6)
		require.Less(t, meanRate(seen, 50e6), 0.5*startBps)
	}
}

// A receiver's buffer that holds the sender below the link: the rate stays near what it lets through.
func TestVivaceDoesNotOutgrowAWindow(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	buffered := fluid{rateBps: 100e6, rttUs: 50_000, queueBytes: 600_000, window: 100}
	const letsThroughBps = 100 * packetBits / 0.05
	seen := buffered.drive(t, vivaceLatency, 20e6)
	for _, o := range seen {
		require.Less(t, o.rate, 2.5*letsThroughBps)
	}
	require.Greater(t, meanRate(seen, 10e6), 0.7*letsThroughBps)
}

// A send buffer is small at first: the start waits for it.
func TestVivacesStartSurvivesASmallBuffer(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	path := fluid{rateBps: 50e6, rttUs: 50_000, queueBytes: 600_000, window: 8, opensAtUs: 300_000}
	for _, o := range path.drive(t, vivaceLatency, 3e6) {
		if o.phase != 1 {
			require.Greater(t, o.rate, 0.6*path.rateBps, "it ended near the link's rate")
			return
		}
	}
	t.Fatal("the start never ended")
}

// Over a return channel like geo-viasat-unframed's the published filter, two per cent over intervals of an RTT, takes jitter for
// a queue; ours fills the link.
func TestVivaceSeesThroughJitter(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	jittery := fluid{rateBps: 50e6, rttUs: 600_000, queueBytes: 4e6, jitterSdUs: 28_000} // 17 ms of deviation when folded
	published := bpf.BenchVivaceCase{LatencyMilli: 900_000, IntervalRtts: 1}
	reached, stayed := meanRate(jittery.drive(t, vivaceLatency, 90e6), 60e6), meanRate(jittery.drive(t, published, 90e6), 60e6)
	t.Logf("ours %.1f Mb/s, as published %.1f Mb/s", reached/1e6, stayed/1e6)
	require.InEpsilon(t, jittery.rateBps, reached, 0.15)
	require.Less(t, stayed, 0.5*jittery.rateBps)
}

func TestVivaceStartsThroughJitterWhenAsked(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	jittery := fluid{rateBps: 144e6, rttUs: 600_000, queueBytes: 12e6, jitterSdUs: 28_000}
	filtered := vivaceLatency
	filtered.StartNoisePercent = 300
	fastest := func(options bpf.BenchVivaceCase) (bps float64) {
		for _, o := range jittery.drive(t, options, 9e6) {
			bps = max(bps, o.rate)
		}
		return bps
	}
	require.Greater(t, fastest(filtered), 0.6*jittery.rateBps)
	require.Less(t, fastest(vivaceLatency), 0.6*jittery.rateBps)
}

// hsppRounds feeds rounds of twenty acknowledgements, all with the round's RTT in milliseconds, and returns the phase
// after each round and the growth that eight acknowledged segments gave in it.
func hsppRounds(t *testing.T, isPaced bool, rttMs ...int32) (phases []uint32, growth []uint32) {
	t.Helper()
	program := bench(t).Programs["bench_hspp"]
	const acks, segment = 20, 1448
	una, paced := uint32(math.MaxUint32-10*segment), uint32(0) // sequence numbers wrap on the way
	if isPaced {
		paced = 1
	}
	for _, ms := range rttMs {
		var result bpf.BenchHsppCase
		for range acks {
			una += segment
			result = call(t, program, bpf.BenchHsppCase{SndUna: una, SndNxt: una + acks*segment, RttUs: ms * 1000, Acked: 16, IsPaced: paced})
		}
		phases, growth = append(phases, result.Phase), append(growth, result.Growth)
		if result.HasExit != 0 {
			break
		}
	}
	return phases, growth
}

func TestHyStartPlusPlusEndsAfterFiveSlowRounds(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	phases, growth := hsppRounds(t, false, 100, 100, 113, 120, 125, 130, 135, 140, 145)
	require.Equal(t, []uint32{1, 1, 2, 2, 2, 2, 2, 3}, phases, "the rise of an eighth of 100 ms, then five rounds")
	require.EqualValues(t, 8, growth[0], "L is 8 when the socket is not paced")
	require.EqualValues(t, 2, growth[3])
	_, growth = hsppRounds(t, true, 100, 100)
	require.EqualValues(t, 16, growth[0], "and without limit when it is")
}

func TestHyStartPlusPlusResumesAtTheNinthSample(t *testing.T) {
	program := bench(t).Programs["bench_hspp"]
	const segment = 1448
	una := uint32(0)
	ack := func(rttMs int32) uint32 {
		una += segment
		return call(t, program, bpf.BenchHsppCase{SndUna: una, SndNxt: una + 20*segment, RttUs: rttMs * 1000, Acked: 1}).Phase
	}
	for _, rttMs := range []int32{100, 100, 120} {
		for range 21 { // a round, to the first acknowledgement past its end
			ack(rttMs)
		}
	}
	var phases []uint32
	for range 9 {
		phases = append(phases, ack(100))
	}
	require.Equal(t, []uint32{2, 2, 2, 2, 2, 2, 2, 2, 1}, phases)
}

func TestHyStartPlusPlusResumesBelowItsBaseline(t *testing.T) {
	phases, _ := hsppRounds(t, false, 100, 100, 113, 112, 112, 112)
	require.Equal(t, []uint32{1, 1, 2, 1, 1, 1}, phases)
}

func TestHyStartPlusPlusThresholdIsBounded(t *testing.T) {
	for _, example := range []struct{ base, below, at int32 }{{8, 11, 12}, {100, 112, 113}, {600, 615, 616}} {
		phases, _ := hsppRounds(t, false, example.base, example.base, example.below)
		require.EqualValues(t, 1, phases[2], "%d after %d ms", example.below, example.base)
		phases, _ = hsppRounds(t, false, example.base, example.base, example.at)
		require.EqualValues(t, 2, phases[2], "%d after %d ms", example.at, example.base)
	}
}
