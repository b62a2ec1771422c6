package intcp

import "time"

func (f *upFlow) sendOpen(now time.Duration, out *Outbox) {
	s, content := f.requester, f.place.Content
	s.sequence++
	p := open{
		head: head{kind: kindOpen, flow: f.key.flow, sequence: s.sequence, sentUs: micros(now)},
		run:  s.hop.Run, hop: s.hop.Number, unitBytes: content.UnitBytes, salt: s.salt, cookie: s.cookie,
		name: content.Name, length: content.Length,
	}
	if s.cookie != (cookie{}) {
		p.flags |= flagCookie
	}
	b := out.room(s.hop.Peer, OpenBytes)
	p.put(b)
	s.sealer.seal(upstream, s.salt, p.sequence, b, OpenBytes-tagBytes)
	f.openedAt = now
	f.opened.add(now)
	f.opens++
}

// onOpen answers a peer that knows the key of a hop: first with a cookie, then with a flow.
func (n *Node) onOpen(now time.Duration, from Address, h head, b []byte, out *Outbox) {
	p := parseOpen(h, b)
	hop := n.hops[hopKey{p.run, p.hop}]
	if hop == nil || !hop.sealer.holds(upstream, p.salt, p.sequence, b, OpenBytes-tagBytes) {
		n.refuseStranger(now, from, &p, out)
		return
	}
	if !p.has(flagCookie) || !n.cookies.holds(now, p.cookie, from, p.run, p.hop) {
		n.sendCookie(now, from, hop, &p, out)
		return
	}
	if n.expects[p.run] {
		return
	}
	s := n.responderFor(hop, from, p.salt, p.sequence)
	if s == nil || !s.interests.take(p.sequence) {
		n.counts.Replayed++
		return
	}
	reason, isKnown := n.admit(now, s, &p)
	switch {
	case !isKnown: // the peer asks again
	case reason != 0:
		s.refuse(now, p.flow, reason, out)
	default:
		s.sendOpened(now, &p, out)
	}
}

// refuseStranger says no, in fewer bytes than were asked with and not often.
func (n *Node) refuseStranger(now time.Duration, from Address, p *open, out *Outbox) {
	n.counts.Strangers++
	if now < n.nextRefusal || n.policy.MaxRefusals <= 0 {
		return
	}
	n.nextRefusal = now + time.Second/time.Duration(n.policy.MaxRefusals)
	answer := refused{head{kind: kindRefused, flow: p.flow, sentUs: p.sentUs}, ReasonUnknownRun, p.salt}
	b := out.room(from, refusedBytes)
	answer.put(b)
	clear(b[refusedBytes-tagBytes:])
}

func (n *Node) sendCookie(now time.Duration, from Address, hop *served, p *open, out *Outbox) {
	n.statelessSequence++
	answer := opened{
		head: head{kind: kindOpened, flags: flagCookie, flow: p.flow, sequence: n.statelessSequence, sentUs: micros(now)},
		salt: n.salt, yours: p.salt, echoUs: p.sentUs, cookie: n.cookies.of(now, from, p.run, p.hop),
	}
	b := out.room(from, openedBytes)
	answer.put(b)
	hop.sealer.seal(stateless, n.salt, answer.sequence, b, openedBytes-tagBytes)
}

func (s *responder) sendOpened(now time.Duration, p *open, out *Outbox) {
	s.sequence++
	answer := opened{
		head: head{kind: kindOpened, flow: p.flow, sequence: s.sequence, sentUs: micros(now)},
		salt: s.salt, yours: p.salt, echoUs: p.sentUs,
	}
	b := out.room(s.peer, openedBytes)
	answer.put(b)
	s.sealer.seal(downstream, s.salt, s.sequence, b, openedBytes-tagBytes)
}

func (s *responder) refuse(now time.Duration, flow uint32, reason Reason, out *Outbox) {
	s.sequence++
	p := refused{head{kind: kindRefused, flow: flow, sequence: s.sequence, sentUs: micros(now)}, reason, s.salt}
	b := out.room(s.peer, refusedBytes)
	p.put(b)
	s.sealer.seal(downstream, s.salt, s.sequence, b, refusedBytes-tagBytes)
}

