package controls

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"downlink/agents/internal/flow/acks"
	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/testing/hosttest"

	"github.com/stretchr/testify/require"
)

const (
	linkBps          = 20e6
	deepQueue        = 4_000_000 // no loss before the exit
	noExit           = -1
	hystartParameter = "/sys/module/tcp_cubic/parameters/hystart"
)

func TestHyStartPlusPlusChangesPhaseWhereItsReplayDoes(t *testing.T) {
	p := newPath(t, linkBps, 100*time.Millisecond, deepQueue, nil)
	records := p.run(t, load(t, "dl_cubic_hspp", nil), "dl_cubic_hspp", 4*time.Second)
	// A restless host may resume slow start again and again, until a loss ends it: then what came before is judged.
	exit := exitOf(records)
	if exit == noExit || records[exit].LostTotalSegments > 0 {
		records = beforeLoss(records)
		exit = len(records) - 1
	} else {
		require.Equal(t, records[exit].CwndSegments, records[exit].SsthreshSegments)
	}
	phases := replayHSPP(records[:exit+1])
	for i := range phases {
		require.EqualValues(t, phases[i], records[i].DetectorState, "record %d", i)
	}
	require.Contains(t, phases, 2, "there was a conservative slow start")
	requireSlowerGrowthInCSS(t, records[:exit])
}

func beforeLoss(records []acks.Ack) []acks.Ack {
	for i := range records {
		if records[i].CaState != 0 || records[i].SsthreshSegments < 0x7fffffff {
			return records[:i]
		}
	}
	return records
}

// In conservative slow start a quarter of the acknowledged segments grow the window. L is 8: the socket is not paced.
func requireSlowerGrowthInCSS(t *testing.T, records []acks.Ack) {
	t.Helper()
	grown := map[uint8]uint32{}
	acked := map[uint8]uint32{}
	for i := 1; i < len(records); i++ {
		if records[i].DetectorState == records[i-1].DetectorState {
			grown[records[i].DetectorState] += records[i].CwndSegments - records[i-1].CwndSegments
			acked[records[i].DetectorState] += min(records[i].DeliveredSegments-records[i-1].DeliveredSegments, 8)
		}
	}
	require.InDelta(t, 0.25, float64(grown[2])/float64(acked[2]), 0.03)
	require.Greater(t, float64(grown[1])/float64(acked[1]), 0.8)
}

func TestSearchExitsAtTheAcknowledgementOfItsReplay(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	for _, version := range []string{"1.0", "3.1", "4.0"} {
		t.Run(version, func(t *testing.T) {
			p := newPath(t, linkBps, 100*time.Millisecond, deepQueue, nil)
			records := p.run(t, load(t, "dl_cubic_search", map[string]any{"version": version}), "dl_cubic_search", 3*time.Second)
			exit := exitOf(records)
			require.NotEqual(t, noExit, exit, "slow start never ended")
			require.Zero(t, records[exit].LostTotalSegments, "the exit came before any loss")
			require.Equal(t, replaySearch(records, version), exit)
			require.Equal(t, records[exit].CwndSegments, records[exit].SsthreshSegments)
			require.Greater(t, deliveredBps(records, 2, 3), 0.8*linkBps, "the exit did not come too early")
		})
	}
}

func TestMeanAndDeviationEndSlowStartWhereTheirReplayDoes(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	p := newPath(t, linkBps, 100*time.Millisecond, deepQueue, nil)
	records := p.run(t, load(t, "dl_cubic_meansd", map[string]any{"k_tenths": 15}), "dl_cubic_meansd", 2*time.Second)
	thresholds, exit := replayMeanSD(records, 1.5)
	require.NotEqual(t, noExit, exit)
	require.Equal(t, exit, exitOf(records))
	require.Zero(t, records[exit].LostTotalSegments, "the exit came before any loss")
	require.Equal(t, records[exit].CwndSegments, records[exit].SsthreshSegments)
	for i := range exit {
		require.InDelta(t, thresholds[i], records[i].DetectorValue, 3, "record %d: whole microseconds", i)
	}
}

