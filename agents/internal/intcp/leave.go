package intcp

import (
	"slices"
	"time"
)

// How a node takes part in a path that changes.

// Part ends the service of a hop whose requester has left the path: nothing is sent to it any more. What it asked for and
// has not got is forgotten, and contents stay open for later requesters, for as long as a silent requester would have.
func (n *Node) Part(run uint64, number uint16) {
	key := hopKey{run, number}
	hop := n.hops[key]
	delete(n.hops, key)
	if hop == nil || hop.now == nil {
		return
	}
	for _, r := range hop.now.readers {
		r.silence()
	}
	n.left = append(n.left, hop.now.readers...) // until another one is there
	hop.now.log, n.wake = nil, 0
	n.senders = slices.DeleteFunc(n.senders, func(s *responder) bool { return s == hop.now })
}

// silence lets a reader wait for nothing.
func (r *reader) silence() {
	delete(r.place.node.readers, r.key)
	r.hasLeft = true
	r.place.counts.Dropped += uint64(r.line.total)
	r.line, r.resends, r.wants.list = line{}, queue{}, r.wants.list[:0]
}

// isAsked: somebody on the path asks for it.
func (p *place) isAsked() bool {
	return slices.ContainsFunc(p.readers, func(r *reader) bool { return !r.hasLeft })
}

// isLeft: its requester has left the path.
func (p *place) isLeft() bool { return len(p.readers) > 0 && !p.isAsked() }

// forgetPending stops the wait for what was asked for before a moment. Nobody would ask again for what got lost, and the hop
// would be probed until the run ends.
func (p *place) forgetPending(before time.Duration) {
	p.pending.list = slices.DeleteFunc(p.pending.list, func(run span) bool { return run.at < before })
	p.nPending = p.pending.units()
}

// dropLeft forgets the readers of a content that have left the path, once another one is there.
func (p *place) dropLeft() {
	isGone := func(r *reader) bool { return r.hasLeft && r.place == p }
	p.readers = slices.DeleteFunc(p.readers, isGone)
	p.node.left = slices.DeleteFunc(p.node.left, isGone)
}

// Caller is a flow of a neighbour downstream.
type Caller struct {
	Address Address
	Flow    uint32
}

// calling is a caller that is to be told that this node has the place of another one.
type calling struct {
	hop *served
	Caller
}

// Callers are the flows that are asked for over a hop.
func (n *Node) Callers(run uint64, number uint16) (callers []Caller) {
	if hop := n.hops[hopKey{run, number}]; hop != nil && hop.now != nil {
		for _, r := range hop.now.readers {
			callers = append(callers, Caller{r.key.peer, r.key.flow})
		}
	}
	return callers
}

// Call tells those who asked another node over a hop that this one has its place now: they open again at once.
func (n *Node) Call(run uint64, number uint16, callers []Caller) {
	if hop := n.hops[hopKey{run, number}]; hop != nil {
		for _, c := range callers {
			n.calls = append(n.calls, calling{hop, c})
		}
		n.wake = 0
	}
}

// sendCalls has the hop's key say it: nobody else can.
func (n *Node) sendCalls(now time.Duration, out *Outbox) {
	for _, c := range n.calls {
		if n.hops[hopKey{c.hop.Run, c.hop.Number}] == c.hop {
			n.call(now, c.hop.sealer, c.Caller, out)
		}
	}
	n.calls = n.calls[:0]
}

func (n *Node) call(now time.Duration, by *sealer, c Caller, out *Outbox) {
	n.statelessSequence++
	p := refused{head{kind: kindRefused, flow: c.Flow, sequence: n.statelessSequence, sentUs: micros(now)}, ReasonMoved, n.salt}
	b := out.room(c.Address, refusedBytes)
	p.put(b)
	by.seal(stateless, n.salt, p.sequence, b, refusedBytes-tagBytes)
}

// callMoved has a requester open again that asks from another address than before: its interest is new, and the tag holds. It
// changes nothing here, and its answer is shorter than it.
func (n *Node) callMoved(now time.Duration, from Address, h head, b []byte, out *Outbox) {
	for _, s := range n.senders {
		isOfIt := func(r *reader) bool { return r.key.flow == h.flow && r.key.peer != from }
		if h.sequence > s.interests.highest && slices.ContainsFunc(s.readers, isOfIt) &&
			s.sealer.holds(upstream, s.peerSalt, h.sequence, b, len(b)-tagBytes) {
			n.call(now, s.sealer, Caller{from, h.flow}, out)
			return
		}
	}
}

// onCall opens again: another node has the neighbour's place. Repeating an old call gains an OPEN a second.
func (f *upFlow) onCall(now time.Duration, out *Outbox) {
	if f.isOpen && !f.reopens {
		f.reopen(now, out)
	}
}

// Rest lets the node leave the path of a run: it forgets its neighbours without a word to them, and keeps what it holds.
// Ask and Serve bring it back.
func (n *Node) Rest(run uint64) {
	for key := range n.hops {
		if key.run == run {
			n.Part(run, key.number)
		}
	}
	for _, p := range n.places {
		if p.Run != run {
			continue
		}
		p.dropLeft()
		if f := p.up; f != nil {
			delete(n.up, f.key)
			p.up = nil
		}
		p.pending.list, p.nPending = p.pending.list[:0], 0
	}
	n.closings = slices.DeleteFunc(n.closings, func(c flowClosing) bool {
		return c.requester != nil && c.requester.hop.Run == run || c.responder != nil && c.responder.hop.Run == run
	})
	if s := n.ups[run]; s != nil {
		n.forgetAsker(s)
		delete(n.ups, run)
	}
	n.expects[run] = true
	n.wake = 0
}

// With joins what two hops of a path were like: their counts, and the times that one after the other takes.
func (c HopCounts) With(other HopCounts) HopCounts {
	c = c.plus(other)
	c.RTT += other.RTT
	c.LeastRTT += other.LeastRTT
	c.Queue += other.Queue
	return c
}

// plus adds what was seen of an earlier neighbour. What holds now is the newer one's.
func (c HopCounts) plus(other HopCounts) HopCounts {
	c.Packets += other.Packets
	c.Bytes += other.Bytes
	c.Lost += other.Lost
	c.Resent += other.Resent
	c.Replayed += other.Replayed
	c.Forged += other.Forged
	c.Interests += other.Interests
	c.InterestBytes += other.InterestBytes
	c.RepeatedInterests += other.RepeatedInterests
	c.Probes += other.Probes
	return c
}