// onOpened goes on with an OPEN: with the cookie, or with interests.
func (n *Node) onOpened(now time.Duration, from Address, h head, b []byte, out *Outbox) {
	p := parseOpened(h, b)
	if p.flow == greetingFlow {
		n.onGreeted(now, from, &p, b, out)
		return
	}
	f := n.up[flowKey{from, p.flow}]
	if f == nil {
		n.overhear(from, h, b)
		return
	}
	s, direction := f.requester, downstream
	if p.has(flagCookie) {
		direction = stateless
	}
	trip, isOurs := f.opened.trip(now, p.echoUs)
	isAwaited := isOurs && p.yours == s.salt && (!f.isOpen || f.reopens)
	switch {
	case !isAwaited && (p.has(flagCookie) || p.salt != s.peerSalt):
	case !s.sealer.holds(direction, p.salt, p.sequence, b, openedBytes-tagBytes):
		s.counts.Forged++
	case p.has(flagCookie):
		s.keep(now, p.cookie, trip, out)
	case p.salt == s.peerSalt && !s.arrivals.take(p.sequence):
		s.counts.Replayed++
	case isAwaited:
		s.begin(now, trip)
		s.accept(now, f, &p)
	}
}

// overhear notes the sequence of a packet for a flow that has ended here, or is not open: it is not lost.
func (n *Node) overhear(from Address, h head, b []byte) {
	n.counts.Unknown++
	for _, s := range n.askers {
		if s.hop.Peer == from && s.peerSalt != 0 && s.sealer.holds(downstream, s.peerSalt, h.sequence, b, authentic(h.kind, len(b))) {
			s.arrivals.take(h.sequence)
		}
	}
}

// begin sets the first rate, if there is none yet.
func (s *requester) begin(now, trip time.Duration) {
	if s.law.rate == 0 {
		s.law.begin(trip, now)
	}
}

// keep takes a cookie. Flows that wait to open do so at once; the answers to other OPENs without one make no more of them.
func (s *requester) keep(now time.Duration, shown cookie, trip time.Duration, out *Outbox) {
	s.begin(now, trip)
	if s.cookie == shown {
		return
	}
	s.cookie = shown
	for _, f := range s.flows {
		if f.opens > 0 && f.refused == 0 && (!f.isOpen || f.reopens) {
			f.sendOpen(now, out)
		}
	}
}

func (s *requester) accept(now time.Duration, f *upFlow, p *opened) {
	f.reopens, f.opens, f.opened = false, 0, openTimes{}
	if f.isOpen && p.salt == s.peerSalt { // the neighbour is still the same
		return
	}
	if p.salt != s.peerSalt {
		s.meet(p.salt)
		s.arrivals.take(p.sequence)
		s.arrivals.judged = p.sequence - 1 // what it said before, as that another flow is refused, was not for this session
	}
	f.isOpen = true
	if c := f.place.consumer; c != nil {
		c.newest, c.silentFor = max(c.newest, now), 0
	}
	if !f.waits {
		f.askPending(0, 1<<32-1, false)
	}
	if s.probedAt == 0 {
		s.probedAt = now
	}
}

// meet begins with a responder that knows nothing of this hop: the first one, or one that has started again. Other flows of
// the hop have to open again.
func (s *requester) meet(salt uint32) {
	isFirst := s.peerSalt == 0
	s.peerSalt, s.law.isAnew = salt, !isFirst
	s.arrivals = arrivals{holePackets: s.options.HolePackets}
	s.acked, s.ackedBits, s.losts = 0, 0, s.losts[:0]
	for s.oldest <= s.sequence {
		s.forget(s.oldest)
		s.oldest++
	}
	for _, f := range s.flows {
		f.isOpen = false
		if !isFirst { // what the earlier one still answers no longer counts
			f.opens, f.opened = 0, openTimes{}
		}
	}
}

// reopen asks whether the neighbour still knows the flow, after probes in vain.
func (f *upFlow) reopen(now time.Duration, out *Outbox) {
	if now >= f.openedAt+mostOpenPause {
		if !f.reopens { // what was asked earlier was answered by whom the flow knows
			f.reopens, f.opened = true, openTimes{}
		}
		f.sendOpen(now, out)
	}
}

func (n *Node) onRefused(now time.Duration, from Address, h head, b []byte, out *Outbox) {
	p := parseRefused(h, b)
	f := n.up[flowKey{from, p.flow}]
	if f == nil {
		n.overhear(from, h, b)
		return
	}
	if p.reason == ReasonMoved && f.requester.sealer.holds(stateless, p.salt, p.sequence, b, refusedBytes-tagBytes) {
		f.onCall(now, out)
		return
	}
	s := f.requester
	if !s.sealer.holds(downstream, p.salt, p.sequence, b, refusedBytes-tagBytes) {
		s.counts.Forged++ // or of a node that does not know the run: OPENs go on until somebody gives up
		return
	}
	if p.salt == s.peerSalt && !s.arrivals.take(p.sequence) {
		s.counts.Replayed++
		return
	}
	f.refused, f.isOpen = p.reason, false
	f.place.fail(now, p.reason)
}