func TestBestSetsTheThresholdOfItsReplay(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	framed := func(profile *emulate.Profile) { profile.Up.Gap = &emulate.Gap{EveryS: 0.04, LengthMs: 39} }
	for name, c := range map[string]struct {
		options bestOptions
		change  func(*emulate.Profile)
	}{
		"each acknowledgement":                  {bestOptions{0, 4, 7}, nil},
		"merged 5 ms":                           {bestOptions{5_000, 4, 7}, nil},
		"merged 20 ms, framed, in later rounds": {bestOptions{20_000, 7, 20}, framed},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPath(t, linkBps, 100*time.Millisecond, deepQueue, c.change)
			options := map[string]any{"merge_us": c.options.mergeUs, "first_round": c.options.firstRound, "last_round": c.options.lastRound}
			records := p.run(t, load(t, "dl_cubic_best", options), "dl_cubic_best", 2*time.Second)
			exit := exitOf(records)
			require.NotEqual(t, noExit, exit)
			decided, segments := replayBest(records, c.options)
			require.Equal(t, decided, exit)
			require.Equal(t, segments, records[exit].SsthreshSegments)
			if segments > records[exit].CwndSegments {
				require.Greater(t, records[len(records)-1].CwndSegments, records[exit].CwndSegments, "slow start goes on up to it")
			}
		})
	}
}

func TestHyblaGrowsByItsRTT(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	for _, rtt := range []time.Duration{25, 40, 100, 600} {
		rtt *= time.Millisecond
		t.Run(rtt.String(), func(t *testing.T) {
			p := newPath(t, 200e6, rtt, 60_000_000, nil)
			loaded := load(t, "dl_hybla", nil)
			sender, receiver := p.connect(t, "dl_hybla")
			info := tcpInfo(t, sender)
			require.GreaterOrEqual(t, int64(info.Rtt), rtt.Microseconds(), "the path has at least the RTT that is tested")
			require.EqualValues(t, max(info.Rtt/25_000, 1), info.Snd_cwnd, "initial window is rho")
			records, _ := record(t, loaded, sender, func() { sendFor(sender, receiver, 4*rtt+200*time.Millisecond) })
			requireHyblaSlowStart(t, records, info.Rtt)
			if rtt == 600*time.Millisecond {
				require.EqualValues(t, 65535, records[len(records)-1].CwndSegments, "clamp")
			}
		})
	}
}

// A record shows the window before its acknowledgement grew it, and the rho of the acknowledgement before: the next
// one tells by how much, and with which rho.
func requireHyblaSlowStart(t *testing.T, records []acks.Ack, handshakeUs uint32) {
	t.Helper()
	grown := 0
	shortest := handshakeUs // rho follows the smallest smoothed RTT, the handshake's included
	for i := 1; i < len(records) && records[i-1].CwndSegments < 10_000 && records[i].LostTotalSegments == 0; i++ {
		shortest = min(shortest, records[i-1].SrttUs)
		require.InDelta(t, max(float64(shortest)*8/25_000, 8), records[i].DetectorValue, 1, "rho in eighths, record %d", i)
		step := records[i].CwndSegments - records[i-1].CwndSegments
		if step == 0 {
			continue // the window was not what held the sender back
		}
		due := math.Pow(2, min(math.Floor(float64(records[i].DetectorValue)/8), 16)+float64(records[i].DetectorValue%8)/8) - 1
		due = min(due, float64(65535-records[i-1].CwndSegments))
		require.InDelta(t, due, step, 1+due/100, "record %d: 128ths of a segment are carried over", i)
		grown++
	}
	require.Positive(t, grown)
}

func TestHyblaIsRenoAfterALossAtTheReferenceRTT(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	p := newPath(t, linkBps, 25*time.Millisecond, 100_000, nil)
	records := p.run(t, load(t, "dl_hybla", nil), "dl_hybla", 3*time.Second)
	first, last := longestAvoidance(records)
	require.Greater(t, last-first, 100, "a stretch of congestion avoidance")
	// rho^2/cwnd per acknowledgement, in whole 128ths as the kernel's module counts: at rho 1 that is Reno's 1/cwnd.
	var due float64
	for _, ack := range records[first:last] {
		require.InDelta(t, 8, ack.DetectorValue, 1, "rho is 1 at the reference RTT")
		due += float64(2*ack.DetectorValue*ack.DetectorValue/ack.CwndSegments) / 128
	}
	require.InDelta(t, due, float64(records[last].CwndSegments-records[first].CwndSegments), 1.5+due/10)
}

// In a window of more than 128 segments rho^2/cwnd is less than a 128th: then a window's worth of acknowledgements adds
// one segment.
func TestHyblaIsRenoInALargeWindow(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	p := newPath(t, 100e6, 25*time.Millisecond, 600_000, nil)
	records := p.run(t, load(t, "dl_hybla", nil), "dl_hybla", 4*time.Second)
	first, last := longestAvoidance(records)
	require.Greater(t, last-first, 1000, "a stretch of congestion avoidance")
	var due float64
	for _, ack := range records[first:last] {
		require.Greater(t, ack.CwndSegments, uint32(200))
		due += 1 / float64(ack.CwndSegments)
	}
	require.InDelta(t, due, float64(records[last].CwndSegments-records[first].CwndSegments), 1.5+due/10)
}

