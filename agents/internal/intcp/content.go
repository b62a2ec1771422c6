package intcp

import "time"

// Content is what a run moves.
type Content struct {
	Run       uint64
	Name      Name
	Length    uint64 // bytes
	UnitBytes uint16 // how much of it a packet carries: 1,400, or a message's size
}

func (c Content) units() uint32 {
	return uint32((c.Length + uint64(c.UnitBytes) - 1) / uint64(c.UnitBytes))
}

func (c Content) isSound() bool {
	return c.UnitBytes > 0 && c.UnitBytes <= MaxUnitBytes && c.Length > 0 && c.Length/uint64(c.UnitBytes) < 1<<31
}

// unitLength is how long a unit is: the last one may be shorter.
func (c Content) unitLength(unit uint32) int {
	return int(min(uint64(c.UnitBytes), c.Length-uint64(unit)*uint64(c.UnitBytes)))
}

// Counts are what became of the units of a content at a node. Always Arrived = Kept + Consumed + Duplicate + Unasked +
// NoRoom, and Offered = Sent + Evicted + Dropped + what waits.
type Counts struct {
	Arrived, Kept, Consumed, Duplicate, Unasked, NoRoom uint64
	ArrivedBytes                                        uint64
	NewBytes                                            uint64 // of them, those that were pending: they came for the first time

	Offered    uint64 // units that a requester wanted and that were there, at once or later
	FromCache  uint64 // of them, those that were there at once
	Sent       uint64
	Evicted    uint64 // of the cache before they were sent
	Dropped    uint64 // their requester left
	Again      uint64 // sent again on a hop, besides
	SentBytes  uint64 // with what was sent again
	AgainBytes uint64 // of them, those sent again on a hop
	Expired    uint64 // leases that ran out while something waited
	Merged     uint64 // asked for while they were pending: the interest went no further
	Forwarded  uint64 // asked for and passed on
}

func (c Counts) plus(other Counts) Counts {
	c.Arrived += other.Arrived
	c.Kept += other.Kept
	c.Consumed += other.Consumed
	c.Duplicate += other.Duplicate
	c.Unasked += other.Unasked
	c.NoRoom += other.NoRoom
	c.ArrivedBytes += other.ArrivedBytes
	c.NewBytes += other.NewBytes
	c.Offered += other.Offered
	c.FromCache += other.FromCache
	c.Sent += other.Sent
	c.Evicted += other.Evicted
	c.Dropped += other.Dropped
	c.Again += other.Again
	c.SentBytes += other.SentBytes
	c.AgainBytes += other.AgainBytes
	c.Expired += other.Expired
	c.Merged += other.Merged
	c.Forwarded += other.Forwarded
	return c
}

// place is a content at a node: at its origin, on its way, or at its consumer.
type place struct {
	Content
	node     *Node
	key      placeKey
	stream   *Stream // at the origin
	ready    uint32  // units that the origin has
	isMade   bool    // at the origin: as time goes on
	held     *holding
	pending  spans // asked for upstream
	nPending int   // units
	up       *upFlow
	readers  []*reader
	consumer *Consumer
	counts   Counts
	times    Times
	failure  Reason // the neighbour upstream has no more
	born     uint32 // in rising order at a node
	sentEnd  uint32 // one above the highest unit that was sent
	watch    *Watch // at the origin and at the consumer; nil: nobody is told
}

// placeKey tells contents apart. reader is zero where they are shared.
type placeKey struct {
	run    uint64
	name   Name
	reader flowKey
}

// pendingLife is after which an interest that comes a second time is passed on again; againLife where its consumer says
// that it waited in vain.
const (
	pendingLife = 2 * time.Second
	againLife   = 100 * time.Millisecond
)

type fate uint8

const (
	fateReady fate = iota
	fateMerged
	fateForward
	fateQueued
)

// fateOf says what an interest in a unit leads to.
func (p *place) fateOf(now time.Duration, r *reader, unit uint32, isAgain bool) fate {
	switch {
	case r.line.has(unit):
		return fateQueued
	case p.stream != nil && unit < p.ready, p.held != nil && p.held.has(unit):
		return fateReady
	case p.stream != nil:
		return fateMerged
	}
	asked, isPending := p.pending.find(unit)
	if !isPending || now-asked.at >= pendingLife || isAgain && (asked.tries == 0 || now-asked.at >= againLife) {
		return fateForward
	}
	return fateMerged
}

// want is an interest of a requester in units: it is answered, merged with what is pending, or passed on.
func (p *place) want(now time.Duration, r *reader, first, end uint32, goesOn, isAgain bool) {
	for first < end {
		fate, from := p.fateOf(now, r, first, isAgain), first
		for first++; first < end && p.fateOf(now, r, first, isAgain) == fate; first++ {
		}
		units := uint64(first - from)
		switch fate {
		case fateQueued:
		case fateReady:
			r.line.push(from, first)
			p.counts.Offered += units
			p.counts.FromCache += units
		case fateMerged:
			r.wants.put(span{first: from, end: first})
			p.counts.Merged += units
		case fateForward:
			if goesOn {
				r.wants.put(span{first: from, end: first})
				p.counts.Forwarded += units
				p.ask(now, from, first, isAgain)
			}
		}
	}
}

