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
