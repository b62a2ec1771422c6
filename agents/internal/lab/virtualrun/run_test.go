package virtualrun

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/lab/emulate"
)

func profile(t *testing.T, name string) emulate.Profile {
	t.Helper()
	found, err := emulate.LoadProfile(name)
	require.NoError(t, err)
	return found
}

func carried(t *testing.T, name string, order Order) Record {
	t.Helper()
	record, err := Carry(profile(t, name), order)
	require.NoError(t, err)
	return record
}

func TestProbesOfAPlainLinkAllTakeItsDelay(t *testing.T) {
	record := carried(t, "geo-generic", Order{Kind: Probe, Seconds: 3, EveryMs: 20, Seed: 1})
	require.Len(t, record.Sender["elapsed_us"], 150)
	require.Equal(t, record.Sender["probe_number"], record.Receiver["probe_number"])
	for _, rtt := range record.Sender["probe_rtt_us"] {
		require.InDelta(t, 600_000, rtt, 300) // and the time that its 92 bytes take
	}
}

func TestWhatIsLostOnTheWayThereIsMissingAtTheReceiver(t *testing.T) {
	lossy := profile(t, "geo-generic")
	lossy.Down.Loss.IndependentRatio, lossy.Up.Loss.IndependentRatio = 0.2, 0.1
	record, err := Carry(lossy, Order{Kind: Probe, Seconds: 100, EveryMs: 20, Seed: 1})
	require.NoError(t, err)
	came, lost := len(record.Receiver["probe_number"]), 0
	for _, rtt := range record.Sender["probe_rtt_us"] {
		if rtt < 0 {
			lost++
		}
	}
	require.InDelta(t, 4000, came, 150)
	require.InDelta(t, 5000-4000*0.9, lost, 150)
}

func TestARepeatIsExactAndAnotherSeedIsAnotherRun(t *testing.T) {
	order := Order{Kind: Cubic, Seconds: 3, WindowBytes: 3e6, Seed: 5}
	first := carried(t, "leo-starlink", order)
	require.Equal(t, first, carried(t, "leo-starlink", order))
	order.Seed++
	require.NotEqual(t, first.Sender, carried(t, "leo-starlink", order).Sender)
}

func TestAFullFlowKeepsTheLinkFullWhateverItLoses(t *testing.T) {
	record := carried(t, "leo-starlink", Order{Kind: Full, Seconds: 20, WindowBytes: 2_400_000, Seed: 2})
	delivered, elapsed := record.Sender["delivered_segments"], record.Sender["elapsed_us"]
	require.True(t, slices.IsSorted(elapsed))
	require.Positive(t, record.Sender["lost_total_segments"][len(elapsed)-1])
	i, _ := slices.BinarySearch(elapsed, 2_000_000)
	bps := float64(delivered[len(delivered)-1]-delivered[i]) * segmentBytes * 8 / float64(elapsed[len(elapsed)-1]-elapsed[i]) * 1e6
	require.Greater(t, bps, 45e6*0.95) // the least rate of a slot
}

func TestAFullFlowOutlivesAnOutageThatTakesAllOfIt(t *testing.T) {
	dark := profile(t, "terrestrial")
	dark.Down.Loss.Outages = &emulate.Outages{MeanLengthMs: 500, MeanSpacingS: 3}
	record, err := Carry(dark, Order{Kind: Full, Seconds: 30, WindowBytes: 250_000, Seed: 1})
	require.NoError(t, err)
	require.Greater(t, record.Sender["elapsed_us"][len(record.Sender["elapsed_us"])-1], int64(28e6))
}

func TestCubicCountsWhatItLost(t *testing.T) {
	record := carried(t, "geo-generic", Order{Kind: Cubic, Seconds: 12, WindowBytes: 30e6, Seed: 1})
	lost := record.Sender["lost_total_segments"]
	require.True(t, slices.IsSorted(lost))
	require.Positive(t, lost[len(lost)-1])
}

func TestOrdersThatCannotBeCarriedOutAreRefused(t *testing.T) {
	plain := profile(t, "terrestrial")
	for text, order := range map[string]Order{
		"a flow is a probe, cubic or full": {Kind: "bbr", Seconds: 1},
		"a flow lasts up to 3600 seconds":  {Kind: Probe, Seconds: 3601, EveryMs: 20},
		"probes are 1 to 10000 ms apart":   {Kind: Probe, Seconds: 1},
		"a window has from 14480 to 1e9":   {Kind: Full, Seconds: 1},
	} {
		_, err := Carry(plain, order)
		require.ErrorContains(t, err, text)
	}
}