// ask puts units on the list of the next interests.
func (p *place) ask(now time.Duration, first, end uint32, isAgain bool) {
	run := span{first: first, end: end, at: now}
	if isAgain {
		run.tries = 1
	}
	p.setPending(run)
	if p.up != nil {
		p.up.asks.put(span{first: first, end: end, tries: run.tries})
	}
}

func (p *place) setPending(run span) {
	p.nPending -= p.pending.overlap(run.first, run.end)
	p.pending.put(run)
	p.nPending += int(run.units())
}

// arrive takes in a unit from upstream: only what was asked for.
func (p *place) arrive(now time.Duration, unit uint32, bytes []byte) {
	p.counts.Arrived++
	p.counts.ArrivedBytes += uint64(len(bytes))
	p.times.arrived(now)
	asked, isPending := p.pending.find(unit)
	if !isPending {
		if p.hasOrHad(unit) {
			p.counts.Duplicate++
		} else {
			p.counts.Unasked++
		}
		return
	}
	p.counts.NewBytes += uint64(len(bytes))
	if p.consumer != nil && asked.tries == 0 && !p.consumer.isMade {
		p.consumer.trip.add(now, now-asked.at)
	}
	p.pending.remove(unit, unit+1)
	p.nPending--
	if p.consumer != nil {
		p.counts.Consumed++
		p.consumer.take(now, unit, bytes)
		return
	}
	if !p.held.write(unit, bytes) {
		p.counts.NoRoom++
		return
	}
	p.counts.Kept++
	for _, r := range p.readers {
		if r.wants.remove(unit, unit+1) {
			r.line.push(unit, unit+1)
			p.counts.Offered++
		}
	}
}

func (p *place) hasOrHad(unit uint32) bool {
	if p.consumer != nil {
		return p.consumer.has(unit)
	}
	return p.held.has(unit)
}

// read fills a unit's bytes in and says whether they are here.
func (p *place) read(unit uint32, b []byte) bool {
	if p.stream != nil {
		p.stream.Read(uint64(unit)*uint64(p.UnitBytes), b)
		return true
	}
	bytes, isThere := p.held.read(unit, len(b))
	copy(b, bytes)
	return isThere
}

// offer says how many units the origin has from now on.
func (p *place) offer(units uint32) {
	p.ready = max(p.ready, min(units, p.units()))
	for _, r := range p.readers {
		for len(r.wants.list) > 0 && r.wants.list[0].first < p.ready {
			run := r.wants.take(p.ready - r.wants.list[0].first)
			r.line.push(run.first, run.end)
			p.counts.Offered += uint64(run.units())
		}
	}
}

// allowance is the most that upstream may send, in bytes a second: what goes on downstream, and what fills the buffer
// of the neediest requester within a few round trips. flying is what is on its way already, in bytes.
func (p *place) allowance(now, turn time.Duration, flying float64, options *Options) float64 {
	if p.consumer != nil {
		return 1e12
	}
	most := 0.0
	for _, r := range p.readers {
		if r.hasLeft {
			continue
		}
		waits := float64(r.line.total * (int(p.UnitBytes) + dataBytes + headerBytes))
		allowed := r.granted(now)
		if options.ControlsByHop {
			room := options.roomFor(allowed, turn)
			allowed += (room - min(flying, room/2) - waits) / turn.Seconds()
		}
		most = max(most, allowed)
	}
	return most
}

// What waits at a relay before a full hop waits at each relay above it as well, so that a fixed buffer is paid for at every
// hop of the path. Unless an option names one, a relay lets so much wait as keeps its hop busy over one turn of control:
// a share of what goes on in that time, and what lets a flow grow that has just begun.
const (
	leastRoom     = 8 * (MaxDatagramBytes + headerBytes)
	roomShare     = 0.3
	leastRoomRate = 2e6 / 8
	// MostRoom bounds it.
	MostRoom = 150_000
)

// roomFor is what may wait at a relay for a neighbour that takes so much a second.
func (o *Options) roomFor(granted float64, turn time.Duration) float64 {
	if o.BufferBytes > 0 {
		return float64(o.BufferBytes)
	}
	return min(MostRoom, max(leastRoom, turn.Seconds()*max(leastRoomRate, roomShare*granted)))
}

// MostWaiting is what may wait at a relay at most.
func (o *Options) MostWaiting() int {
	if o.BufferBytes > 0 {
		return o.BufferBytes
	}
	return MostRoom
}

func (p *place) removeReader(r *reader) {
	for i, other := range p.readers {
		if other == r {
			p.readers = append(p.readers[:i], p.readers[i+1:]...)
			p.counts.Dropped += uint64(r.line.total)
			return
		}
	}
}
