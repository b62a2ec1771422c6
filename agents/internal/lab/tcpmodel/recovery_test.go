package tcpmodel

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/lab/emulate"
)

// losing is the plain link, lossy way down.
func losing(loss emulate.Loss) emulate.Profile {
	profile := plain()
	profile.Down.Loss = loss
	return profile
}

func TestWhatIsLostIsSentAgainUntilAllOfItIsThere(t *testing.T) {
	for ratio := 0.0001; ratio < 0.2; ratio *= 5 {
		flow := run(losing(emulate.Loss{IndependentRatio: ratio}), Options{Bytes: 2e6, WindowBytes: 1e9})
		require.Len(t, flow.ReceivedAt, 1382, "at a loss of %g", ratio)
		require.IsNonDecreasing(t, flow.ReceivedAt)
		require.NotZero(t, flow.Acks)
	}
}

func TestALossCutsTheWindowToSevenTenths(t *testing.T) {
	profile := plain()
	profile.Down.Gap = &emulate.Gap{EveryS: 1000, OffsetS: 5, LengthMs: 1, IsLossy: true}
	flow := run(profile, Options{Bytes: 200e6, WindowBytes: 1e9, HasHyStart: true})
	windowAt := func(at time.Duration) float64 {
		i := slices.IndexFunc(flow.Acks, func(a Ack) bool { return a.At >= at })
		return float64(flow.Acks[i].CwndSegments)
	}
	require.Equal(t, 1, flow.Losses)
	require.InDelta(t, 0.7*windowAt(5*time.Second), windowAt(5500*ms), 0.05*windowAt(5*time.Second))
	require.Equal(t, Train, flow.ExitBy, "of slow start, before the loss")
}

func TestALinkWithALongQueueStaysFullAfterALoss(t *testing.T) {
	profile := plain()
	profile.Down.Queue.LimitBytes = 3_000_000 // more than a loss takes away
	flow := run(profile, Options{Bytes: 200e6, WindowBytes: 1e9})
	require.Equal(t, Loss, flow.ExitBy)
	require.InDelta(t, 100e6*mssBytes/segmentBytes, flow.RateBps(5*time.Second, 15*time.Second), 3e6)
}

// CUBIC's mean window under independent loss (RFC 9438 section 5.1): 1.054 (RTT / p)^(3/4) segments.
func TestUnderIndependentLossTheWindowIsCubics(t *testing.T) {
	const lossRatio = 0.0002
	profile := losing(emulate.Loss{IndependentRatio: lossRatio})
	profile.Down.Delay.BaseMs, profile.Up.Delay.BaseMs = 250, 250
	flow := Run(emulate.New(profile, 1), Options{Bytes: 3e9, WindowBytes: 1e9, Until: 20 * time.Minute})
	rate := flow.RateBps(time.Minute, 20*time.Minute)
	// 1.054 (0.5 / 0.0002)^0.75 = 373 segments each half second
	require.InDelta(t, 373*mssBytes*8/0.5, rate, 0.25*373*mssBytes*8/0.5)
}

func TestAFlowComesBackFromAnOutageThatTakesEverything(t *testing.T) {
	profile := plain()
	profile.Down.Gap = &emulate.Gap{EveryS: 1000, OffsetS: 1, LengthMs: 3000, IsLossy: true}
	flow := run(profile, Options{Bytes: 100e6, WindowBytes: 1e9})
	require.NotEqual(t, emulate.Never, flow.TimeTo(100e6))
	require.Greater(t, flow.TimeTo(100e6), 8*time.Second)
}

func TestTwoFlowsShareTheLink(t *testing.T) {
	profile := losing(emulate.Loss{IndependentRatio: 0.00001})
	profile.Down.Queue.LimitBytes = 1_250_000
	options := Options{Bytes: 2e9, WindowBytes: 1e9, HasHyStart: true, Until: 2 * time.Minute}
	flows := RunTogether(emulate.New(profile, 1), options, options)
	sum := 0.0
	for _, flow := range flows {
		rate := flow.RateBps(20*time.Second, 2*time.Minute)
		require.Greater(t, rate, 20e6)
		sum += rate
	}
	require.Less(t, sum, 100e6)
	require.Greater(t, sum, 85e6)
}

func TestAFlowThatStartsLaterCountsFromItsOwnStart(t *testing.T) {
	early := Options{Bytes: 1e6, WindowBytes: 1e9, Until: time.Minute}
	late := early
	late.StartAt = 10 * time.Second
	flows := RunTogether(emulate.New(plain(), 1), early, late)
	require.Equal(t, flows[0].TimeTo(1e6), flows[1].TimeTo(1e6))
}

func TestBeforeTheFirstLossTheWindowGrowsByATwentiethEachRoundTrip(t *testing.T) {
	c := newControl(Options{HasHyStart: true})
	c.cwnd, c.delayMin = 1000, 500*time.Millisecond
	c.leave(0, Delay)
	c.grow(0, 1000, 1000, 2000)
	require.EqualValues(t, 1050, c.cwnd)
}
