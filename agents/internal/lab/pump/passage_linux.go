package pump

import (
	"time"

	"downlink/agents/internal/lab/emulate"
)

// Passage is a packet that comes to a way of the emulator, or is just about to be written to the way's end.
type Passage struct {
	// From and To are the way's ends.
	From, To string
	HasLeft  bool
	At       time.Time
	// Packet is from its IP header on. It is valid during the call.
	Packet []byte
}

// Note tells of every packet, and of how late each one leaves, on the pump's own thread; nil: nobody wants to know. It is for
// tests and benchmarks.
func (p *Pump) Note(passage func(Passage), lateness func(late time.Duration)) error {
	return p.do(func() { p.note, p.noteLate = passage, lateness })
}

func (p *Pump) tellPassage(w *way, packet *emulate.Packet, hasLeft bool) {
	if p.note != nil {
		p.note(Passage{w.From, w.To, hasLeft, time.Now(), packet.Data})
	}
}
