package intcp

import (
	"math"
	"time"
)

const (
	headerBytes     = 28 // IP and UDP: rates count what the link carries
	floorRate       = 100e3 / 8
	targetDelay     = 5 * time.Millisecond
	targetPackets   = 6
	leastWindow     = 10 * time.Millisecond
	memory          = 10 * time.Second // of the least delays, round-trip times and losses
	firstPackets    = 10               // asked for in the first round trip
	shallowExcess   = 0.02
	unseenShare     = 0.6
	lossGroupFrames = 400
)

// growth is what is asked of a hop whose queue is empty, in multiples of what arrives, round trip after round trip.
// The first step only makes twice the wanted queue, if the hop was full after all.
var growth = [...]float64{1.1, 1.5, 2}

// risen is by how much more than before arrives where a hop's capacity has grown, not by chance.
const risen = 1.25

// otherClock is by how much delays jump where a node that takes a responder's place, or has started again, has another clock.
const otherClock = 100 * time.Millisecond

// mostGrowth is how far a step goes towards a rate that the hop carried within the last seconds.
const mostGrowth = 4

// law is how much a requester asks its responder to send. It keeps a small queue at the hop: while packets wait
// all the time, what arrives is what the hop can carry. docs/intcp/README.md derives the numbers.
type law struct {
	rate   float64 // asked, in bytes of IP packets a second
	peak   minimum // the highest known rate of the last seconds, negative
	known  float64 // what arrived when packets last waited at the hop all the time: its capacity
	isNews bool    // the rate has changed since it was told

	rtt   roundTrip
	least minimum // relative one-way delay
	first uint32  // the one-way delay that others are relative to
	any   bool
	// last is the newest packet's relative delay; isAnew: the next one may come from a node with another clock.
	last   time.Duration
	isAnew bool

	epoch     epoch
	newest    time.Duration // arrival
	changed   time.Duration // when the rate was last changed by a step
	isStart   bool
	grown     int
	before    reading // at the last step
	losses    minimum // share, in groups of packets
	groupLost int
	group     int
	loss      float64       // share, smoothed
	held      minimum       // the longest queueing delay of the last second, negative
	depth     minimum       // of a queue that ran over in the last seconds: the longest delay before
	isShallow bool          // more is lost than at times of the last seconds: a queue that holds few packets runs over
	heldUntil time.Duration // a shallow queue was found: no growth until then
}

// epoch is a short stretch of arrivals.
type epoch struct {
	began            time.Duration
	bytes            float64
	packets, limited int
	low              time.Duration // least relative delay
}

// reading is what a step saw and asked for.
type reading struct {
	delay, at time.Duration
	low       time.Duration
	carried   float64
	rate      float64
	isOver    bool
}

func newLaw() law {
	return law{isStart: true, least: minimum{span: memory}, losses: minimum{span: memory}, peak: minimum{span: 2 * memory},
		depth: minimum{span: memory}, held: minimum{span: time.Second}, rtt: newRoundTrip()}
}

// begin sets the first rate from the round trip of the handshake.
func (l *law) begin(rtt time.Duration, now time.Duration) {
	l.rtt.add(now, rtt)
	l.rate = max(floorRate, firstPackets*(MaxDatagramBytes+headerBytes)/max(rtt, leastWindow).Seconds())
	l.changed = now
}

func (l *law) window() time.Duration { return max(l.rtt.least()/4, leastWindow) }

// arrived takes one packet in. limited: nothing waited behind it, so that the hop was not the limit.
func (l *law) arrived(now time.Duration, bytes int, sentUs uint32, limited bool) {
	delay := l.relative(uint32(now/time.Microsecond) - sentUs)
	if jump := delay - l.last; l.isAnew && max(jump, -jump) > otherClock { // no way changes its delay so much
		l.least, l.newest, l.before = minimum{span: memory}, 0, reading{}
	}
	l.last, l.isAnew = delay, false
	l.least.add(now, delay)
	e := &l.epoch
	if l.newest == 0 || now-l.newest > l.rtt.silence() {
		*e = epoch{began: now, low: delay}
		l.newest = now
		return
	}
	l.newest = now
	e.bytes += float64(bytes + headerBytes)
	e.packets++
	if limited {
		e.limited++
	}
	e.low = min(e.low, delay)
	if past := now - e.began; past >= l.window() && (e.packets >= 4 || past >= 8*l.window()) {
		l.close(now, past)
	}
}

