package emulate

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sound is a profile without anything special.
func sound() Profile {
	way := Direction{Rate: Rate{ConstantBps: 1e6}, Queue: Queue{LimitBytes: 1500}}
	return Profile{Name: "x", Orbit: "GEO", Down: way, Up: way, Facts: Facts{NominalRateBps: 1, BaseRttMs: 1}}
}

func normal(sd, low, high float64) func(*Profile) {
	return func(p *Profile) { p.Down.Delay.Variations = []Variation{{Normal: &NormalMs{sd, low, high}}} }
}

func uniformOf(low, high float64) func(*Profile) {
	return func(p *Profile) { p.Down.Delay.Variations = []Variation{{Uniform: &UniformMs{low, high}}} }
}

func held(ms float64) func(*Profile) {
	return func(p *Profile) { p.Down.Delay.Variations = []Variation{{HoldMs: ms, Uniform: &UniformMs{0, 1}}} }
}

func varies(v Varies) func(*Profile) { return func(p *Profile) { p.Down.Rate.Varies = &v } }

func framed(f Frames) func(*Profile) { return func(p *Profile) { p.Down.Frames = &f } }

func drawnFrom(points ...QuantilesMs) func(*Profile) {
	return func(p *Profile) { p.Down.Delay.Variations = []Variation{{Quantiles: points}} }
}

func recorded(repeatS float64, points ...RatePoint) func(*Profile) {
	return func(p *Profile) { p.Down.Rate = Rate{Trace: &RateTrace{repeatS, points}} }
}

func steps(periodS, low, high float64) func(*Profile) {
	return func(p *Profile) { p.Down.Rate = Rate{Steps: &RateSteps{PeriodS: periodS, LowBps: low, HighBps: high}} }
}

func gap(everyS, offsetS, lengthMs float64) func(*Profile) {
	return func(p *Profile) { p.Down.Gap = &Gap{EveryS: everyS, OffsetS: offsetS, LengthMs: lengthMs} }
}

func randomDrop(above int, ratio float64) func(*Profile) {
	return func(p *Profile) { p.Down.Queue.RandomDrop = &RandomDrop{above, ratio} }
}

func outagesOf(lengthMs, spacingS float64) func(*Profile) {
	return func(p *Profile) { p.Down.Loss.Outages = &Outages{lengthMs, spacingS} }
}

func rateOf(bps float64) func(*Profile) { return func(p *Profile) { p.Down.Rate.ConstantBps = bps } }

func targetOf(t Target) func(*Profile) { return func(p *Profile) { p.Facts.Targets = []Target{t} } }

func lengths(points ...QuantilesMs) func(*Profile) {
	return func(p *Profile) { p.Down.Gap = &Gap{EveryS: 1, Lengths: points} }
}

func offsetBy(holdMs, offsetMs float64) func(*Profile) {
	return func(p *Profile) {
		p.Down.Delay.Variations = []Variation{{HoldMs: holdMs, OffsetMs: offsetMs, Uniform: &UniformMs{0, 1}}}
	}
}

