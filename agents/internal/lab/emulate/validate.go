package emulate

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
)

var (
	profileName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)
	orbits      = []string{"GEO", "MEO", "LEO", "terrestrial"}
)

const (
	// longestS bounds times so that they fit the arithmetic in nanoseconds, sums of many included.
	longestS = 1e6
	// mostDelayMs bounds what one cause may add to a delay, or take from it.
	mostDelayMs = 60e3
)

// problems collects what is wrong, each with the key that it is about.
type problems struct {
	key  string
	list *[]error
}

func (p problems) under(key string) problems { return problems{p.key + "." + key, p.list} }

func (p problems) require(ok bool, key, must string, got any) {
	if !ok {
		*p.list = append(*p.list, fmt.Errorf("%s.%s must be %s, not %v", p.key, key, must, got))
	}
}

// requirePeriod bounds what is counted in whole periods of the emulator's nanoseconds.
func (p problems) requirePeriod(key string, s float64) {
	p.require(s >= 0.001 && s <= longestS, key, "from 0.001 to 1e6", s)
}

func (p problems) requireDelay(key string, ms float64) {
	p.require(ms >= -mostDelayMs && ms <= mostDelayMs, key, "from -60000 to 60000", ms)
}

func (profile Profile) validate() error {
	var list []error
	if !profileName.MatchString(profile.Name) {
		list = append(list, fmt.Errorf("name must be 1-40 of a-z, 0-9 and -, not %q", profile.Name))
	}
	if !slices.Contains(orbits, profile.Orbit) {
		list = append(list, fmt.Errorf("orbit must be one of %v, not %q", orbits, profile.Orbit))
	}
	if len(profile.Hops) == 0 {
		profile.hops()[0].check(func(key string) problems { return problems{key, &list} })
	}
	for i, hop := range profile.Hops {
		hop.check(func(key string) problems { return problems{fmt.Sprintf("hops[%d].%s", i, key), &list} })
	}
	for i, branch := range profile.Receivers {
		at := problems{fmt.Sprintf("receivers[%d]", i), &list}
		at.require(branch.At >= 0 && branch.At <= 1, "at", "from 0 to 1", branch.At)
		branch.Down.check(at.under("down"))
		branch.Up.check(at.under("up"))
	}
	if profile.Pep != nil {
		profile.Pep.check(problems{"pep", &list})
	}
	facts := problems{"facts", &list}
	facts.require(profile.Facts.NominalRateBps > 0, "nominal_rate_bps", "above 0", profile.Facts.NominalRateBps)
	facts.require(profile.Facts.BaseRttMs > 0, "base_rtt_ms", "above 0", profile.Facts.BaseRttMs)
	for i, target := range profile.Facts.Targets {
		target.check(facts.under(fmt.Sprintf("targets[%d]", i)))
	}
	return errors.Join(list...)
}

const (
	mostHops  = 64
	mostPaths = 1 // that a link can be on one stretch of
	// MostBranches is how many further receivers a link has at most.
	MostBranches = 14
)

// checkKind says whether the profile is one link, hops, or a path, and nothing of two kinds.
func (profile Profile) checkKind() error {
	isPlain := !reflect.ValueOf(profile.Down).IsZero() || !reflect.ValueOf(profile.Up).IsZero()
	switch {
	case len(profile.Hops) > 0 && (isPlain || profile.Path != nil), isPlain && profile.Path != nil:
		return errors.New("it has either down and up, or hops, or path")
	case len(profile.Hops) > mostHops:
		return fmt.Errorf("it has %d hops, at most %d are allowed", len(profile.Hops), mostHops)
	}
	isOneHop := len(profile.Hops) < 2 && profile.Path == nil && (len(profile.Hops) == 0 || profile.Hops[0].Path == nil)
	switch {
	case len(profile.Receivers) > 0 && isOneHop:
		return errors.New("it has one hop, and so no place between two hops at which further receivers could be attached")
	case len(profile.Receivers) > MostBranches:
		return fmt.Errorf("it has %d further receivers, at most %d are allowed", len(profile.Receivers), MostBranches)
	}
	paths := 0
	for i, hop := range profile.Hops {
		if hop.Path == nil {
			continue
		}
		if paths++; paths > mostPaths {
			return fmt.Errorf("hops[%d]: a link has one path at most", i)
		}
		if !reflect.ValueOf(hop.Down).IsZero() || !reflect.ValueOf(hop.Up).IsZero() {
			return fmt.Errorf("hops[%d] has either down and up, or path", i)
		}
	}
	return nil
}

func (t Target) check(p problems) {
	p.require(t.Statistic != "", "statistic", "given", t.Statistic)
	p.require(t.Low <= t.Value && t.Value <= t.High, "low to high", "an interval around value", []float64{t.Low, t.Value, t.High})
	p.require(slices.Contains([]string{UseSet, UseFit, UseTest}, t.Use), "use", "set, fit or test", t.Use)
	p.require(t.Source != "", "source", "given", t.Source)
}