// relative makes a difference of two clocks comparable with the first one.
func (l *law) relative(raw uint32) time.Duration {
	if !l.any {
		l.any, l.first = true, raw
	}
	return time.Duration(int32(raw-l.first)) * time.Microsecond
}

// judged takes in how many sequences came or were called lost.
func (l *law) judged(now time.Duration, came, lost int) {
	l.group += came + lost
	l.groupLost += lost
	if l.group >= lossGroupFrames {
		n := float64(l.group)
		share := float64(l.groupLost) / n
		l.loss += (share - l.loss) / 2
		l.losses.add(now, time.Duration(share*1e9))
		noise := 4 * math.Sqrt(share*(1-share)/n) // of groups that lose by chance
		l.isShallow = share > l.lossFloor()+shallowExcess+noise
		l.group, l.groupLost = 0, 0
	}
}

// lossFloor is the share that is lost whatever the rate.
func (l *law) lossFloor() float64 {
	if !l.losses.any {
		return 0
	}
	return float64(l.losses.value()) / 1e9
}

// carried is the rate at which the hop carries packets, those that are lost on the air included.
func (l *law) carried(arrived float64) float64 {
	share := l.loss
	if l.isShallow || l.newest < l.heldUntil {
		share = l.lossFloor()
	}
	return arrived / (1 - min(0.9, share))
}

func (l *law) close(now, past time.Duration) {
	e := l.epoch
	l.epoch = epoch{began: now, low: time.Duration(1<<62 - 1)}
	arrived := e.bytes / past.Seconds()
	r := reading{delay: e.low - l.least.value(), low: e.low, at: now, carried: l.carried(arrived), rate: l.rate}
	l.step(r, max(past, l.window()), e.limited*5 >= e.packets)
}

// target is the queueing delay to be held.
func target(carried float64) time.Duration {
	packets := targetPackets * (MaxDatagramBytes + headerBytes) / max(carried, floorRate)
	return max(targetDelay, time.Duration(packets*float64(time.Second)))
}

// step looks at an epoch. A new rate shows after a turn: a round trip, what waits already, and an epoch.
func (l *law) step(r reading, epoch time.Duration, limited bool) {
	goal := target(r.carried)
	l.held.add(r.at, -r.delay)
	if l.depth.any && r.at-l.depth.since < memory { // some way below what runs over
		goal = min(goal, l.depth.value()*6/10)
	}
	turn := l.rtt.least() + min(max(r.delay, 0), goal) + epoch
	due := r.at >= l.changed+turn
	r.isOver = r.delay > goal+goal/2
	if r.delay >= goal/2 && !limited {
		l.known = r.carried
		l.peak.add(r.at, -time.Duration(r.carried))
	}
	surges := r.delay < goal && r.carried > 1.2*l.known && l.known > 0 // its queue went faster than the hop could carry
	switch {
	case r.isOver:
		fell := r.delay > 3*goal && r.carried < 0.8*l.rate && (!l.before.isOver || r.carried < 0.8*l.before.carried)
		if due || fell || r.carried > risen*l.before.carried {
			l.reduce(r, goal, turn)
		}
	case limited || !due && !surges:
	case l.isShallow:
		l.heldUntil, l.grown, l.isStart = r.at+8*turn, 0, false
		l.isShallow = false
		l.depth.add(r.at, max(-l.held.value(), time.Millisecond))
		l.set(r, 0.95*r.carried)
	case r.at < l.heldUntil:
	case r.carried < unseenShare*l.rate && r.at < l.changed+4*turn: // the newest rate has not come through yet
	case l.isStart:
		l.set(r, 2*max(r.carried, unseenShare*l.rate))
	case r.delay < goal/2 || surges:
		if l.rate < 0.97*l.known && !surges { // it was drained; what the hop carries is known
			l.set(r, l.known*(1+0.5*float64(goal-r.delay)/float64(turn)))
			return
		}
		factor := growth[min(l.grown, len(growth)-1)]
		if l.grown == 0 && !surges {
			factor = min(factor, 1+2*float64(goal)/float64(turn))
		} else if r.carried > 0 {
			factor = max(factor, min(mostGrowth, -float64(l.peak.value())/r.carried))
		}
		l.grown++
		l.set(r, factor*max(r.carried, unseenShare*l.rate))
	default:
		l.grown = 0
		l.set(r, r.carried*(1+0.5*float64(goal-r.delay)/float64(turn)))
	}
}