func TestEveryBoundOfAProfileIsTakenAndWhatLiesBeyondIsRefused(t *testing.T) {
	const key = "down.delay.variations[0]"
	for _, c := range []struct {
		refused string // the key that is named; empty: taken
		change  func(*Profile)
	}{
		{"", func(p *Profile) { p.Name = strings.Repeat("a", 40) }},
		{"name", func(p *Profile) { p.Name = strings.Repeat("a", 41) }},
		{"name", func(p *Profile) { p.Name = "" }},
		{"name", func(p *Profile) { p.Name = "-a" }},
		{"", func(p *Profile) { p.Orbit = "MEO" }},
		{"", func(p *Profile) { p.Orbit = "LEO" }},
		{"", func(p *Profile) { p.Orbit = "terrestrial" }},
		{"", targetOf(Target{"x", 1, 1, 1, UseFit, "a paper"})},
		{"facts.targets[0].statistic", targetOf(Target{"", 1, 1, 1, UseFit, "a paper"})},
		{"facts.targets[0].low to high", targetOf(Target{"x", 1, 1.1, 2, UseFit, "a paper"})},
		{"facts.targets[0].low to high", targetOf(Target{"x", 1, 0, 0.9, UseFit, "a paper"})},
		{"facts.targets[0].use", targetOf(Target{"x", 1, 1, 1, "fitted", "a paper"})},
		{"facts.targets[0].source", targetOf(Target{"x", 1, 1, 1, UseTest, ""})},
		{"", lengths(QuantilesMs{0, 0}, QuantilesMs{1, 999})},
		{"down.gap.length_ms", lengths(QuantilesMs{0, 0}, QuantilesMs{1, 1000})},
		{"down.gap.lengths", lengths(QuantilesMs{0, -1}, QuantilesMs{1, 5})},
		{"down.gap.lengths", lengths(QuantilesMs{0, 1}, QuantilesMs{0.9, 5})},
		{"down.gap.length_ms", func(p *Profile) {
			p.Down.Gap = &Gap{EveryS: 1, LengthMs: 1, Lengths: []QuantilesMs{{0, 1}, {1, 2}}}
		}},
		{"", offsetBy(40, 40)},
		{"down.delay.variations[0].offset_ms", offsetBy(40, 40.1)},
		{"down.delay.variations[0].offset_ms", offsetBy(40, -1)},
		{"facts.nominal_rate_bps", func(p *Profile) { p.Facts.NominalRateBps = 0 }},
		{"", func(p *Profile) { p.Facts.NominalRateBps = 0.5 }},
		{"facts.base_rtt_ms", func(p *Profile) { p.Facts.BaseRttMs = 0 }},
		{"", func(p *Profile) { p.Facts.BaseRttMs = 0.5 }},
		{"", rateOf(1e3)},
		{"down.rate.constant_bps", rateOf(999)},
		{"", rateOf(1e11)},
		{"down.rate.constant_bps", rateOf(1e11 + 1)},
		{"down.rate", func(p *Profile) { p.Down.Rate.Steps = &RateSteps{PeriodS: 1, LowBps: 1e3, HighBps: 1e3} }},
		{"", steps(0.5, 1e3, 1e3)},
		{"", steps(0.001, 1e3, 1e3)},
		{"", steps(1e6, 1e3, 1e3)},
		{"down.rate.steps.period_s", steps(0.0009, 1e3, 1e3)},
		{"down.rate.steps.period_s", steps(1e6+1e-3, 1e3, 1e3)},
		{"down.rate.steps.low_bps", steps(1, 999, 1e3)},
		{"down.rate.steps.high_bps", steps(1, 1001, 1000)},
		{"down.rate.steps.high_bps", steps(1, 1000, 1e11+1)},
		{"", func(p *Profile) {
			p.Down.Rate = Rate{Steps: &RateSteps{PeriodS: 1, OffsetS: 0.9, LowBps: 1e3, HighBps: 1e3}}
		}},
		{"down.rate.steps.offset_s", func(p *Profile) {
			p.Down.Rate = Rate{Steps: &RateSteps{PeriodS: 1, OffsetS: 1, LowBps: 1e3, HighBps: 1e3}}
		}},
		{"down.rate.steps.offset_s", func(p *Profile) {
			p.Down.Rate = Rate{Steps: &RateSteps{PeriodS: 1, OffsetS: -0.1, LowBps: 1e3, HighBps: 1e3}}
		}},
		{"", varies(Varies{1, 0.001, 0.5, 0.01, 1})},
		{"", varies(Varies{1e6, 1e6, 1, 1, 10})},
		{"down.rate.varies.step_ms", varies(Varies{0.9, 1, 0.5, 1, 1})},
		{"down.rate.varies.step_ms", varies(Varies{1e6 + 1, 1, 0.5, 1, 1})},
		{"down.rate.varies.correlation_s", varies(Varies{1, 0.0009, 0.5, 1, 1})},
		{"down.rate.varies.correlation_s", varies(Varies{1, 1e6 + 1, 0.5, 1, 1})},
		{"down.rate.varies.sd_ratio", varies(Varies{1, 1, 0, 1, 1})},
		{"down.rate.varies.sd_ratio", varies(Varies{1, 1, 1.01, 1, 1})},
		{"down.rate.varies.low_ratio", varies(Varies{1, 1, 0.5, 0.009, 1})},
		{"down.rate.varies.low_ratio", varies(Varies{1, 1, 0.5, 1.01, 2})},
		{"down.rate.varies.high_ratio", varies(Varies{1, 1, 0.5, 1, 0.99})},
		{"down.rate.varies.high_ratio", varies(Varies{1, 1, 0.5, 1, 10.1})},
		{"", framed(Frames{1, 1, 1, 1, 1, 0, false})},
		{"", framed(Frames{10e3, 1e6, 1e9, 1e4, 1, 3600, true})},
		{"down.frames.length_ms", framed(Frames{0.9, 1, 1, 1, 1, 0, false})},
		{"down.frames.length_ms", framed(Frames{10_001, 1, 1, 1, 1, 0, false})},
		{"down.frames.base_bytes", framed(Frames{1, 0, 1, 1, 1, 0, false})},
		{"down.frames.base_bytes", framed(Frames{1, 1e6 + 1, 1e9, 1, 1, 0, false})},
		{"down.frames.most_bytes", framed(Frames{1, 2, 1, 1, 1, 0, false})},
		{"down.frames.most_bytes", framed(Frames{1, 2, 1e9 + 1, 1, 1, 0, false})},
		{"down.frames.grant_delay_frames", framed(Frames{1, 1, 1, 0, 1, 0, false})},
		{"down.frames.grant_delay_frames", framed(Frames{1, 1, 1, 1e4 + 1, 1, 0, false})},
		{"", framed(Frames{1, 1, 1, 1, 0, 0, false})},
		{"", framed(Frames{1, 1, 1, 1, 1e4, 0, false})},
		{"down.frames.request_frames", framed(Frames{1, 1, 1, 1, -1, 0, false})},
		{"down.frames.request_frames", framed(Frames{1, 1, 1, 1, 1e4 + 1, 0, false})},
		{"down.frames.hold_s", framed(Frames{1, 1, 1, 1, 1, -0.1, false})},
		{"down.frames.hold_s", framed(Frames{1, 1, 1, 1, 1, 3601, false})},
		{"down.queue.random_drop", func(p *Profile) { framed(Frames{1, 1, 1, 1, 1, 0, false})(p); randomDrop(0, 1)(p) }},
		{"", recorded(0.5, RatePoint{0, 1e3})},
		{"", recorded(0.001, RatePoint{0, 1e3})},
		{"", recorded(1e6, RatePoint{0, 1e3})},
		{"down.rate.trace.repeat_s", recorded(0.0009, RatePoint{0, 1e3})},
		{"down.rate.trace.repeat_s", recorded(1e6+1e-3, RatePoint{0, 1e3})},
		{"down.rate.trace.points", recorded(1)},
		{"down.rate.trace.points", recorded(1, RatePoint{0.1, 1e3})},
		{"down.rate.trace.points[0].bps", recorded(1, RatePoint{0, 999})},
		{"down.rate.trace.points[1].at_s", recorded(1, RatePoint{0, 1e3}, RatePoint{0, 1e3})},
		{"", recorded(1, RatePoint{0, 1e3}, RatePoint{0.25, 1e3}, RatePoint{0.5, 1e3})},
		{"down.rate.trace.points[2].at_s", recorded(1, RatePoint{0, 1e3}, RatePoint{0.5, 1e3}, RatePoint{0.25, 1e3})},
		{"down.rate.trace.points[1].at_s", recorded(1, RatePoint{0, 1e3}, RatePoint{1, 1e3})},
		{"down.queue.limit_bytes", func(p *Profile) { p.Down.Queue.LimitBytes = 1499 }},
		{"", randomDrop(0, 1)},
		{"", randomDrop(1499, 0.5)},
		{"down.queue.random_drop.above_bytes", randomDrop(-1, 1)},
		{"down.queue.random_drop.above_bytes", randomDrop(1500, 1)},
		{"down.queue.random_drop.ratio", randomDrop(0, 0)},
		{"down.queue.random_drop.ratio", randomDrop(0, 1.01)},
		{"", gap(0.5, 0, 499)},
		{"", gap(1, 0.5, 0.5)},
		{"", gap(0.001, 0, 0.5)},
		{"", gap(1e6, 1e6, 1)},
		{"down.gap.every_s", gap(0.0009, 0, 0.5)},
		{"down.gap.every_s", gap(1e6+1e-3, 0, 1)},
		{"down.gap.offset_s", gap(1, -0.1, 1)},
		{"down.gap.offset_s", gap(1, 1e6+1e-3, 1)},
		{"down.gap.length_ms", gap(1, 0, 0)},
		{"down.gap.length_ms", gap(1, 0, 1000)},
		{"", func(p *Profile) { p.Down.Loss.IndependentRatio = 0.99 }},
		{"down.loss.independent_ratio", func(p *Profile) { p.Down.Loss.IndependentRatio = 1 }},
		{"down.loss.independent_ratio", func(p *Profile) { p.Down.Loss.IndependentRatio = -0.01 }},
		{"", outagesOf(0.1, 0.01)},
		{"", outagesOf(1e9, 1e6)},
		{"down.loss.outages.mean_length_ms", outagesOf(0.09, 0.01)},
		{"down.loss.outages.mean_length_ms", outagesOf(1e9+1, 1)},
		{"down.loss.outages.mean_spacing_s", outagesOf(1, 1e6+1e-3)},
		{"down.loss.outages.mean_spacing_s", outagesOf(1, math.Inf(1))},
		{"down.loss.outages.mean_spacing_s", outagesOf(0.1, 0.009)},
		{"", func(p *Profile) { p.Down.Delay.BaseMs = 60_000 }},
		{"down.delay.base_ms", func(p *Profile) { p.Down.Delay.BaseMs = 60_001 }},
		{"down.delay.base_ms", func(p *Profile) { p.Down.Delay.BaseMs = -0.1 }},
		{key, func(p *Profile) { p.Down.Delay.Variations = []Variation{{}} }},
		{key + ".hold_ms", held(-1)},
		{"", held(1e9)},
		{key + ".hold_ms", held(1e9 + 1)},
		{key, func(p *Profile) {
			p.Down.Delay.Variations = []Variation{{Normal: &NormalMs{1, -1, 1}, Uniform: &UniformMs{0, 1}}}
		}},
		{key, func(p *Profile) {
			p.Down.Delay.Variations = []Variation{{Normal: &NormalMs{1, -1, 1}, Quantiles: []QuantilesMs{{0, 0}, {1, 1}}}}
		}},
		{"", normal(0.5, -0.25, 0.25)},
		{"", normal(1, 0, 1)},
		{"", normal(1, -1, 0)},
		{"", normal(60e3, -60e3, 60e3)},
		{key + ".normal.low_ms", normal(1, -60_001, 1)},
		{key + ".normal.high_ms", normal(1, -1, 60_001)},
		{key + ".normal.sd_ms", normal(0, -1, 1)},
		{key + ".normal.low_ms must be below", normal(1, 1, 0)},
		{key + ".normal.low_ms must be below", normal(1, 0, 0)},
		{key + ".normal.low_ms to high_ms", normal(1, -0.4, 0.5)},
		{key + ".normal.low_ms to high_ms", normal(1, 0.1, 2)},
		{key + ".normal.low_ms to high_ms", normal(1, -2, -0.1)},
		{"", uniformOf(1, 1.5)},
		{key + ".uniform.low_ms", uniformOf(1, 1)},
		{"", uniformOf(-60e3, 60e3)},
		{key + ".uniform.low_ms", uniformOf(-60_001, 1)},
		{key + ".uniform.high_ms", uniformOf(0, 60_001)},
		{"", drawnFrom(QuantilesMs{0, -60e3}, QuantilesMs{1, 60e3})},
		{key + ".quantiles[0].delay_ms", drawnFrom(QuantilesMs{0, -60_001}, QuantilesMs{1, 6})},
		{key + ".quantiles[1].delay_ms", drawnFrom(QuantilesMs{0, 5}, QuantilesMs{1, 60_001})},
		{"", drawnFrom(QuantilesMs{0, 5}, QuantilesMs{0.5, 5}, QuantilesMs{1, 6})},
		{key + ".quantiles must be", drawnFrom(QuantilesMs{0, 5})},
		{key + ".quantiles must be", drawnFrom(QuantilesMs{0.1, 5}, QuantilesMs{1, 6})},
		{key + ".quantiles must be", drawnFrom(QuantilesMs{0, 5}, QuantilesMs{0.9, 6})},
		{key + ".quantiles[1].ratio", drawnFrom(QuantilesMs{0, 5}, QuantilesMs{0, 5}, QuantilesMs{1, 6})},
		{key + ".quantiles[1].delay_ms", drawnFrom(QuantilesMs{0, 5}, QuantilesMs{1, 4.9})},
	} {
		profile := sound()
		c.change(&profile)
		err := profile.validate()
		if c.refused == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.refused)
		}
	}
}

func TestThePeakOfALinkIsTheHighestRateOfEitherWay(t *testing.T) {
	for bps, change := range map[float64]func(*Profile){
		2e6: rateOf(2e6), 4e6: steps(1, 3e6, 4e6), 7e6: recorded(1, RatePoint{0, 5e6}, RatePoint{0.1, 7e6}, RatePoint{0.2, 6e6}),
	} {
		profile := sound()
		change(&profile)
		require.InDelta(t, bps, profile.PeakBps(), 0)
		profile.Down, profile.Up = profile.Up, profile.Down
		require.InDelta(t, bps, profile.PeakBps(), 0)
	}
}

func TestAnEmptyProfileFileSaysSo(t *testing.T) {
	_, err := parseProfile("test.yaml", nil, nil)
	require.ErrorContains(t, err, "the file is empty")
}
