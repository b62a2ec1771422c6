package calibration

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/tcpmodel"
)

func load(t *testing.T, name string) emulate.Profile {
	t.Helper()
	profile, err := emulate.LoadProfile(name)
	require.NoError(t, err)
	return profile
}

// requireInside holds a profile's values against its targets of some keys.
func requireInside(t *testing.T, profile emulate.Profile, values Values, keys ...string) {
	t.Helper()
	rows := map[string]Row{}
	for _, row := range Compare(profile, values) {
		rows[row.Key] = row
	}
	for _, key := range keys {
		row := rows[key]
		require.NotNil(t, row.Target, "%s has no target", key)
		require.True(t, row.IsInside(), "%s is %.4g, outside of %g to %g", key, row.Value, row.Target.Low, row.Target.High)
	}
}

func TestEveryTargetOfAProfileIsAStatistic(t *testing.T) {
	for _, name := range emulate.ProfileNames() {
		require.NoError(t, Check(load(t, name)))
	}
	profile := load(t, "terrestrial")
	profile.Facts.Targets = []emulate.Target{{Statistic: "beauty"}}
	require.ErrorContains(t, Check(profile), `a target for "beauty", which is not a statistic`)
}

func TestTheGeoLinksIdleRttAndReturnChannelAreThePublishedOnes(t *testing.T) {
	profile := load(t, "geo-viasat")
	values := Measure(profile, Effort{Probes: 200_000})
	requireInside(t, profile, values, "idle_rtt_median_ms", "idle_rtt_mean_ms", "idle_rtt_sd_ms", "idle_rtt_p00_5_ms", "idle_rtt_p99_5_ms",
		"idle_loss_percent", "single_loss_percent")
}

// Over the calibrated link flows begin as published. Three seeds, not chosen; what a loss on the way does to the mean of three
// is left out.
func TestFlowsBeginOverTheGeoLinkAsPublished(t *testing.T) {
	profile := load(t, "geo-viasat")
	quiet := profile
	quiet.Down.Loss = emulate.Loss{}
	values := Measure(quiet, Effort{Flows: 3, WindowBytes: 30 * mb})
	requireInside(t, profile, values, "frame_coherence", "acks_a_frame", "initial_spread_ms", "grants_begin_s", "burst_width_ms",
		"off_1mb_s", "off_5mb_s", "off_30mb_s", "on_1mb_s", "on_5mb_s", "on_30mb_s", "by_delay_percent", "by_train_percent")
}

// What was measured with real kernels over the link without frames, HyStart off, in five runs: 4.2, 5.5 and 7.5 s from the
// first byte on.
func TestTheModelIsNearTheKernelOverTheGeoLinkWithoutFrames(t *testing.T) {
	values := Measure(load(t, "geo-viasat-unframed"), Effort{Flows: 5, WindowBytes: 37_500_000})
	for key, measuredS := range map[string]float64{"off_1mb_s": 4.2, "off_5mb_s": 5.5, "off_30mb_s": 7.5} {
		require.InDelta(t, measuredS+0.6, values[key], 0.4, key)
	}
}

func TestTheLeoLinksRateAndStallsAreThoseOfTheRecordedCourse(t *testing.T) {
	profile := load(t, "leo-starlink")
	values := Measure(profile, Effort{Probes: 1000})
	requireInside(t, profile, values, "rate_sd_percent", "slot_rate_sd_percent", "stall_median_ms")
	require.Greater(t, values["slot_rate_most_mbps"], 1.3*values["slot_rate_least_mbps"])
	require.Greater(t, values["stall_spread_ms"], 20.0, "stalls differ")
}

func TestTheLeoLinksHandoversAreAtTheFourSecondsOfAMinute(t *testing.T) {
	line := emulate.New(load(t, "leo-starlink"), 1).Line(emulate.Gateway, emulate.Receiver)
	var seconds []int
	for at := time.Duration(0); at < time.Minute; at += 10 * time.Millisecond {
		if look, _ := line.Look(at, nil); look.IsGap && at%time.Second == 0 {
			seconds = append(seconds, int(at/time.Second))
		}
	}
	require.Equal(t, []int{12, 27, 42, 57}, seconds)
}

// On the terrestrial link HyStart neither slows a flow down nor leaves late, and nothing comes in frames.
func TestNoSatelliteEffectIsSeenOnTheTerrestrialLink(t *testing.T) {
	values := Measure(load(t, "terrestrial"), Effort{Probes: 1000, Flows: 3, WindowBytes: 3 * mb})
	require.InDelta(t, 20, values["idle_rtt_median_ms"], 0.1)
	require.Less(t, values["idle_rtt_sd_ms"], 0.01)
	require.Zero(t, values["idle_loss_percent"])
	require.Less(t, values["initial_spread_ms"], 5.0)
	require.Zero(t, values["rate_sd_percent"])
	for _, object := range objects {
		require.Less(t, values["on_"+object.key], 1.1*values["off_"+object.key], "HyStart slows nothing down")
	}
}

