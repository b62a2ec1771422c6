package tcpmodel

import (
	"time"

	"downlink/agents/internal/lab/emulate"
)

// runner is a flow under way.
type runner struct {
	world    *world
	options  Options
	flow     Flow
	control  *control
	isBroken bool // in the handshake, in which nothing is sent twice
	begun    bool

	segments int64 // of the object
	out      []*sending
	nextSent int64 // number of the next sending
	next     int64 // the next new segment, from 1
	repeat   []int64
	arrived  []bool // by segment, as the sender knows
	unacked  int64  // the first segment that has not arrived, as the sender knows
	acked    int64  // segments that have arrived, as the sender knows
	lost     int64  // sendings that were lost, as the sender knows
	bound    bool   // by the congestion window
	recovery recovery
	heardAt  time.Duration // the last progress
	lastRtt  time.Duration

	receiver receiver
}

// sending is a segment that was sent, for the first time or again.
type sending struct {
	number, segment int64
	at              time.Duration
	isLost          bool
}

func newRunner(w *world, options Options) *runner {
	segments := (options.Bytes + mssBytes - 1) / mssBytes
	return &runner{
		world: w, options: options, control: newControl(options), segments: segments, nextSent: 1, next: 1, unacked: 1,
		arrived: make([]bool, segments+2), flow: Flow{FirstLossAt: emulate.Never, ExitAt: emulate.Never},
		receiver: receiver{has: make([]bool, segments+2), next: 1, ackDue: emulate.Never}, heardAt: emulate.Never,
	}
}

// since counts from the flow's start.
func (r *runner) since() time.Duration { return r.world.now - r.options.StartAt }

func (r *runner) isOver() bool {
	received := r.receiver.next - 1
	endsNow := r.options.EndsAtLoss && r.flow.FirstLossAt <= r.since() && received*mssBytes >= r.options.LeastBytes
	return r.isBroken || endsNow || received >= r.segments || r.since() >= r.options.Until
}

// wake is when the flow wants to do something of itself.
func (r *runner) wake() time.Duration {
	switch {
	case r.isOver():
		return emulate.Never
	case !r.begun:
		return r.options.StartAt
	default:
		return min(r.options.StartAt+r.options.Until, r.receiver.ackDue, r.timeout())
	}
}

// tick does what is due.
func (r *runner) tick() {
	switch {
	case r.isOver() || r.world.now < r.options.StartAt:
	case !r.begun:
		r.begun = true
		r.world.send(r.world.up, ackBytes, packet{flow: r, kind: syn})
	default:
		if r.receiver.ackDue <= r.world.now {
			r.acknowledge()
		}
		if r.timeout() <= r.world.now {
			r.expire()
		}
	}
}

func (r *runner) arrive(p packet) {
	switch p.kind {
	case syn:
		r.world.send(r.world.down, ackBytes, packet{flow: r, kind: synAck})
	case synAck:
		r.world.send(r.world.up, ackBytes, packet{flow: r, kind: request})
	case request:
		r.flow.FirstByteAt = r.since()
		r.transmit()
	case data:
		r.receive(*p.sent)
	case acknowledgement:
		r.hear(p)
	}
}

// vanish is what a packet does that the link loses.
func (r *runner) vanish(p packet) {
	switch p.kind {
	case acknowledgement:
	case data:
		p.sent.isLost = true
	case syn, synAck, request:
		r.isBroken = true
	}
}