// reduce drains what is above the goal in about one turn. Where arrivals have fallen to what was asked and the delay stays,
// no queue is left: the way has become longer, and its delay is the new least one.
func (l *law) reduce(r reading, goal, turn time.Duration) {
	b := l.before
	isFlat := b.isOver && l.loss <= l.lossFloor()+shallowExcess && r.carried <= 1.03*l.rate &&
		(r.delay-b.delay).Abs() < max(time.Millisecond, b.delay/10)
	if isFlat && r.at >= l.changed+turn && l.rate < 0.97*b.carried {
		l.least.reset(r.at, r.low)
		l.before = reading{}
		l.rate = max(l.rate, b.carried)
		l.changed = r.at
		return
	}
	over := 0.7 * float64(r.delay-goal) / float64(turn)
	if b.isOver && r.carried > risen*b.carried && l.rate < r.carried { // what is on its way drains the queue meanwhile
		over -= 0.7 * (1 - l.rate/r.carried)
	}
	l.isStart, l.grown = false, 0
	l.set(r, r.carried*min(1, max(0.25, 1-over)))
}

func (l *law) set(r reading, rate float64) {
	l.before = r
	l.rate, l.isNews = max(floorRate, rate), true
	l.changed = r.at
}

// queue is how long data wait at the hop as of the newest epoch.
func (l *law) queue() time.Duration { return l.before.delay }

// minimum is the least value of the last span: of its present half and the one before.
type minimum struct {
	span          time.Duration
	current, last time.Duration
	since         time.Duration
	any           bool
}

func (m *minimum) add(now, value time.Duration) {
	switch {
	case !m.any:
		m.reset(now, value)
	case now-m.since > m.span/2:
		m.last, m.current, m.since = m.current, value, now
	default:
		m.current = min(m.current, value)
	}
}

func (m *minimum) reset(now, value time.Duration) {
	m.any, m.current, m.last, m.since = true, value, value, now
}

func (m *minimum) value() time.Duration { return min(m.current, m.last) }

// roundTrip is the round-trip time of a hop or of a whole path.
type roundTrip struct {
	smooth, deviation time.Duration
	lows              minimum
}

// unknownTrip is assumed before the first measurement.
const unknownTrip = 200 * time.Millisecond

func newRoundTrip() roundTrip {
	return roundTrip{smooth: unknownTrip, lows: minimum{span: memory}}
}

func (r *roundTrip) add(now, sample time.Duration) {
	sample = max(sample, time.Microsecond)
	if !r.lows.any {
		r.smooth, r.deviation = sample, sample/4
	} else {
		r.deviation += ((sample - r.smooth).Abs() - r.deviation) / 4
		r.smooth += (sample - r.smooth) / 8
	}
	r.lows.add(now, sample)
}

func (r *roundTrip) least() time.Duration {
	if !r.lows.any {
		return unknownTrip
	}
	return r.lows.value()
}

// patience is how long an interest may stay unacknowledged; silence how long a hop on which something is pending.
func (r *roundTrip) patience() time.Duration {
	return max(10*time.Millisecond, r.smooth*5/4+4*r.deviation)
}
func (r *roundTrip) silence() time.Duration {
	return max(10*time.Millisecond, r.smooth*3/2+4*r.deviation)
}