func (d Direction) check(p problems) {
	d.Rate.check(p.under("rate"), d.recorded != nil && d.recorded.Bps != nil)
	d.Queue.check(p.under("queue"))
	if d.Frames != nil {
		d.Frames.check(p.under("frames"))
		p.require(d.Queue.RandomDrop == nil, "queue.random_drop", "left out beside frames", d.Queue.RandomDrop)
	}
	if d.Gap != nil {
		d.Gap.check(p.under("gap"))
	}
	d.Loss.check(p.under("loss"))
	d.Delay.check(p.under("delay"))
}

func (r Rate) check(p problems, isRecorded bool) {
	if r.Varies != nil {
		r.Varies.check(p.under("varies"))
	}
	kinds := 0
	for _, given := range []bool{r.ConstantBps != 0, r.Steps != nil, r.Trace != nil} {
		if given {
			kinds++
		}
	}
	if isRecorded {
		p.require(kinds == 0, "constant_bps, steps and trace", "left out: the way's trace has the rate", kinds)
		return
	}
	if kinds != 1 {
		*p.list = append(*p.list, fmt.Errorf("%s needs exactly one of constant_bps, steps and trace", p.key))
		return
	}
	switch {
	case r.Steps != nil:
		q := p.under("steps")
		q.requirePeriod("period_s", r.Steps.PeriodS)
		q.require(r.Steps.OffsetS >= 0 && r.Steps.OffsetS < max(r.Steps.PeriodS, 0.001), "offset_s", "from 0 to below period_s", r.Steps.OffsetS)
		q.require(isRate(r.Steps.LowBps), "low_bps", "from 1000 to 1e11", r.Steps.LowBps)
		q.require(isRate(r.Steps.HighBps) && r.Steps.HighBps >= r.Steps.LowBps, "high_bps", "from low_bps to 1e11", r.Steps.HighBps)
	case r.Trace != nil:
		r.Trace.check(p.under("trace"))
	default:
		p.require(isRate(r.ConstantBps), "constant_bps", "from 1000 to 1e11", r.ConstantBps)
	}
}

func (v Varies) check(p problems) {
	p.require(v.StepMs >= 1 && v.StepMs <= 1e6, "step_ms", "from 1 to 1e6", v.StepMs)
	p.require(v.CorrelationS >= 0.001 && v.CorrelationS <= longestS, "correlation_s", "from 0.001 to 1e6", v.CorrelationS)
	p.require(v.SdRatio > 0 && v.SdRatio <= 1, "sd_ratio", "above 0 and at most 1", v.SdRatio)
	p.require(v.LowRatio >= 0.01 && v.LowRatio <= 1, "low_ratio", "from 0.01 to 1", v.LowRatio)
	p.require(v.HighRatio >= 1 && v.HighRatio <= 10, "high_ratio", "from 1 to 10", v.HighRatio)
}

// isRate bounds a rate so that the time of any packet fits the arithmetic.
func isRate(bps float64) bool { return bps >= 1e3 && bps <= 1e11 }

func (t RateTrace) check(p problems) {
	p.requirePeriod("repeat_s", t.RepeatS)
	p.require(len(t.Points) > 0 && t.Points[0].AtS == 0, "points", "a list that begins with at_s: 0", t.Points)
	for i, point := range t.Points {
		q := p.under(fmt.Sprintf("points[%d]", i))
		q.require(i == 0 || point.AtS > t.Points[i-1].AtS, "at_s", "later than the point before", point.AtS)
		q.require(isRate(point.Bps), "bps", "from 1000 to 1e11", point.Bps)
		q.require(point.AtS < t.RepeatS, "at_s", "below repeat_s", point.AtS)
	}
}

func (q Queue) check(p problems) {
	p.require(q.LimitBytes >= 1500, "limit_bytes", "at least 1500, one packet", q.LimitBytes)
	if drop := q.RandomDrop; drop != nil {
		r := p.under("random_drop")
		r.require(drop.AboveBytes >= 0 && drop.AboveBytes < q.LimitBytes, "above_bytes", "below limit_bytes", drop.AboveBytes)
		r.require(drop.Ratio > 0 && drop.Ratio <= 1, "ratio", "above 0 and at most 1", drop.Ratio)
	}
}

