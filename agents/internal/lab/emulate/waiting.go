package emulate

import "time"

// waiting holds packets in the order in which they are due: a ring that grows by doubling.
type waiting struct {
	ring []*Packet // length is a power of two
	head int
	n    int
}

func (w *waiting) at(i int) **Packet { return &w.ring[(w.head+i)&(len(w.ring)-1)] }

// put inserts p behind every packet that is due no later. Packets mostly come in order, so the search starts at the tail.
func (w *waiting) put(p *Packet) {
	if w.n == len(w.ring) {
		w.grow()
	}
	i := w.n
	w.n++
	for ; i > 0 && (*w.at(i - 1)).due > p.due; i-- {
		*w.at(i) = *w.at(i - 1)
	}
	*w.at(i) = p
}

func (w *waiting) grow() {
	bigger := make([]*Packet, max(64, 2*len(w.ring)))
	for i := range w.n {
		bigger[i] = *w.at(i)
	}
	w.ring, w.head = bigger, 0
}

// take removes the first packet if it is due at now. wake is when the next one is due.
func (w *waiting) take(now time.Duration) (p *Packet, wake time.Duration) {
	if w.next() <= now {
		p = *w.at(0)
		*w.at(0) = nil
		w.head = (w.head + 1) & (len(w.ring) - 1)
		w.n--
	}
	return p, w.next()
}

// next is when the first packet is due.
func (w *waiting) next() time.Duration {
	if w.n == 0 {
		return Never
	}
	return (*w.at(0)).due
}