func TestCoherenceIsOneForBurstsInStepAndSmallForOthers(t *testing.T) {
	var inStep, others []burst
	for i := range 200 {
		inStep = append(inStep, burst{from: time.Duration(i) * 40 * time.Millisecond})
		others = append(others, burst{from: time.Duration(i*i) * 239 * time.Microsecond})
	}
	require.InDelta(t, 1, coherenceAt(40*time.Millisecond, inStep), 1e-9)
	require.Less(t, coherenceAt(39*time.Millisecond, inStep), 0.2)
	require.Less(t, coherenceAt(40*time.Millisecond, others), 0.3)
}

func TestAcknowledgementsComeTogetherFromTheFirstLastingGroupOn(t *testing.T) {
	var all []burst
	for i, acks := range []int{1, 2, 1, 1, 1, 1, 2, 1, 3, 3, 4, 2} {
		all = append(all, burst{from: time.Duration(i) * 40 * time.Millisecond, acks: acks})
	}
	require.InDelta(t, 0.24, firstGroup(all), 1e-9)
	require.True(t, firstGroup(all[:6]) != firstGroup(all[:6]), "never")
}

// 8 Mb/s and an RTT of 100 ms: slow start is full at 100 kB in flight, and what is sent beyond that does not arrive in time.
func TestSearchSeesThatMoreIsSentThanArrives(t *testing.T) {
	way := emulate.Direction{Rate: emulate.Rate{ConstantBps: 8e6}, Queue: emulate.Queue{LimitBytes: 2e6}, Delay: emulate.Delay{BaseMs: 50}}
	profile := emulate.Profile{Name: "plain", Down: way, Up: way, Facts: emulate.Facts{NominalRateBps: 8e6, BaseRttMs: 100}}
	flow := tcpmodel.Run(emulate.New(profile, 1), tcpmodel.Options{Bytes: 100 * mb, WindowBytes: 1000 * mb, EndsAtLoss: true,
		Until: time.Minute})
	choke, lasting, exit := searchPoints(flow)
	full := fullAt(profile, flow)
	require.Greater(t, choke, full-100*time.Millisecond)
	require.GreaterOrEqual(t, lasting, choke)
	require.Greater(t, exit, lasting)
	require.Less(t, exit, flow.FirstLossAt)
	require.Less(t, exit, full+time.Second)
}

func TestARecordedFlowIsReadAndDescribed(t *testing.T) {
	table := "now_us,bytes_acked,mss,rtt_us\n0,1308,1308,700000\n40000,2616,1308,740000\n80000,13080,1308,780000\n"
	acks, err := ReadAcks(strings.NewReader(table))
	require.NoError(t, err)
	described := Describe(acks, 1308)
	require.InDelta(t, 80, described.InitialSpreadMs, 1e-9)
	require.InDelta(t, 1, described.Coherence, 1e-9)
	require.Equal(t, []float64{700, 740, 780}, described.RttsMs)
	for _, wrong := range []struct{ text, says string }{
		{"", "header"}, {"now_us,rtt_us\n1,2\n", "no column bytes_acked"}, {"now_us,bytes_acked,rtt_us\n1,x,2\n", "bytes_acked of the trace"},
	} {
		_, err := ReadAcks(strings.NewReader(wrong.text))
		require.ErrorContains(t, err, wrong.says)
	}
}

// When the targets are a profile's own values, no other delay of grants is as near as its own.
func TestAProfileIsNearestToItsOwnStatistics(t *testing.T) {
	profile := load(t, "geo-viasat")
	own := candidateOf(profile)
	quiet := profile
	quiet.Down.Loss = emulate.Loss{}
	values := Measure(quiet, Effort{Flows: flowsOfAFit, WindowBytes: own.WindowBytes})
	for i, target := range profile.Facts.Targets {
		if value, isOne := values[target.Statistic]; isOne && target.Use == emulate.UseFit {
			half := (target.High - target.Low) / 2
			profile.Facts.Targets[i].Value, profile.Facts.Targets[i].Low, profile.Facts.Targets[i].High = value, value-half, value+half
		}
	}
	require.InDelta(t, 0, first(distance(profile, nil, own)), 1e-9)
	for _, frames := range []int{5, 50} {
		other := own
		other.GrantDelayFrames = frames
		require.Greater(t, first(distance(profile, nil, other)), 0.5, "%d frames", frames)
	}
	require.Len(t, Fit(profile, nil, 1, 1), 1)
}

// candidateOf is what a profile has, with windows of 30 MB.
func candidateOf(profile emulate.Profile) Candidate {
	return Candidate{
		GrantDelayFrames: profile.Up.Frames.GrantDelayFrames, RequestFrames: profile.Up.Frames.RequestFrames,
		HoldS: profile.Up.Frames.HoldS, SdRatio: profile.Down.Rate.Varies.SdRatio, WindowBytes: 30 * mb,
	}
}

func first(a, _ float64) float64 { return a }
