package virtualrun

import (
	"time"

	"downlink/agents/internal/lab/emulate"
)

const (
	segmentBytes  = 1500 // as an IP packet, with timestamps
	ackBytes      = 52
	initialWindow = 10
	// quiet is how long nothing comes back before all that is under way is given up.
	quiet = time.Second
)

// full is a flow that keeps a constant window in flight: it begins as slow start does, and a loss changes nothing.
type full struct {
	down, up *emulate.Line
	record   Record
	start    time.Duration
	now      time.Duration
	window   int64 // in segments, that it may have in flight now
	most     int64

	out       []*segment
	sent      int64
	delivered int64
	lost      int64
	arrived   int64 // the last number that the receiver has
	held      int   // segments since its last acknowledgement
	heardAt   time.Duration

	segments map[*emulate.Packet]*segment
	acks     map[*emulate.Packet]*segment // and the segment that each answers
	numbers  map[*emulate.Packet]int64
}

type segment struct {
	number int64
	at     time.Duration
	isLost bool
}

func fullFlow(network emulate.Network, start time.Duration, order Order) Record {
	f := &full{
		down: network.Line(emulate.Gateway, emulate.Receiver), up: network.Line(emulate.Receiver, emulate.Gateway),
		record: Record{Order: order, Sender: map[string][]int64{}}, start: start, now: start, heardAt: start,
		window: initialWindow, most: order.WindowBytes / mssBytes,
		segments: map[*emulate.Packet]*segment{}, acks: map[*emulate.Packet]*segment{}, numbers: map[*emulate.Packet]int64{},
	}
	end := start + order.duration()
	var wakes [2]time.Duration
	for wakes = f.send(); f.now < end; wakes = f.send() {
		f.now = min(wakes[0], wakes[1], f.heardAt+quiet, end)
		f.take(0)
		f.take(1)
		if f.now >= f.heardAt+quiet {
			f.giveUp()
		}
	}
	return f.record
}

// send fills the window, and says when either line wants to be called.
func (f *full) send() (wakes [2]time.Duration) {
	for int64(len(f.out)) < f.window {
		f.sent++
		s := &segment{number: f.sent, at: f.now}
		p := &emulate.Packet{SizeBytes: segmentBytes}
		f.out, f.segments[p] = append(f.out, s), s
		out, _ := f.down.Step(f.now, p, nil)
		f.reached(out)
	}
	out, down := f.down.Step(f.now, nil, nil)
	f.reached(out)
	answers, up := f.up.Step(f.now, nil, nil)
	f.answered(answers)
	return [2]time.Duration{down, up}
}

func (f *full) take(way int) {
	if way == 0 {
		out, _ := f.down.Step(f.now, nil, nil)
		f.reached(out)
	} else {
		out, _ := f.up.Step(f.now, nil, nil)
		f.answered(out)
	}
}

// reached is what the receiver does with segments, each second of which it acknowledges.
func (f *full) reached(packets []*emulate.Packet) {
	for _, p := range packets {
		s := f.segments[p]
		delete(f.segments, p)
		if p.Lost != emulate.NotLost {
			s.isLost = true
			continue
		}
		f.arrived = max(f.arrived, s.number)
		if f.held++; f.held >= 2 || s.number <= 2*initialWindow {
			f.held = 0
			ack := &emulate.Packet{SizeBytes: ackBytes}
			f.acks[ack], f.numbers[ack] = s, f.arrived
			out, _ := f.up.Step(f.now, ack, nil)
			f.answered(out)
		}
	}
}

// answered is what the sender does with acknowledgements: all that was sent up to their number has arrived or is lost.
func (f *full) answered(packets []*emulate.Packet) {
	for _, p := range packets {
		s, number := f.acks[p], f.numbers[p]
		delete(f.acks, p)
		delete(f.numbers, p)
		if p.Lost != emulate.NotLost {
			continue
		}
		for ; len(f.out) > 0 && f.out[0].number <= number; f.out = f.out[1:] {
			if f.out[0].isLost {
				f.lost++
			} else {
				f.delivered++
				f.window = min(f.window+1, f.most)
			}
		}
		f.heardAt = f.now
		f.record.add(f.now-f.start, f.delivered, f.now-s.at, f.lost)
	}
}

// giveUp takes what is under way for lost where it is, so that the flow goes on.
func (f *full) giveUp() {
	f.heardAt = f.now
	var rest []*segment
	for _, s := range f.out {
		if s.isLost {
			f.lost++
		} else {
			rest = append(rest, s)
		}
	}
	f.out = rest
}
