package calibration

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"downlink/agents/internal/lab/emulate"
)

// Candidate is a choice of what is fitted, and how far it is from the targets of the fit.
type Candidate struct {
	GrantDelayFrames int
	RequestFrames    int
	HoldS            float64
	SdRatio          float64 // of the rate
	WindowBytes      int64
	Distance         float64 // root of the mean squared error, each in half widths of its target's range
	WaitErrorMs      float64 // of acknowledgements over the return channel, when a recorded demand is part of the fit
}

// flowsOfAFit are the beginnings of flows from which a candidate is judged.
const flowsOfAFit = 2

// Fit draws candidates and returns them, the nearest first (approximate Bayesian computation by rejection: the nearest few are
// the posterior). The first half comes from wide priors, the second one from around the nearest of the first. What the link
// loses is left out: it would make the means of few flows rough. demand may be nil; otherwise its waits are one more
// statistic, with the frame's length as half width.
func Fit(profile emulate.Profile, demand *Demand, candidates int, seed uint64) (all []Candidate) {
	rng := rand.New(rand.NewPCG(seed, 0))
	try := func(c Candidate) {
		c.Distance, c.WaitErrorMs = distance(profile, demand, c)
		all = append(all, c)
	}
	for range (candidates + 1) / 2 {
		try(drawn(rng))
	}
	slices.SortFunc(all, nearer)
	nearest := all[:max(1, len(all)/20)]
	for range candidates / 2 {
		try(nearest[rng.IntN(len(nearest))].moved(rng))
	}
	slices.SortFunc(all, nearer)
	return all
}

func nearer(a, b Candidate) int { return cmp.Compare(a.Distance, b.Distance) }

const (
	mostGrantDelay   = 100 // frames
	mostRequest      = 40  // frames
	mostHoldS        = 6.0
	leastWindow      = 24 * mb
	mostWindow       = 36 * mb
	leastSd, mostSd  = 0.001, 0.2
	moveFrames       = 4
	moveHoldS        = 0.5
	moveWindow       = 2 * mb
	moveSd           = 0.03
	halfHasNoHold    = 2
	framesAtTheLeast = 1
)

// drawn is a candidate of the prior: uniform, and no hold in half of all.
func drawn(rng *rand.Rand) Candidate {
	return Candidate{
		GrantDelayFrames: framesAtTheLeast + rng.IntN(mostGrantDelay), RequestFrames: framesAtTheLeast + rng.IntN(mostRequest),
		HoldS:   mostHoldS * rng.Float64() * float64(rng.IntN(halfHasNoHold)),
		SdRatio: leastSd + (mostSd-leastSd)*rng.Float64(), WindowBytes: leastWindow + rng.Int64N(mostWindow-leastWindow),
	}
}

// moved is a candidate near another one, within the prior.
func (c Candidate) moved(rng *rand.Rand) Candidate {
	step := func(most float64) float64 { return most * (2*rng.Float64() - 1) }
	frames := func(of, most int) int {
		return min(max(of+rng.IntN(2*moveFrames+1)-moveFrames, framesAtTheLeast), most)
	}
	c.GrantDelayFrames, c.RequestFrames = frames(c.GrantDelayFrames, mostGrantDelay), frames(c.RequestFrames, mostRequest)
	if c.HoldS > 0 {
		c.HoldS = min(max(c.HoldS+step(moveHoldS), 0), mostHoldS)
	}
	c.SdRatio = min(max(c.SdRatio+step(moveSd), leastSd), mostSd)
	c.WindowBytes = min(max(c.WindowBytes+int64(step(moveWindow)), leastWindow), mostWindow)
	return c
}

// With is the profile with a candidate's values.
func (c Candidate) With(profile emulate.Profile) emulate.Profile {
	frames, varies := *profile.Up.Frames, *profile.Down.Rate.Varies
	frames.GrantDelayFrames, frames.RequestFrames, frames.HoldS, varies.SdRatio = c.GrantDelayFrames, c.RequestFrames, c.HoldS, c.SdRatio
	profile.Up.Frames, profile.Down.Rate.Varies = &frames, &varies
	return profile
}

func distance(profile emulate.Profile, demand *Demand, c Candidate) (all, waitErrorMs float64) {
	candidate := c.With(profile)
	candidate.Down.Loss = emulate.Loss{}
	values := Measure(candidate, Effort{Flows: flowsOfAFit, WindowBytes: c.WindowBytes})
	sum, n := 0.0, 0.0
	if demand != nil {
		waitErrorMs = waitError(demand.Waits(candidate))
		off := waitErrorMs / candidate.Up.Frames.LengthMs
		sum, n = off*off, 1
	}
	for _, target := range profile.Facts.Targets {
		if target.Use != emulate.UseFit {
			continue
		}
		value, hasValue := values[target.Statistic]
		if !hasValue || math.IsNaN(value) {
			return math.Inf(1), waitErrorMs
		}
		off := (value - target.Value) / ((target.High - target.Low) / 2)
		sum, n = sum+off*off, n+1
	}
	return math.Sqrt(sum / n), waitErrorMs
}
