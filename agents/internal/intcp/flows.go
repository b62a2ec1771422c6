package intcp

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"time"
)

// keptSalts is how many earlier sessions of a hop stay refused.
const keptSalts = 8

// responderFor gives the session of a hop's requester, whose OPEN has a cookie of its address. A requester that started again
// (another salt) takes the place of the one before; one that was replaced does not come back. One that has another address now,
// as behind a NAT that forgot the first one, is the same: its OPEN is newer than all that came before.
func (n *Node) responderFor(hop *served, from Address, salt, sequence uint32) *responder {
	if s := hop.now; s != nil && s.peerSalt == salt && (s.peer == from || sequence > s.interests.highest && n.rebind(s, from)) {
		return s
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
		rtt: newRoundTrip(), passed: hop.passed,
	}
	hop.now = s
	n.senders = append(n.senders, s)
	return s
}

// rebind has a session's flows go to another address, unless somebody there has flows of these numbers.
func (n *Node) rebind(s *responder, to Address) bool {
	for _, r := range s.readers {
		if n.readers[flowKey{to, r.key.flow}] != nil {
			return false
		}
	}
	for _, r := range s.readers {
		before := r.key
		delete(n.readers, before)
		r.key.peer = to
		n.readers[r.key] = r
		if p := r.place; p.key.reader == before {
			delete(n.places, p.key)
			p.key.reader = r.key
			n.places[p.key] = p
		}
	}
	s.peer = to
	return true
}

// admit opens a flow, or says why not, if that is known yet. A second OPEN of a flow changes nothing.
func (n *Node) admit(now time.Duration, s *responder, p *open) (reason Reason, isKnown bool) {
	key := flowKey{s.peer, p.flow}
	if n.readers[key] != nil {
		return 0, true
	}
	content := Content{Run: p.run, Name: p.name, Length: p.length, UnitBytes: p.unitBytes}
	switch {
	case len(n.readers) >= n.policy.MaxFlows:
		n.counts.Refused++
		return ReasonTooManyFlows, true
	case !content.isSound():
		n.counts.Refused++
		return ReasonBadContent, true
	}
	place, reason := n.placeFor(content, key)
	if reason != 0 {
		n.counts.Refused++
		return reason, true
	}
	if place == nil {
		return 0, false
	}
	r := &reader{responder: s, key: key, place: place, heard: now, passed: s.passed[p.name]}
	if r.passed == nil {
		r.passed = new(uint64)
		s.passed[p.name] = r.passed
	}
	n.readers[key] = r
	s.readers = append(s.readers, r)
	place.readers = append(place.readers, r)
	place.dropLeft()
	return 0, true
}

// placeFor finds a content at this node, or makes room for one that is asked for upstream. It gives neither a place nor a reason
// while it is not known which of two that contradict each other there is.
func (n *Node) placeFor(content Content, asker flowKey) (*place, Reason) {
	key := placeKey{run: content.Run, name: content.Name}
	p := n.places[key]
	if p == nil && !n.options[content.Run].SharesCache {
		key.reader = asker
		if p = n.places[key]; p == nil {
			p = n.adopt(key, content)
		}
	}
	if p != nil {
		switch {
		case p.Content == content:
		case !p.isUnproven():
			return nil, ReasonBadContent
		case p.isAsked():
			return nil, 0
		default:
			n.forget(p)
			return n.placeFor(content, asker)
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
	if !n.makeRoom(content.Run) {
		return nil, ReasonTooManyFlows
	}
	p = &place{Content: content, node: n, key: key, held: newHolding(&n.cache, content), born: n.flows}
	n.places[key] = p
	n.openUp(up, p)
	return p, 0
}

// adopt gives a flow what one held whose requester has left the path: where contents are not shared, the neighbour that has its
// place now goes on with it. Otherwise all that is on its way would be asked for from the origin once more. nil: there is none.
func (n *Node) adopt(by placeKey, content Content) *place {
	var found *place
	for _, p := range n.places {
		if p.Content == content && p.isLeft() && (found == nil || p.key.reader.compare(found.key.reader) < 0) { // the same in each repeat
			found = p
		}
	}
	if found != nil {
		delete(n.places, found.key)
		found.key, n.places[by] = by, found
	}
	return found
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
	if n.left = slices.DeleteFunc(n.left, func(other *reader) bool { return other == r }); !r.hasLeft {
		delete(n.readers, r.key)
	}
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

// overdue are flows whose requesters have been silent for long, or gone: in the same order in each repeat of what happened.
func (n *Node) overdue(now time.Duration) (list []*reader) {
	for _, s := range n.senders {
		list = append(list, s.readers...)
	}
	list = append(list, n.left...)
	return slices.DeleteFunc(list, func(r *reader) bool { return now < r.endsAt() })
}

// expire ends flows whose requesters have been silent for long, and what was asked for on behalf of those who have left.
func (n *Node) expire(now time.Duration) {
	if now < n.expireAt {
		return
	}
	n.expireAt = now + time.Second
	for _, r := range n.overdue(now) {
		n.removeReader(r)
	}
	for _, p := range n.places {
		if p.isLeft() {
			p.forgetPending(now - pendingLife)
		}
	}
}

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

// A CLOSE is not acknowledged: it is sent some times, so that the neighbour seldom has to wait for the flow's life to end.
const (
	closeTimes = 3
	closePause = 20 * time.Millisecond
)

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

// End forgets a run: flows, neighbours and what is held of its contents, which is overwritten.
func (n *Node) End(run uint64) {
	for _, p := range n.placesOf(run) {
		p.turnAway(ReasonEnded)
		if p.up != nil {
			n.closeUp(p, ReasonEnded)
		}
		if p.held != nil {
			p.held.wipe()
		}
		delete(n.places, p.key)
	}
	maps.DeleteFunc(n.gone, func(key placeKey, _ *goneContent) bool { return key.run == run })
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
	delete(n.expects, run)
	delete(n.past, run)
	n.wake = 0
}

// placesOf are the contents of a run, in the same order in each repeat of what happened.
func (n *Node) placesOf(run uint64) (list []*place) {
	for key, p := range n.places {
		if key.run == run {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b *place) int {
		return cmp.Or(bytes.Compare(a.key.name[:], b.key.name[:]), a.key.reader.compare(b.key.reader))
	})
	return list
}
