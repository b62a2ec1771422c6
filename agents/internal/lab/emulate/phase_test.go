package emulate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestARunMeetsALinkAnywhereInItsCourse(t *testing.T) {
	profile, err := LoadProfile("leo-starlink")
	require.NoError(t, err)
	period := seconds(profile.Down.Gap.EveryS)
	require.Equal(t, Phase(profile, 7), Phase(profile, 7), "of one seed always the same")
	quarters := [4]int{}
	for seed := range uint64(4000) {
		phase := Phase(profile, seed)
		require.Zero(t, phase%time.Microsecond)
		quarters[phase*4/period]++
	}
	for _, n := range quarters {
		require.InDelta(t, 1000, n, 150, "uniform over the period: %v", quarters)
	}
}

func TestTheLongestPeriodOfEitherWayCounts(t *testing.T) {
	longest := func(down, up Direction) (most time.Duration) {
		for seed := range uint64(1000) {
			most = max(most, Phase(Profile{Down: down, Up: up}, seed))
		}
		return most
	}
	plain := Direction{Rate: Rate{ConstantBps: 1e6}}
	require.Zero(t, longest(plain, plain))
	for period, d := range map[time.Duration]Direction{
		40 * ms:          {Frames: &Frames{LengthMs: 40}},
		2 * time.Second:  {Gap: &Gap{EveryS: 2}},
		3 * time.Second:  {Rate: Rate{Steps: &RateSteps{PeriodS: 3}}},
		4 * time.Second:  {Rate: Rate{Trace: &RateTrace{RepeatS: 4}}},
		5 * time.Second:  {Delay: Delay{Variations: []Variation{{HoldMs: 20}, {HoldMs: 5000}}}},
		6 * time.Second:  {recorded: &Trace{Repeat: 6 * time.Second}},
		15 * time.Second: {Gap: &Gap{EveryS: 15}, Frames: &Frames{LengthMs: 40}},
	} {
		for _, most := range []time.Duration{longest(plain, d), longest(d, plain)} {
			require.Less(t, most, period)
			require.Greater(t, most, period*98/100)
		}
	}
}

func TestLooksAddUpGapsAndOutagesThatNobodyMet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		everyMs := rapid.IntRange(20, 400).Draw(t, "every")
		gap := Gap{
			EveryS: float64(everyMs) / 1000, OffsetS: float64(rapid.IntRange(0, 900).Draw(t, "offset")) / 1000,
			LengthMs: float64(rapid.IntRange(1, everyMs-1).Draw(t, "length")), IsLossy: rapid.Bool().Draw(t, "lossy"),
		}
		if rapid.Bool().Draw(t, "each gap has its own length") {
			gap.Lengths, gap.LengthMs = []QuantilesMs{{0, 1}, {1, gap.LengthMs}}, 0
		}
		d := Direction{Rate: Rate{ConstantBps: 1e9}, Queue: Queue{LimitBytes: 1e6}, Gap: &gap,
			Loss: Loss{Outages: &Outages{MeanLengthMs: 5, MeanSpacingS: 0.05}}}
		line := d.line(seeds{rapid.Uint64().Draw(t, "seed"), 0})
		gaps, outages := time.Duration(0), time.Duration(0)
		fine := 50 * time.Microsecond
		for at := time.Duration(0); at < time.Second; at += fine {
			look, _ := line.Look(at, nil)
			require.InDelta(t, float64(gaps), float64(look.GapTime), float64(fine)*(2+at.Seconds()/gap.EveryS), "at %v: each gap may err by a step",
				at)
			require.InDelta(t, float64(outages), float64(look.OutageTime), float64(40*fine), "at %v: each outage may err by a step", at)
			if look.IsGap {
				gaps += fine
			}
			if look.IsOutage {
				outages += fine
			}
		}
	})
}
