// Package slowstart runs the beginning of a TCP flow over an emulated link in virtual time: from the handshake to the first
// loss, or to the end of an object. It is what link profiles are fitted with; what they are judged by is the real kernel.
//
// The model is Linux's: an initial window of ten segments, slow start by acknowledged segments, CUBIC without a loss
// (net/ipv4/tcp_cubic.c), HyStart's two detectors, a receiver that acknowledges every second segment. It recovers from no
// loss, and sends without pacing.
package slowstart

import (
	"time"

	"downlink/agents/internal/emulate"
)

const (
	mssBytes      = 1448
	segmentBytes  = 1500 // as an IP packet, with timestamps
	ackBytes      = 52
	initialWindow = 10
	// quickAcks is how many segments a receiver acknowledges one by one at first (TCP_MAX_QUICKACKS, include/net/tcp.h).
	quickAcks = 16
	// delayedAck is the longest that a receiver holds an acknowledgement back (TCP_DELACK_MIN).
	delayedAck = 40 * time.Millisecond
)

// Options of a flow.
type Options struct {
	Bytes       int64 // of the object; the flow ends with it
	WindowBytes int64 // that the receiver lets be in flight
	HasHyStart  bool
	StartAt     time.Duration // on the link's clock
	Until       time.Duration // the flow ends so long after its start at the latest
}

// Ack is an acknowledgement as the sender saw it.
type Ack struct {
	At           time.Duration // from the receiver's first packet on, as all times of a flow
	Bytes        int64         // acknowledged up to here
	SentBytes    int64
	Rtt          time.Duration
	CwndSegments int64
}

// Detector is what ended slow start.
type Detector string

const (
	None  Detector = ""
	Train Detector = "train"
	Delay Detector = "delay"
)

// Flow is what became of it. FirstLossAt, ExitAt: emulate.Never where there was none. ReceivedAt: when so many bytes of the
// object were there, by segment.
type Flow struct {
	FirstByteAt time.Duration
	Acks        []Ack
	ReceivedAt  []time.Duration
	FirstLossAt time.Duration
	ExitAt      time.Duration
	ExitBy      Detector
}

// TimeTo is how long the receiver waited for the first so many bytes, the handshake included; emulate.Never if they did not come.
func (f Flow) TimeTo(bytes int64) time.Duration {
	segment := (bytes + mssBytes - 1) / mssBytes
	if segment > int64(len(f.ReceivedAt)) {
		return emulate.Never
	}
	return f.ReceivedAt[segment-1]
}

// Run carries out one flow over a fresh link, which it has to itself.
func Run(network emulate.Network, options Options) Flow {
	r := &runner{
		options: options, down: network.Line(emulate.Gateway, emulate.Receiver), up: network.Line(emulate.Receiver, emulate.Gateway),
		packets: map[*emulate.Packet]packet{}, ackDue: emulate.Never,
	}
	r.control = newControl(options.HasHyStart)
	r.flow = Flow{FirstLossAt: emulate.Never, ExitAt: emulate.Never}
	r.wakes = [2]time.Duration{emulate.Never, emulate.Never}
	r.now = options.StartAt
	r.send(r.up, ackBytes, packet{kind: syn})
	for !r.isOver() {
		r.step()
	}
	r.flow.ExitAt, r.flow.ExitBy = r.control.exitAt, r.control.exitBy
	return r.flow
}

type kind int

const (
	syn kind = iota
	synAck
	request
	data
	acknowledgement
)

// packet is what a packet on the link means. number: of a data segment; of an acknowledgement, how many segments it
// acknowledges in all. sentAt: of the segment that it answers.
type packet struct {
	kind   kind
	number int64
	sentAt time.Duration
}

type runner struct {
	options  Options
	down, up *emulate.Line
	wakes    [2]time.Duration // of down and up
	packets  map[*emulate.Packet]packet
	now      time.Duration
	flow     Flow
	control  *control

	sent, acked int64 // segments, at the sender
	received    int64 // segments in order, at the receiver
	unacked     int64 // segments since its last acknowledgement
	answers     time.Duration
	ackDue      time.Duration // when a held acknowledgement goes
}

// since counts from the flow's start.
func (r *runner) since() time.Duration { return r.now - r.options.StartAt }

func (r *runner) segments() int64 { return (r.options.Bytes + mssBytes - 1) / mssBytes }

func (r *runner) isOver() bool {
	return r.flow.FirstLossAt != emulate.Never || r.received == r.segments() || r.since() >= r.options.Until
}

// step goes to the next event.
func (r *runner) step() {
	next := min(r.wakes[0], r.wakes[1], r.ackDue)
	if next == emulate.Never {
		r.now = r.options.StartAt + r.options.Until // a lost handshake
		return
	}
	r.now = next
	if r.ackDue <= r.now {
		r.acknowledge()
	}
	for i, line := range []*emulate.Line{r.down, r.up} {
		if r.wakes[i] <= r.now {
			r.run(line, nil)
		}
	}
}

func (r *runner) send(line *emulate.Line, bytes int, meaning packet) {
	p := &emulate.Packet{SizeBytes: bytes}
	r.packets[p] = meaning
	r.run(line, p)
}

// run lets a line carry what is due, takes in a packet if there is one, and hands on what came through.
func (r *runner) run(line *emulate.Line, in *emulate.Packet) {
	out, wake := line.Step(r.now, in, nil)
	index := 0
	if line == r.up {
		index = 1
	}
	r.wakes[index] = wake
	for _, p := range out {
		meaning := r.packets[p]
		delete(r.packets, p)
		if p.Lost != emulate.NotLost {
			r.flow.FirstLossAt = min(r.flow.FirstLossAt, p.LeftAt-r.options.StartAt)
			continue
		}
		r.arrive(meaning)
	}
}

func (r *runner) arrive(p packet) {
	switch p.kind {
	case syn:
		r.send(r.down, ackBytes, packet{kind: synAck})
	case synAck:
		r.send(r.up, ackBytes, packet{kind: request})
	case request:
		r.flow.FirstByteAt = r.since()
		r.transmit()
	case data:
		r.receive(p)
	case acknowledgement:
		r.hear(p)
	}
}

func (r *runner) receive(p packet) {
	r.received++
	r.flow.ReceivedAt = append(r.flow.ReceivedAt, r.since())
	if r.unacked == 0 {
		r.answers = p.sentAt
	}
	r.unacked++
	if r.unacked >= 2 || r.received <= quickAcks {
		r.acknowledge()
	} else {
		r.ackDue = r.now + delayedAck
	}
}

func (r *runner) acknowledge() {
	r.ackDue, r.unacked = emulate.Never, 0
	r.send(r.up, ackBytes, packet{acknowledgement, r.received, r.answers})
}

// hear takes an acknowledgement at the sender.
func (r *runner) hear(p packet) {
	newly := p.number - r.acked
	r.acked = p.number
	rtt := r.now - p.sentAt
	r.control.acked(r.since(), rtt, newly, r.acked, r.sent)
	r.flow.Acks = append(r.flow.Acks, Ack{r.since(), r.acked * mssBytes, r.sent * mssBytes, rtt, r.control.cwnd})
	r.transmit()
}

func (r *runner) transmit() {
	window := min(r.control.cwnd, r.options.WindowBytes/mssBytes)
	for r.sent-r.acked < window && r.sent < r.segments() {
		r.sent++
		r.send(r.down, segmentBytes, packet{data, r.sent, r.now})
	}
}
