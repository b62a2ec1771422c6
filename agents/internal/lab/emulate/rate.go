package emulate

import (
	"math/rand/v2"
	"time"
)

// rate is a piecewise constant bit rate. at gives the rate from t on and until when it holds (Never: for ever).
// It is asked with times that never decrease.
type rate interface {
	at(t time.Duration) (bps float64, until time.Duration)
}

type constantRate float64

func (r constantRate) at(time.Duration) (float64, time.Duration) { return float64(r), Never }

// stepRate draws a new rate, uniform between its bounds, each period; the first one ends after the offset, if there is one.
type stepRate struct {
	period, offset  time.Duration
	lowBps, highBps float64
	course          *course

	bps   float64
	until time.Duration
}

func (r *stepRate) at(t time.Duration) (float64, time.Duration) {
	if t >= r.until {
		shift := (r.period - r.offset) % r.period
		r.bps = r.lowBps + (r.highBps-r.lowBps)*r.course.in(t+shift, r.period).Float64()
		r.until = nextMultiple(t+shift, r.period) - shift
	}
	return r.bps, r.until
}

// gaps are the moments around each handover in which the link carries nothing.
type gaps struct {
	every, offset, length time.Duration
	draw                  func(*rand.Rand) time.Duration // of each gap's own length; nil: all have the same
	course                *course
	seen                  *seen // by looks
}

// next says whether t lies in a gap, and when that changes.
func (g gaps) next(t time.Duration) (inside bool, until time.Duration) {
	since := (t - g.offset) % g.every
	if since < 0 {
		since += g.every
	}
	if length := g.lengthAt(t - since); since < length {
		return true, t - since + length
	}
	return false, t - since + g.every
}

// lengthAt is how long the gap lasts that begins at a moment.
func (g gaps) lengthAt(begin time.Duration) time.Duration {
	if g.draw == nil {
		return g.length
	}
	return g.draw(g.course.in(begin-g.offset+g.every, g.every)) // the gap before the first one has a number, too
}

// gappedRate stands still in the gaps: what waits in the queue goes on waiting.
type gappedRate struct {
	rate rate
	gaps gaps
}

func (r gappedRate) at(t time.Duration) (float64, time.Duration) {
	inside, gapEdge := r.gaps.next(t)
	if inside {
		return 0, gapEdge
	}
	bps, until := r.rate.at(t)
	return bps, min(until, gapEdge)
}

// finish is when a transmission of bits that begins at t ends.
func finish(r rate, t time.Duration, bits float64) time.Duration {
	for {
		bps, until := r.at(t)
		if bps > 0 {
			needs := time.Duration(bits / bps * float64(time.Second))
			if until == Never || needs <= until-t {
				return t + needs
			}
			bits -= bps * (until - t).Seconds()
		}
		t = until
	}
}

func nextMultiple(t, period time.Duration) time.Duration { return t - t%period + period }