func (f Frames) check(p problems) {
	p.require(f.LengthMs >= 1 && f.LengthMs <= 10e3, "length_ms", "from 1 to 10000", f.LengthMs)
	p.require(f.BaseBytes >= 1 && f.BaseBytes <= 1e6, "base_bytes", "from 1 to 1e6", f.BaseBytes)
	p.require(f.MostBytes >= f.BaseBytes && f.MostBytes <= 1e9, "most_bytes", "from base_bytes to 1e9", f.MostBytes)
	p.require(f.GrantDelayFrames >= 1 && f.GrantDelayFrames <= 1e4, "grant_delay_frames", "from 1 to 10000", f.GrantDelayFrames)
	p.require(f.RequestFrames >= 0 && f.RequestFrames <= 1e4, "request_frames", "from 1 to 10000, or left out", f.RequestFrames)
	p.require(f.HoldS >= 0 && f.HoldS <= 3600, "hold_s", "from 0 to 3600", f.HoldS)
}

func (g Gap) check(p problems) {
	p.requirePeriod("every_s", g.EveryS)
	p.require(g.OffsetS >= 0 && g.OffsetS <= longestS, "offset_s", "from 0 to 1e6", g.OffsetS)
	if len(g.Lengths) > 0 {
		p.require(g.LengthMs == 0, "length_ms", "left out beside lengths", g.LengthMs)
		p.require(g.Lengths[0].DelayMs >= 0, "lengths", "0 or more", g.Lengths[0].DelayMs)
		checkQuantiles("lengths", g.Lengths, p)
	}
	p.require(g.longestMs() > 0 && g.longestMs() < g.EveryS*1e3, "length_ms", "above 0 and shorter than every_s", g.longestMs())
}

func (l Loss) check(p problems) {
	p.require(l.IndependentRatio >= 0 && l.IndependentRatio < 1, "independent_ratio", "from 0 to below 1", l.IndependentRatio)
	if l.Outages != nil {
		q := p.under("outages")
		// The lower bounds keep the drawing of outages through a long silence short.
		q.require(l.Outages.MeanLengthMs >= 0.1 && l.Outages.MeanLengthMs <= longestS*1e3, "mean_length_ms", "from 0.1 to 1e9",
			l.Outages.MeanLengthMs)
		q.require(l.Outages.MeanSpacingS >= 0.01 && l.Outages.MeanSpacingS <= longestS, "mean_spacing_s", "from 0.01 to 1e6",
			l.Outages.MeanSpacingS)
	}
}

func (d Delay) check(p problems) {
	p.require(d.BaseMs >= 0 && d.BaseMs <= mostDelayMs, "base_ms", "from 0 to 60000", d.BaseMs)
	for i, v := range d.Variations {
		v.check(p.under(fmt.Sprintf("variations[%d]", i)))
	}
}

func (v Variation) check(p problems) {
	p.require(v.HoldMs >= 0 && v.HoldMs <= longestS*1e3, "hold_ms", "from 0 (each packet) to 1e9", v.HoldMs)
	p.require(v.OffsetMs >= 0 && v.OffsetMs <= v.HoldMs, "offset_ms", "from 0 to hold_ms", v.OffsetMs)
	kinds := 0
	if v.Normal != nil {
		kinds++
		q, n := p.under("normal"), *v.Normal
		q.requireDelay("low_ms", n.LowMs)
		q.requireDelay("high_ms", n.HighMs)
		q.require(n.SdMs > 0, "sd_ms", "above 0", n.SdMs)
		q.require(n.LowMs < n.HighMs, "low_ms", "below high_ms", n.LowMs)
		// Drawing goes on until a value fits: within one sd of the mean at least every sixth does.
		q.require(n.LowMs <= 0 && n.HighMs >= 0 && n.HighMs-n.LowMs >= n.SdMs, "low_ms to high_ms", "an interval around 0, at least sd_ms wide",
			n)
	}
	if v.Uniform != nil {
		kinds++
		q, u := p.under("uniform"), *v.Uniform
		q.requireDelay("low_ms", u.LowMs)
		q.requireDelay("high_ms", u.HighMs)
		q.require(u.LowMs < u.HighMs, "low_ms", "below high_ms", u.LowMs)
	}
	if len(v.Quantiles) > 0 {
		kinds++
		checkQuantiles("quantiles", v.Quantiles, p)
	}
	if kinds != 1 {
		*p.list = append(*p.list, fmt.Errorf("%s needs exactly one of normal, uniform and quantiles", p.key))
	}
}

func checkQuantiles(key string, points []QuantilesMs, p problems) {
	last := len(points) - 1
	p.require(last > 0 && points[0].Ratio == 0 && points[last].Ratio == 1, key, "points from ratio 0 to ratio 1", points)
	for i := range points {
		q := p.under(fmt.Sprintf("%s[%d]", key, i))
		q.requireDelay("delay_ms", points[i].DelayMs)
		if i == 0 {
			continue
		}
		q.require(points[i].Ratio > points[i-1].Ratio, "ratio", "above the point before", points[i].Ratio)
		q.require(points[i].DelayMs >= points[i-1].DelayMs, "delay_ms", "no less than the point before", points[i].DelayMs)
	}
}
