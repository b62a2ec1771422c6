package emulate

import (
	"math/rand/v2"
	"time"
)

// phaseStream is no node's: theirs count from 0 and from 1 << 32.
const phaseStream = 1 << 63

// Phase is where in its course a link is when a run begins: slots, handovers, frames and recorded courses go on whether
// or not somebody measures, so that a run meets them at any point. It is drawn from the seed alone, uniform within the
// longest of the link's periods, in whole microseconds; 0 for a link without periods.
func Phase(profile Profile, seed uint64) time.Duration {
	period := time.Duration(0)
	for _, hop := range profile.hops() {
		period = max(period, hop.period()/time.Microsecond)
	}
	for _, branch := range profile.Receivers {
		period = max(period, branch.Down.period()/time.Microsecond, branch.Up.period()/time.Microsecond)
	}
	if period < 1 {
		return 0
	}
	rng := rand.New(rand.NewPCG(seed, phaseStream))
	return time.Duration(rng.Int64N(int64(period))) * time.Microsecond
}

// period is the longest one of a way, 0 where nothing returns.
func (d Direction) period() (longest time.Duration) {
	if d.recorded != nil {
		longest = d.recorded.Repeat
	}
	if d.Rate.Trace != nil {
		longest = max(longest, seconds(d.Rate.Trace.RepeatS))
	}
	if d.Rate.Steps != nil {
		longest = max(longest, seconds(d.Rate.Steps.PeriodS))
	}
	if d.Gap != nil {
		longest = max(longest, seconds(d.Gap.EveryS))
	}
	if d.Frames != nil {
		longest = max(longest, milliseconds(d.Frames.LengthMs))
	}
	for _, v := range d.Delay.Variations {
		longest = max(longest, milliseconds(v.HoldMs))
	}
	return longest
}
