package tcpmodel

import (
	"time"

	"downlink/agents/internal/lab/emulate"
)

// world is a link and the flows on it.
type world struct {
	down, up *emulate.Line
	wakes    [2]time.Duration // of down and up
	packets  map[*emulate.Packet]packet
	now      time.Duration
	flows    []*runner
}

type kind int

const (
	syn kind = iota
	synAck
	request
	data
	acknowledgement
)

// packet is what a packet on the link means. sent: of a segment, how it was sent. number: of an acknowledgement, the last
// sending that had arrived. sentAt: of the segment that it answers.
type packet struct {
	flow   *runner
	kind   kind
	sent   *sending
	number int64
	sentAt time.Duration
}

func newWorld(network emulate.Network, all []Options) *world {
	w := &world{
		down: network.Line(emulate.Gateway, emulate.Receiver), up: network.Line(emulate.Receiver, emulate.Gateway),
		wakes: [2]time.Duration{emulate.Never, emulate.Never}, packets: map[*emulate.Packet]packet{},
	}
	for _, options := range all {
		w.flows = append(w.flows, newRunner(w, options))
	}
	return w
}

func (w *world) hasMore() bool {
	for _, r := range w.flows {
		if !r.isOver() {
			return true
		}
	}
	return false
}

// step goes to the next event.
func (w *world) step() {
	next := min(w.wakes[0], w.wakes[1])
	for _, r := range w.flows {
		next = min(next, r.wake())
	}
	w.now = next
	for _, r := range w.flows {
		r.tick()
	}
	for i, line := range []*emulate.Line{w.down, w.up} {
		if w.wakes[i] <= w.now {
			w.run(line, nil)
		}
	}
}

func (w *world) send(line *emulate.Line, bytes int, meaning packet) {
	p := &emulate.Packet{SizeBytes: bytes}
	w.packets[p] = meaning
	w.run(line, p)
}

// run lets a line carry what is due, takes in a packet if there is one, and hands on what came through.
func (w *world) run(line *emulate.Line, in *emulate.Packet) {
	out, wake := line.Step(w.now, in, nil)
	index := 0
	if line == w.up {
		index = 1
	}
	w.wakes[index] = wake
	for _, p := range out {
		meaning := w.packets[p]
		delete(w.packets, p)
		switch {
		case meaning.flow.isOver():
		case p.Lost != emulate.NotLost:
			meaning.flow.vanish(meaning)
		default:
			meaning.flow.arrive(meaning)
		}
	}
}
