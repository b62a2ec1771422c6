package emulate

import (
	"math"
	"time"
)

// wander is a factor around 1 that changes in steps and remembers where it was: an autoregressive process of first order.
//
// It starts again every wanderBlock steps, so that what it is at a moment takes few draws, however long nobody asked.
type wander struct {
	hold      time.Duration // of a step
	keeps     float64       // of the deviation from one step to the next
	sd        float64
	low, high float64
	course    *course

	step      int64 // the last one that was drawn; -1: none
	deviation float64
}

const wanderBlock = 4096

func newWander(v Varies, c *course) *wander {
	hold := milliseconds(v.StepMs)
	return &wander{
		hold: hold, keeps: math.Exp(-hold.Seconds() / v.CorrelationS), sd: v.SdRatio, low: v.LowRatio, high: v.HighRatio, course: c, step: -1,
	}
}

// at is the factor from t on, and until when it holds. It is asked with times that never decrease.
func (w *wander) at(t time.Duration) (factor float64, until time.Duration) {
	wanted := int64(t / w.hold)
	if w.step < wanted-wanted%wanderBlock {
		w.step = wanted - wanted%wanderBlock - 1
	}
	for w.step < wanted {
		w.step++
		draw := w.course.in(time.Duration(w.step)*w.hold, w.hold).NormFloat64()
		if w.step%wanderBlock == 0 {
			w.deviation = w.sd * draw
		} else {
			w.deviation = w.keeps*w.deviation + w.sd*math.Sqrt(1-w.keeps*w.keeps)*draw
		}
	}
	return min(max(1+w.deviation, w.low), w.high), nextMultiple(t, w.hold)
}

// varyingRate is a rate times a factor that wanders.
type varyingRate struct {
	rate   rate
	factor *wander
}

func (r varyingRate) at(t time.Duration) (float64, time.Duration) {
	bps, until := r.rate.at(t)
	factor, changes := r.factor.at(t)
	return bps * factor, min(until, changes)
}
