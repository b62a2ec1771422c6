package intcp

import (
	"slices"
	"time"
)

// How flows are ended and turned away.

// A CLOSE is not acknowledged: it is sent some times, so that the neighbour seldom has to wait for the flow's life to end.
const (
	closeTimes = 3
	closePause = 20 * time.Millisecond
)

// flowClosing is a CLOSE to be sent: upstream by a requester, or downstream by a responder.
type flowClosing struct {
	requester *requester
	responder *responder
	flow      uint32
	reason    Reason
	counts    Counts
	left      int // times that it is sent
	dueAt     time.Duration
}

func (n *Node) closeUp(p *place, reason Reason) {
	f := p.up
	p.up = nil
	p.pending.list, p.nPending = p.pending.list[:0], 0
	delete(n.up, f.key)
	f.requester.flows = slices.DeleteFunc(f.requester.flows, func(other *upFlow) bool { return other == f })
	if f.isOpen {
		n.closings = append(n.closings, flowClosing{requester: f.requester, flow: f.key.flow, reason: reason, counts: p.counts, left: closeTimes})
	}
	n.wake = 0
}

func (n *Node) sendClosings(now time.Duration, out *Outbox) {
	kept := n.closings[:0]
	for _, c := range n.closings {
		if now < c.dueAt {
			kept = append(kept, c)
			continue
		}
		p := closing{head: head{kind: kindClose, flow: c.flow, sentUs: micros(now)}, reason: c.reason}
		if c.requester != nil {
			c.requester.sendClosing(&p, c.counts, out)
		} else {
			c.responder.sendClosing(&p, c.counts, out)
		}
		if c.left--; c.left > 0 {
			c.dueAt = now + closePause
			kept = append(kept, c)
		}
	}
	n.closings = kept
}

func (s *requester) sendClosing(p *closing, counts Counts, out *Outbox) {
	p.units, p.again, p.bytes = counts.Arrived, counts.Duplicate, counts.ArrivedBytes
	s.sequence++
	p.sequence = s.sequence
	b := out.room(s.hop.Peer, closeBytes)
	p.put(b)
	s.sealer.seal(upstream, s.salt, p.sequence, b, closeBytes-tagBytes)
}

func (s *responder) sendClosing(p *closing, counts Counts, out *Outbox) {
	p.units, p.again, p.bytes = counts.Sent, counts.Again, counts.SentBytes
	s.sequence++
	p.sequence = s.sequence
	b := out.room(s.peer, closeBytes)
	p.put(b)
	s.sealer.seal(downstream, s.salt, p.sequence, b, closeBytes-tagBytes)
}

// turnAway tells a neighbour downstream that no more will come.
func (n *Node) turnAway(r *reader, reason Reason) {
	n.closings = append(n.closings, flowClosing{responder: r.responder, flow: r.key.flow, reason: reason, counts: r.place.counts,
		left: closeTimes})
	n.removeReader(r)
	n.wake = 0
}

// onClose ends a flow whose requester has enough, or whose responder has no more.
func (n *Node) onClose(now time.Duration, from Address, h head, b []byte) {
	r := n.readers[flowKey{from, h.flow}]
	if r == nil {
		n.onNoMore(now, from, h, b)
		return
	}
	s := r.responder
	if !s.sealer.holds(upstream, s.peerSalt, h.sequence, b, closeBytes-tagBytes) {
		n.counts.Forged++
		return
	}
	if !s.interests.take(h.sequence) {
		n.counts.Replayed++
		return
	}
	n.removeReader(r)
}

// onNoMore: the neighbour upstream has ended the flow.
func (n *Node) onNoMore(now time.Duration, from Address, h head, b []byte) {
	f := n.up[flowKey{from, h.flow}]
	if f == nil || !f.isOpen {
		n.overhear(from, h, b)
		return
	}
	s := f.requester
	if !s.sealer.holds(downstream, s.peerSalt, h.sequence, b, closeBytes-tagBytes) {
		s.counts.Forged++
		return
	}
	if !s.arrivals.take(h.sequence) {
		s.counts.Replayed++
		return
	}
	f.refused, f.isOpen = parseClosing(h, b).reason, false
	f.place.fail(now, f.refused)
}

// fail passes on that a content will not come: to the consumer here, and to the neighbours downstream.
func (p *place) fail(now time.Duration, reason Reason) {
	if p.consumer != nil {
		p.consumer.end(now, "refused: "+reason.String())
	}
	p.failure = reason
	p.turnAway(reason)
	if p.up != nil { // nobody was there
		p.node.closeUp(p, reason)
	}
}

// turnAway ends the flows of all who ask for a content. Those who have left are told nothing.
func (p *place) turnAway(reason Reason) {
	p.dropLeft()
	for len(p.readers) > 0 {
		p.node.turnAway(p.readers[0], reason)
	}
}