// longestAvoidance is the longest stretch of records in congestion avoidance without trouble.
func longestAvoidance(records []acks.Ack) (first, last int) {
	start := 0
	for i := range records {
		if records[i].CaState != 0 || records[i].CwndSegments < records[i].SsthreshSegments {
			start = i + 1
		} else if i-start > last-first {
			first, last = start, i
		}
	}
	return first, last
}

// setHyStart switches the kernel's HyStart for the seconds of one flow, and puts it back.
func setHyStart(t *testing.T, value string) {
	t.Helper()
	hosttest.NeedRoot(t)
	before, err := os.ReadFile(hystartParameter)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(hystartParameter, []byte(value), 0))
	t.Cleanup(func() {
		require.NoError(t, os.WriteFile(hystartParameter, []byte(strings.TrimSpace(string(before))), 0))
	})
}

type course struct{ capacityS, peakSegments, afterLossSegments, steadyBps float64 }

func courseOf(t *testing.T, records []acks.Ack) course {
	t.Helper()
	exit := exitOf(records)
	require.NotEqual(t, noExit, exit, "a loss ends slow start")
	require.Positive(t, records[exit].LostTotalSegments+records[exit].LostSegments)
	c := course{steadyBps: deliveredBps(records, 2, 3), peakSegments: float64(records[exit-1].CwndSegments),
		afterLossSegments: float64(records[exit].SsthreshSegments)}
	for c.capacityS = 0.1; c.capacityS < 3 && deliveredBps(records, c.capacityS, c.capacityS+0.2) < 0.9*linkBps; {
		c.capacityS += 0.05
	}
	return c
}

// A busy host that stands still for some tenths of a second moves the course of whichever flow it hits, so that a pair
// that disagrees is measured again.
func TestNohsIsStockCubicWithHyStartOff(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	probe, ours := openProbe(t), load(t, "dl_cubic_nohs", nil)
	setHyStart(t, "0")
	var stock, nohs course
	for range 5 {
		stock, nohs = shortCourse(t, probe, "cubic"), shortCourse(t, ours, "dl_cubic_nohs")
		t.Logf("stock %+v, nohs %+v", stock, nohs)
		if math.Abs(stock.capacityS-nohs.capacityS) < 0.15 && math.Abs(stock.peakSegments/nohs.peakSegments-1) < 0.1 &&
			math.Abs(stock.steadyBps/nohs.steadyBps-1) < 0.1 {
			break
		}
	}
	require.InDelta(t, stock.capacityS, nohs.capacityS, 0.15)
	require.InEpsilon(t, stock.peakSegments, nohs.peakSegments, 0.1)
	require.InEpsilon(t, stock.afterLossSegments/stock.peakSegments, nohs.afterLossSegments/nohs.peakSegments, 0.02)
	require.InEpsilon(t, 717.0/1024, nohs.afterLossSegments/nohs.peakSegments, 0.01, "Cubic's beta")
	require.InEpsilon(t, stock.steadyBps, nohs.steadyBps, 0.1)
}

func shortCourse(t *testing.T, source acks.Source, control string) (c course) {
	t.Helper()
	t.Run(control, func(t *testing.T) {
		p := newPath(t, linkBps, 100*time.Millisecond, 500_000, nil)
		c = courseOf(t, p.run(t, source, control, 3*time.Second))
	})
	return c
}

// The HyStart of the kernel takes the growing queue for its signal; the socket beside it without HyStart does not.
func TestTwoHyStartSettingsRunOnOneKernel(t *testing.T) {
	probe := openProbe(t)
	ours := load(t, "dl_cubic_nohs", nil)
	p := newPath(t, linkBps, 100*time.Millisecond, 1_000_000, nil)
	var withHyStart []acks.Ack
	t.Run("on", func(t *testing.T) {
		setHyStart(t, "1")
		withHyStart = p.run(t, probe, "cubic", 2*time.Second)
	})
	without := p.run(t, ours, "dl_cubic_nohs", 2*time.Second)
	require.Zero(t, withHyStart[exitOf(withHyStart)].LostTotalSegments, "HyStart left before any loss")
	require.Positive(t, without[exitOf(without)].LostTotalSegments, "only a loss ended slow start")
}

