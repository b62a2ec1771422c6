package emulate

import (
	"math/rand/v2"
	"sort"
	"time"
)

// delay keeps each packet for a base time plus what its variations add at the moment of arrival.
type delay struct {
	base       time.Duration
	variations []*variation
	reorders   bool // let a packet overtake an earlier one that was given a longer delay

	line    waiting
	lastDue time.Duration
}

func (n *delay) Process(now time.Duration, in *Packet) (*Packet, time.Duration) {
	if in != nil {
		in.due = max(now, now+n.base+n.extra(now)) // no variation sends a packet back in time
		if !n.reorders {
			in.due = max(in.due, n.lastDue)
			n.lastDue = in.due
		}
		n.line.put(in)
	}
	return n.line.take(now)
}

func (n *delay) extra(now time.Duration) (sum time.Duration) {
	for _, v := range n.variations {
		sum += v.at(now)
	}
	return sum
}

func (n *delay) Held() int { return n.line.n }

func (n *delay) Least() time.Duration {
	least := n.base
	for _, v := range n.variations {
		least += v.least
	}
	return max(0, least)
}

// variation is a random delay that is drawn again every hold (0: for every packet), as a satellite link's frames or its
// reassignments do.
type variation struct {
	hold  time.Duration
	shift time.Duration // of the periods, before the link's zero
	draw  func(*rand.Rand) time.Duration
	least time.Duration // no draw is below it

	course   *course
	recorded *Trace // instead of draws
	value    time.Duration
	until    time.Duration
}

// newVariation ends the first period after the offset, if there is one.
func newVariation(hold, offset time.Duration, draw func(*rand.Rand) time.Duration, least time.Duration, rng *rand.Rand) *variation {
	v := &variation{hold: hold, draw: draw, least: least, course: newCourse(rng)}
	if offset > 0 {
		v.shift = (hold - offset) % hold
	}
	return v
}

func (v *variation) at(now time.Duration) time.Duration {
	switch {
	case v.recorded != nil && now >= v.until:
		var row int
		row, v.until = v.recorded.row(now)
		v.value = v.recorded.Delay[row]
	case v.recorded != nil:
	case v.hold == 0:
		return v.draw(v.course.draw(now))
	case now >= v.until:
		v.value, v.until = v.draw(v.course.in(now+v.shift, v.hold)), nextMultiple(now+v.shift, v.hold)-v.shift
	}
	return v.value
}

// truncatedNormal draws from a normal of mean 0, refusing what lies outside [low, high].
func truncatedNormal(sd, low, high time.Duration) func(*rand.Rand) time.Duration {
	return func(rng *rand.Rand) time.Duration {
		for {
			if d := time.Duration(rng.NormFloat64() * float64(sd)); d >= low && d <= high {
				return d
			}
		}
	}
}

func uniform(low, high time.Duration) func(*rand.Rand) time.Duration {
	return func(rng *rand.Rand) time.Duration { return low + time.Duration(rng.Float64()*float64(high-low)) }
}

// quantile is one point of a distribution given by its quantile function; between points it runs straight.
type quantile struct {
	ratio float64 // share of draws at or below value: first point 0, last 1
	value time.Duration
}

func fromQuantiles(points []quantile) func(*rand.Rand) time.Duration {
	return func(rng *rand.Rand) time.Duration {
		u := rng.Float64()
		i := sort.Search(len(points), func(i int) bool { return points[i].ratio > u })
		a, b := points[i-1], points[i]
		return a.value + time.Duration((u-a.ratio)/(b.ratio-a.ratio)*float64(b.value-a.value))
	}
}
