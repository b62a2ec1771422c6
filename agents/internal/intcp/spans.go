package intcp

import (
	"sort"
	"time"
)

// span is a run of units, from first up to but not including end.
type span struct {
	first, end uint32
	at         time.Duration // when it was asked for
	tries      uint8
}

func (s span) units() uint32 { return s.end - s.first }

// spans is a set of units, as runs in order that do not overlap.
type spans struct{ list []span }

func (s *spans) empty() bool { return len(s.list) == 0 }

func (s *spans) units() (n int) {
	for _, run := range s.list {
		n += int(run.units())
	}
	return n
}

// search is the first run that ends above a unit.
func (s *spans) search(unit uint32) int {
	if len(s.list) > 0 && s.list[0].end > unit { // the usual case: data come in order
		return 0
	}
	return sort.Search(len(s.list), func(i int) bool { return s.list[i].end > unit })
}

// find gives the run that holds a unit.
func (s *spans) find(unit uint32) (*span, bool) {
	if i := s.search(unit); i < len(s.list) && s.list[i].first <= unit {
		return &s.list[i], true
	}
	return nil, false
}

func (s *spans) has(unit uint32) bool {
	_, found := s.find(unit)
	return found
}

// put replaces whatever the set holds of a run by that run.
func (s *spans) put(run span) {
	s.remove(run.first, run.end)
	i := s.search(run.first)
	if i > 0 && s.list[i-1].joins(run) {
		s.list[i-1].end = run.end
		if i < len(s.list) && s.list[i-1].joins(s.list[i]) {
			s.list[i-1].end = s.list[i].end
			s.list = append(s.list[:i], s.list[i+1:]...)
		}
		return
	}
	if i < len(s.list) && run.joins(s.list[i]) {
		s.list[i].first = run.first
		return
	}
	s.list = append(s.list, span{})
	copy(s.list[i+1:], s.list[i:])
	s.list[i] = run
}

func (s span) joins(next span) bool {
	return s.end == next.first && s.at == next.at && s.tries == next.tries
}

// remove takes out what the set holds of a run and says whether that was anything.
func (s *spans) remove(first, end uint32) bool {
	i := s.search(first)
	if i == len(s.list) || s.list[i].first >= end {
		return false
	}
	if run := s.list[i]; run.first < first {
		s.list[i].end = first
		i++
		if run.end > end { // a hole in the middle
			s.list = append(s.list, span{})
			copy(s.list[i+1:], s.list[i:])
			s.list[i] = span{end, run.end, run.at, run.tries}
			return true
		}
	}
	j := i
	for j < len(s.list) && s.list[j].end <= end {
		j++
	}
	if j < len(s.list) && s.list[j].first < end {
		s.list[j].first = end
	}
	s.list = append(s.list[:i], s.list[j:]...)
	return true
}

// overlap is how many units of a run the set holds.
func (s *spans) overlap(first, end uint32) (n int) {
	for i := s.search(first); i < len(s.list) && s.list[i].first < end; i++ {
		n += int(min(s.list[i].end, end) - max(s.list[i].first, first))
	}
	return n
}

// take removes and gives up to limit units from the front of a set that is not empty.
func (s *spans) take(limit uint32) span {
	run := s.list[0]
	run.end = min(run.end, run.first+limit)
	s.remove(run.first, run.end)
	return run
}

// queue is a first-in first-out line of runs of units.
type queue struct {
	ring        []span
	head, count int
	total       int // units
}

func (q *queue) push(first, end uint32) {
	q.total += int(end - first)
	if q.count > 0 {
		if last := &q.ring[(q.head+q.count-1)%len(q.ring)]; last.end == first {
			last.end = end
			return
		}
	}
	if q.count == len(q.ring) {
		q.grow()
	}
	q.ring[(q.head+q.count)%len(q.ring)] = span{first: first, end: end}
	q.count++
}

func (q *queue) grow() {
	larger := make([]span, max(16, 2*len(q.ring)))
	for i := range q.count {
		larger[i] = q.ring[(q.head+i)%len(q.ring)]
	}
	q.ring, q.head = larger, 0
}

func (q *queue) pop() (unit uint32, any bool) {
	if q.count == 0 {
		return 0, false
	}
	front := &q.ring[q.head]
	unit = front.first
	front.first++
	q.total--
	if front.first == front.end {
		q.head = (q.head + 1) % len(q.ring)
		q.count--
	}
	return unit, true
}

// line is a queue that knows what waits in it.
type line struct {
	queue
	waits spans
}

func (l *line) push(first, end uint32) {
	l.queue.push(first, end)
	l.waits.put(span{first: first, end: end})
}

func (l *line) pop() (unit uint32, any bool) {
	if unit, any = l.queue.pop(); any {
		l.waits.remove(unit, unit+1)
	}
	return unit, any
}

func (l *line) has(unit uint32) bool { return l.waits.has(unit) }
