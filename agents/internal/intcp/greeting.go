package intcp

import "time"

// greetingFlow is no flow's number: those count from 1.
const greetingFlow = 0

// greeting is an exchange that makes no flow: the neighbour upstream answers an OPEN with a cookie, which shows that each
// reaches the other.
type greeting struct {
	isUnderWay bool
	tries      int
	at         time.Duration
	times      openTimes
}

func (g *greeting) wake() time.Duration {
	switch {
	case !g.isUnderWay:
		return never
	case g.tries == 0:
		return 0
	}
	return g.at + openPause(g.tries)
}

// Greet tries the neighbour upstream, again and again until it answers.
func (n *Node) Greet(run uint64) error {
	s := n.ups[run]
	if s == nil {
		return ErrRun
	}
	s.greeting = greeting{isUnderWay: s.cookie == (cookie{})}
	n.wake = 0
	return nil
}

// IsMet tells whether the neighbour upstream has ever answered.
func (n *Node) IsMet(run uint64) bool {
	s := n.ups[run]
	return s != nil && s.cookie != (cookie{})
}

func (s *requester) greet(now time.Duration, out *Outbox) {
	s.sequence++
	s.greeting.tries++
	s.greeting.at = now
	s.greeting.times.add(now)
	p := open{
		head: head{kind: kindOpen, flow: greetingFlow, sequence: s.sequence, sentUs: micros(now)},
		run:  s.hop.Run, hop: s.hop.Number, unitBytes: MaxUnitBytes, salt: s.salt, length: 1,
	}
	b := out.room(s.hop.Peer, OpenBytes)
	p.put(b)
	s.sealer.seal(upstream, s.salt, p.sequence, b, OpenBytes-tagBytes)
}

// onGreeted keeps the cookie of a greeting's answer.
func (n *Node) onGreeted(now time.Duration, from Address, p *opened, b []byte, out *Outbox) {
	for _, s := range n.askers {
		g := &s.greeting
		trip, isOurs := g.times.trip(now, p.echoUs)
		if !g.isUnderWay || s.hop.Peer != from || p.yours != s.salt || !p.has(flagCookie) || !isOurs {
			continue
		}
		if !s.sealer.holds(stateless, p.salt, p.sequence, b, openedBytes-tagBytes) {
			s.counts.Forged++
			continue
		}
		g.isUnderWay = false
		s.keep(now, p.cookie, trip, out)
	}
}
