package tcpmodel

import (
	"time"

	"downlink/agents/internal/lab/emulate"
)

// receiver is the flow's other end.
type receiver struct {
	has     []bool // by segment
	next    int64  // the first one that is missing
	highest int64
	last    int64 // the latest sending that arrived
	held    int64 // segments since its last acknowledgement
	answers time.Duration
	ackDue  time.Duration // when a held acknowledgement goes
}

// receive takes a segment. While one is missing, each is acknowledged at once.
func (r *runner) receive(s sending) {
	e := &r.receiver
	e.has[s.segment], e.last, e.highest = true, max(e.last, s.number), max(e.highest, s.segment)
	for ; e.next <= r.segments && e.has[e.next]; e.next++ {
		r.flow.ReceivedAt = append(r.flow.ReceivedAt, r.since())
	}
	if e.held == 0 {
		e.answers = s.at
	}
	e.held++
	if e.held >= 2 || e.next <= quickAcks+1 || e.next <= e.highest {
		r.acknowledge()
	} else {
		e.ackDue = r.world.now + delayedAck
	}
}

func (r *runner) acknowledge() {
	e := &r.receiver
	e.ackDue, e.held = emulate.Never, 0
	r.world.send(r.world.up, ackBytes, packet{flow: r, kind: acknowledgement, number: e.last, sentAt: e.answers})
}
