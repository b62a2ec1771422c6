package intcp

import (
	"slices"
	"time"
)

// keptSalts is how many earlier sessions of a hop stay refused.
const keptSalts = 8

// responderFor gives the session of a hop's requester. A requester that began anew (another salt) takes the place of the
// one before; one that was replaced does not come back.
func (n *Node) responderFor(hop *served, from Address, salt uint32) *responder {
	if hop.now != nil && hop.now.peer == from && hop.now.peerSalt == salt {
		return hop.now
	}
	if slices.Contains(hop.salts, salt) {
		return nil
	}
	if len(hop.salts) == keptSalts {
		hop.salts = append(hop.salts[:0], hop.salts[1:]...)
	}
	hop.salts = append(hop.salts, salt)
	if hop.now != nil {
		n.removeResponder(hop.now)
	}
	n.salts++
	s := &responder{
		node: n, hop: hop.Hop, options: n.options[hop.Run], sealer: hop.sealer, peer: from, salt: n.salts, peerSalt: salt,
		rtt: newRoundTrip(),
	}
	hop.now = s
	n.senders = append(n.senders, s)
	return s
}

// admit opens a flow, or says why not. A second OPEN of a flow changes nothing.
func (n *Node) admit(now time.Duration, s *responder, p *open) Reason {
	key := flowKey{s.peer, p.flow}
	if n.readers[key] != nil {
		return 0
	}
	content := Content{Run: p.run, Name: p.name, Length: p.length, UnitBytes: p.unitBytes}
	switch {
	case len(n.readers) >= n.policy.MaxFlows:
		n.counts.Refused++
		return ReasonTooManyFlows
	case !content.isSound():
		n.counts.Refused++
		return ReasonBadContent
	}
	place, reason := n.placeFor(content, key)
	if reason != 0 {
		n.counts.Refused++
		return reason
	}
	r := &reader{responder: s, key: key, place: place, heard: now}
	n.readers[key] = r
	s.readers = append(s.readers, r)
	place.readers = append(place.readers, r)
	return 0
}

// placeFor finds a content at this node, or makes room for one that is asked for upstream.
func (n *Node) placeFor(content Content, asker flowKey) (*place, Reason) {
	key := placeKey{run: content.Run, name: content.Name}
	p := n.places[key]
	if p == nil && !n.options[content.Run].SharesCache {
		key.reader = asker
		p = n.places[key]
	}
	if p != nil {
		if p.Content != content {
			return nil, ReasonBadContent
		}
		if p.consumer != nil {
			return nil, ReasonNoContent
		}
		if p.up == nil && p.stream == nil && n.ups[content.Run] != nil {
			n.openUp(n.ups[content.Run], p)
		}
		return p, 0
	}
	up := n.ups[content.Run]
	if up == nil {
		return nil, ReasonNoContent
	}
	p = &place{Content: content, node: n, key: key, held: newHolding(&n.cache, int(content.UnitBytes))}
	n.places[key] = p
	n.openUp(up, p)
	return p, 0
}

func (n *Node) removeResponder(s *responder) {
	for len(s.readers) > 0 {
		n.removeReader(s.readers[0])
	}
	n.senders = slices.DeleteFunc(n.senders, func(other *responder) bool { return other == s })
}

// removeReader ends a flow to a neighbour. A content that nobody asks for any longer is no longer asked for upstream;
// what is held of it stays until the run ends.
func (n *Node) removeReader(r *reader) {
	delete(n.readers, r.key)
	s := r.responder
	s.readers = slices.DeleteFunc(s.readers, func(other *reader) bool { return other == r })
	for i := range s.log {
		if s.log[i].reader == r {
			s.log[i].reader = nil
		}
	}
	r.place.removeReader(r)
	if len(r.place.readers) == 0 && r.place.up != nil {
		n.closeUp(r.place, ReasonDone)
	}
}

