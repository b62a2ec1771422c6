package pump

import (
	"time"

	"downlink/agents/internal/lab/emulate"
)

// How one course of a pump's ways follows another, while packets of the earlier one are still inside.

// turn begins the course that is due, and looks at the ways.
func (p *Pump) turn() {
	next := p.next.Load()
	switch {
	case next == nil:
	case p.momentOf(next) <= p.now():
		p.look(p.momentOf(next) - 1)
		p.begin(next)
		p.next.CompareAndSwap(next, nil)
		close(next.began)
	case next.closed.Load(): // given up before it began
		next.end()
		p.next.CompareAndSwap(next, nil)
	}
	p.look(p.now())
	p.watchRelays(p.now())
}

func (p *Pump) momentOf(c *course) time.Duration { return c.at.Sub(p.started) }

// begin puts the lines of a new course in the place of the present ones. Packets inside those leave by them.
func (p *Pump) begin(c *course) {
	p.endCourse()
	p.countsLock.Lock()
	defer p.countsLock.Unlock()
	for i := range p.ways {
		p.step(&p.ways[i], nil)
	}
	for i := range p.ways {
		w := &p.ways[i]
		old := *w
		old.counts, old.past = old.Line.Counts(), emulate.Counts{}
		c.drained += old.counts.Queued
		p.draining = append(p.draining, old)
		w.Line, w.zero, w.wake, w.late, w.counts = c.network[i].Line, p.momentOf(c)-c.phase, emulate.Never, 0, emulate.Counts{}
	}
	if p.branches != nil {
		p.branches.Begin(c.seed, p.momentOf(c)-c.phase)
	}
	p.fly(p.momentOf(c), c.network, p.momentOf(c)-c.phase)
	p.course, p.nextLook, p.logBegan = c, p.momentOf(c), p.momentOf(c)
}

// endAll lets nobody wait for a pump that has ended. A course given later finds ended closed.
func (p *Pump) endAll() {
	p.endCourse()
	if p.relaying != nil {
		close(p.relaying.news)
		p.relaying = nil
	}
	if next := p.next.Load(); next != nil {
		next.end()
	}
}

func (p *Pump) endCourse() {
	if p.course != nil {
		p.course.end()
		p.course = nil
	}
}

// drain lets out what is due on earlier courses' lines, and forgets those that are empty.
func (p *Pump) drain() {
	if len(p.draining) == 0 {
		return
	}
	p.countsLock.Lock()
	defer p.countsLock.Unlock()
	left := p.draining[:0]
	for i := range p.draining {
		w := &p.draining[i]
		p.step(w, nil)
		w.counts = w.Line.Counts()
		if w.counts.Queued > 0 {
			left = append(left, *w)
		} else {
			p.ways[w.index].past = p.ways[w.index].past.Plus(w.counts)
		}
	}
	clear(p.draining[len(left):])
	p.draining = left
}

// looks tells whether anybody wants to know what the ways are like.
func (p *Pump) looks() bool { return p.log != nil || p.course != nil }

// look logs what the ways are like at each moment up to now, as if it had come in time.
func (p *Pump) look(now time.Duration) {
	for ; p.looks() && p.nextLook <= now; p.nextLook += logEvery {
		p.rows = p.rows[:0]
		if p.sitting != nil {
			p.runCircuit(p.nextLook, nil, nil)
		}
		for i := range p.ways {
			w := &p.ways[i]
			var look emulate.Look
			look, p.out = w.Line.Look(p.nextLook-w.zero, p.out[:0])
			p.letOut(w, p.out)
			p.rows = append(p.rows, logRow{w.From, w.To, p.nextLook - p.logBegan, w.late, look})
			w.late = 0
		}
		if p.log != nil {
			p.log.add(p.rows)
		}
		if p.course != nil {
			p.course.mixesHops = p.course.mixesHops || p.mixesHops()
			p.course.add(p.nextLook-p.logBegan, p.rows)
		}
	}
	if p.course != nil && p.course.closed.Load() {
		p.endCourse()
	}
}
