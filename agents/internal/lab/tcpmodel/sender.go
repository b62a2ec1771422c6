package tcpmodel

import (
	"time"

	"downlink/agents/internal/lab/emulate"
)

// leastTimeout is Linux's TCP_RTO_MIN and the variation that a satellite link adds to it.
const leastTimeout = time.Second

// recovery is the time from a loss until all that had been sent before it has arrived.
type recovery struct {
	isOn      bool
	until     int64 // segments below are part of it
	before    int64 // window before
	delivered int64 // since its beginning
	sent      int64
}

// hear takes an acknowledgement: everything sent up to its number has arrived or is lost, for no link overtakes here.
func (r *runner) hear(p packet) {
	now, newly, lost := r.since(), int64(0), false
	for len(r.out) > 0 && r.out[0].number <= p.number {
		s := r.out[0]
		r.out = r.out[1:]
		switch {
		case s.isLost:
			r.repeat, lost = append(r.repeat, s.segment), true
			r.learnOfLoss()
		case !r.arrived[s.segment]:
			r.arrived[s.segment] = true
			newly++
		}
	}
	for ; r.unacked < r.next && r.arrived[r.unacked]; r.unacked++ {
	}
	r.acked += newly
	r.heardAt, r.lastRtt = r.world.now, r.world.now-p.sentAt
	r.control.hear(now, r.lastRtt, r.acked, r.next-1)
	r.adapt(now, newly, lost)
	r.flow.Acks = append(r.flow.Acks, Ack{now, r.acked * mssBytes, (r.next - 1) * mssBytes, r.lastRtt, r.control.cwnd, r.lost})
	r.transmit()
}

// learnOfLoss notes what the sender has come to know, up to a round trip after the packet was dropped.
func (r *runner) learnOfLoss() {
	r.lost++
	r.flow.FirstLossAt = min(r.flow.FirstLossAt, r.since())
}

// adapt moves the window.
func (r *runner) adapt(now time.Duration, newly int64, lost bool) {
	if r.recovery.isOn && r.unacked >= r.recovery.until {
		r.recovery.isOn = false
		r.control.cwnd = r.control.threshold
		lost = lost || len(r.repeat) > 0
	}
	switch {
	case r.recovery.isOn:
		r.recovery.delivered += newly
		r.reduce(newly)
	case lost:
		r.recover(now, newly)
	case r.bound || r.control.inStart() && r.control.cwnd < 2*int64(len(r.out)):
		r.control.grow(now, newly, r.acked, r.next-1)
	}
}

func (r *runner) recover(now time.Duration, newly int64) {
	r.flow.Losses++
	r.recovery = recovery{isOn: true, until: r.next, before: r.control.cwnd, delivered: newly}
	r.control.lose(now)
	r.reduce(newly)
	r.control.cwnd = max(r.control.cwnd, int64(len(r.out))+1) // the first segment is sent again at once
}

// reduce is proportional rate reduction (RFC 6937, with the slow start part).
func (r *runner) reduce(newly int64) {
	v, pipe := &r.recovery, int64(len(r.out))
	var room int64
	if pipe > r.control.threshold {
		room = (r.control.threshold*v.delivered+v.before-1)/v.before - v.sent
	} else {
		room = min(r.control.threshold-pipe, max(v.delivered-v.sent, newly)+1)
	}
	r.control.cwnd = pipe + max(room, 0)
}

func (r *runner) transmit() {
	for int64(len(r.out)) < r.control.cwnd && r.sendOne() {
	}
	r.bound = int64(len(r.out)) >= r.control.cwnd
}

// sendOne sends what was lost before what is new.
func (r *runner) sendOne() bool {
	segment := r.next
	switch {
	case len(r.repeat) > 0:
		segment, r.repeat = r.repeat[0], r.repeat[1:]
	case r.next > r.segments || (r.next-r.unacked+1)*mssBytes > r.options.WindowBytes:
		return false
	default:
		r.next++
	}
	if len(r.out) == 0 {
		r.heardAt = r.world.now
	}
	s := &sending{number: r.nextSent, segment: segment, at: r.world.now}
	r.nextSent++
	r.recovery.sent++
	r.out = append(r.out, s)
	r.world.send(r.world.down, segmentBytes, packet{flow: r, kind: data, sent: s})
	return true
}

// timeout is when the flow has waited for too long.
func (r *runner) timeout() time.Duration {
	if len(r.out) == 0 || r.heardAt == emulate.Never {
		return emulate.Never
	}
	return r.heardAt + max(leastTimeout, 2*r.lastRtt)
}

// expire starts again with one segment, unless only acknowledgements are missing: then the receiver repeats its last one.
func (r *runner) expire() {
	r.heardAt = r.world.now
	var rest []*sending
	for _, s := range r.out {
		if s.isLost {
			r.repeat = append(r.repeat, s.segment)
			r.learnOfLoss()
		} else {
			rest = append(rest, s)
		}
	}
	if len(rest) == len(r.out) {
		r.acknowledge()
		return
	}
	r.out = rest
	r.flow.Losses++
	r.recovery = recovery{}
	r.control.lose(r.since())
	r.control.cwnd = 1
	r.transmit()
}