// expire ends flows whose requesters have been silent for long.
func (n *Node) expire(now time.Duration) {
	if now < n.expireAt {
		return
	}
	n.expireAt = now + time.Second
	for _, r := range n.readers {
		if now >= r.heard+readerLife {
			n.removeReader(r)
		}
	}
}

type flowClosing struct {
	requester *requester
	flow      uint32
	reason    Reason
	counts    Counts
}

func (n *Node) closeUp(p *place, reason Reason) {
	f := p.up
	p.up = nil
	p.pending.list, p.nPending = p.pending.list[:0], 0
	delete(n.up, f.key)
	f.requester.flows = slices.DeleteFunc(f.requester.flows, func(other *upFlow) bool { return other == f })
	if f.isOpen {
		n.closings = append(n.closings, flowClosing{requester: f.requester, flow: f.key.flow, reason: reason, counts: p.counts})
	}
	n.wake = 0
}

func (n *Node) sendClosings(now time.Duration, out *Outbox) {
	for _, c := range n.closings {
		p := closing{head: head{kind: kindClose, flow: c.flow, sentUs: micros(now)}, reason: c.reason}
		p.units, p.again, p.bytes = c.counts.Arrived, c.counts.Duplicate, c.counts.ArrivedBytes
		s := c.requester
		s.sequence++
		p.sequence = s.sequence
		b := out.room(s.hop.Peer, closeBytes)
		p.put(b)
		s.sealer.seal(upstream, s.salt, p.sequence, b, closeBytes-tagBytes)
	}
	n.closings = n.closings[:0]
}

// onClose ends a flow whose requester has enough.
func (n *Node) onClose(_ time.Duration, from Address, h head, b []byte) {
	r := n.readers[flowKey{from, h.flow}]
	if r == nil {
		n.counts.Unknown++
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

// fail passes on that a content will not come: to the consumer here.
func (p *place) fail(now time.Duration, reason Reason) {
	if p.consumer != nil {
		p.consumer.end(now, "refused: "+reason.String())
	}
}

// End forgets a run: flows, neighbours and what is held of its contents, which is overwritten.
func (n *Node) End(run uint64) {
	for key, p := range n.places {
		if key.run != run {
			continue
		}
		for len(p.readers) > 0 {
			n.removeReader(p.readers[0])
		}
		if p.up != nil {
			n.closeUp(p, ReasonEnded)
		}
		if p.held != nil {
			p.held.wipe()
		}
		delete(n.places, key)
	}
	for key, hop := range n.hops {
		if key.run == run {
			if hop.now != nil {
				n.removeResponder(hop.now)
			}
			delete(n.hops, key)
		}
	}
	if s := n.ups[run]; s != nil {
		n.forgetAsker(s)
		delete(n.ups, run)
	}
	n.wanting = slices.DeleteFunc(n.wanting, func(c *Consumer) bool { return c.place.Run == run })
	delete(n.options, run)
	n.wake = 0
}

// Counts are what the node refused so far.
func (n *Node) Counts() NodeCounts {
	counts := n.counts
	counts.Evicted, counts.HeldBytes, counts.Flows = n.cache.evicted, n.cache.usedBytes, len(n.readers)
	return counts
}

// HopCounts are what the requester of a run saw of its hop.
func (n *Node) HopCounts(run uint64) HopCounts {
	s := n.ups[run]
	if s == nil {
		return HopCounts{}
	}
	counts := s.counts
	counts.RTT, counts.LeastRTT, counts.Queue, counts.Patience = s.law.rtt.smooth, s.law.rtt.least(), s.law.queue(), s.law.rtt.patience()
	counts.RateBps, counts.LossFloor = s.law.rate*8, s.law.lossFloor()
	return counts
}

// ContentCounts are what became of a content's units, and how many wait to be sent.
func (n *Node) ContentCounts(run uint64, name Name) (counts Counts, waiting int) {
	for key, p := range n.places {
		if key.run == run && key.name == name {
			counts = counts.plus(p.counts)
			for _, r := range p.readers {
				waiting += r.line.total
			}
		}
	}
	return counts, waiting
}