func TestTheProbeSeesTheSameFlowAsTheControl(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	probe := openProbe(t)
	ours := load(t, "dl_cubic_nohs", nil)
	p := newPath(t, linkBps, 50*time.Millisecond, deepQueue, nil)
	sender, receiver := p.connect(t, "dl_cubic_nohs")
	var seen []acks.Ack
	own, _ := record(t, ours, sender, func() {
		seen, _ = record(t, probe, sender, func() { sendFor(sender, receiver, time.Second) })
	})
	byAcked := map[uint64]acks.Ack{}
	for _, ack := range own {
		byAcked[ack.AckedBytes] = ack
	}
	same, compared := 0, 0
	for _, ack := range seen {
		if mate, ok := byAcked[ack.AckedBytes]; ok && ack.AckRttUs >= 0 {
			compared++
			if met(ack) == met(mate) && math.Abs(float64(mate.TimeNs)-float64(ack.TimeNs)) < 1e6 {
				same++
			}
		}
	}
	require.Greater(t, compared, 500)
	require.Greater(t, float64(same)/float64(compared), 0.98)
}

// met is what detectors go by: the acknowledgement's sample, and the windows it met.
func met(ack acks.Ack) [4]uint32 {
	return [4]uint32{uint32(ack.AckRttUs), ack.CwndSegments, ack.SndNxt, ack.DeliveredSegments}
}

func vivaceRun(t *testing.T, options map[string]any, queueBytes int, lasts time.Duration, change func(*emulate.Profile)) []acks.Ack {
	t.Helper()
	p := newPath(t, linkBps, 50*time.Millisecond, queueBytes, change)
	return p.run(t, load(t, "dl_vivace", options), "dl_vivace", lasts)
}

func meanRTT(records []acks.Ack, fromS float64) time.Duration {
	var sum, n int64
	for i := range records {
		if records[i].AckRttUs > 0 && float64(records[i].TimeNs-records[0].TimeNs)/1e9 >= fromS {
			sum += int64(records[i].AckRttUs)
			n++
		}
	}
	return time.Duration(sum/max(n, 1)) * time.Microsecond
}

// With the loss utility: a busy test host moves the RTT by more than the latency utility tolerates over 50 ms. Virtual
// time judges that one.
func TestVivaceFillsACleanLink(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	records := vivaceRun(t, map[string]any{"utility": "loss"}, 500_000, 6*time.Second, nil)
	require.Greater(t, deliveredBps(records, 3, 6), 0.75*linkBps)
}

func TestVivaceLatencyKeepsTheQueueShorterThanVivaceLoss(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	hosttest.NeedRoot(t)
	var latency, loss []acks.Ack
	t.Run("latency", func(t *testing.T) {
		latency = vivaceRun(t, map[string]any{"utility": "latency"}, 1_000_000, 6*time.Second, nil)
	})
	require.Greater(t, deliveredBps(latency, 3, 6), 0.05*linkBps)
	require.Less(t, meanRTT(latency, 3), 120*time.Millisecond)
	// A busy machine's noise may end the start early, and six seconds are too few to fill the queue from there.
	var full time.Duration
	for attempt := 0; attempt < 3 && full <= meanRTT(latency, 3)*3/2; attempt++ {
		t.Run("loss", func(t *testing.T) {
			loss = vivaceRun(t, map[string]any{"utility": "loss"}, 1_000_000, 6*time.Second, nil)
		})
		full = meanRTT(loss, 3)
		t.Logf("latency %v, loss %v", meanRTT(latency, 3), full)
	}
	require.Greater(t, full, meanRTT(latency, 3)*3/2)
}

// Above 11 % of loss the slope of the utility is negative at every rate: it stays about its first 4.2 Mb/s. An interval of
// 50 packets meets 0.30 of loss, give or take 0.065, so that chance doubles the rate once in 20 starts and twice in 300:
// one more try. With 0.15 of loss chance did so in one start of 20.
func TestVivaceBacksOffUnderHeavyLoss(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	hosttest.NeedRoot(t)
	reached := float64(linkBps)
	for attempt := 0; attempt < 2 && reached >= 0.5*linkBps; attempt++ {
		t.Run("", func(t *testing.T) {
			records := vivaceRun(t, map[string]any{"utility": "loss"}, 500_000, 4*time.Second, func(p *emulate.Profile) {
				p.Down.Loss.IndependentRatio = 0.3
			})
			reached = deliveredBps(records, 2, 4)
		})
		t.Logf("%.1f Mb/s", reached/1e6)
	}
	require.Less(t, reached, 0.5*linkBps)
}
