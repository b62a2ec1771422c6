package calibration

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"downlink/agents/internal/emulate"
)

// Candidate is a choice of what is fitted, and how far it is from the targets of the fit.
type Candidate struct {
	GrantDelayFrames int
	HoldS            float64
	SdRatio          float64 // of the rate
	WindowBytes      int64
	Distance         float64 // root of the mean squared error, each in half widths of its target's range
}

// flowsOfAFit are the beginnings of flows from which a candidate is judged.
const flowsOfAFit = 2

// Fit draws candidates from wide priors and returns them, the nearest first (approximate Bayesian computation by rejection:
// the nearest few are the posterior). What the link loses is left out: it would make the means of few flows rough.
func Fit(profile emulate.Profile, candidates int, seed uint64) (all []Candidate) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range candidates {
		c := Candidate{
			GrantDelayFrames: 5 + rng.IntN(146), HoldS: 6 * rng.Float64() * float64(rng.IntN(2)),
			SdRatio: 0.001 + 0.199*rng.Float64(), WindowBytes: 24*mb + rng.Int64N(12*mb),
		}
		c.Distance = distance(profile, c)
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Candidate) int { return cmp.Compare(a.Distance, b.Distance) })
	return all
}

// With is the profile with a candidate's values.
func (c Candidate) With(profile emulate.Profile) emulate.Profile {
	frames, varies := *profile.Up.Frames, *profile.Down.Rate.Varies
	frames.GrantDelayFrames, frames.HoldS, varies.SdRatio = c.GrantDelayFrames, c.HoldS, c.SdRatio
	profile.Up.Frames, profile.Down.Rate.Varies = &frames, &varies
	return profile
}

func distance(profile emulate.Profile, c Candidate) float64 {
	candidate := c.With(profile)
	candidate.Down.Loss = emulate.Loss{}
	values := Measure(candidate, Effort{Flows: flowsOfAFit, WindowBytes: c.WindowBytes})
	sum, n := 0.0, 0.0
	for _, target := range profile.Facts.Targets {
		if target.Use != emulate.UseFit {
			continue
		}
		value, hasValue := values[target.Statistic]
		if !hasValue || math.IsNaN(value) {
			return math.Inf(1)
		}
		off := (value - target.Value) / ((target.High - target.Low) / 2)
		sum, n = sum+off*off, n+1
	}
	return math.Sqrt(sum / n)
}
