package intcp

import (
	"math"
	"time"
)

// What a requester asks for, and how it says it.

func (s *requester) reportLosses(now time.Duration, out *Outbox) {
	for len(s.losts) > 0 {
		f := s.openFlow()
		if f == nil {
			s.losts = s.losts[:0]
			return
		}
		s.sendInterest(now, f, 0, out)
	}
}

func (s *requester) openFlow() *upFlow {
	for _, f := range s.flows {
		if f.isOpen {
			return f
		}
	}
	return nil
}

func (s *requester) probe(now time.Duration, out *Outbox) {
	s.probedAt = now
	s.counts.Probes++
	for _, f := range s.flows {
		if f.isOpen && !f.place.pending.empty() {
			s.sendInterest(now, f, flagProbe, out)
			if s.backoff >= probesInVain {
				f.reopen(now, out)
			}
			break
		}
	}
	s.backoff++
}

// tellRates renews the leases that were not renewed for a while; those of all flows when there is another rate to share. Each flow
// has its own while: what another one of the hop asks for does not renew it.
func (s *requester) tellRates(now time.Duration, out *Outbox) {
	isNews, keepalive := s.law.isNews, s.keepalive()
	s.law.isNews = false
	for _, f := range s.flows {
		isDue := isNews || now >= f.toldAt+keepalive
		if isDue && f.isOpen && (!f.place.pending.empty() || f.told > 0) {
			s.sendInterest(now, f, 0, out)
		}
	}
}

// shareOut gives each flow its part of the hop's rate: max-min, with what a flow's buffers allow as its most.
func (s *requester) shareOut(now time.Duration) {
	turn := max(2*s.law.rtt.least(), 2*leastWindow)
	left, n := s.law.rate, 0
	for _, f := range s.flows {
		f.share = -1
		if f.isOpen {
			n++
		}
	}
	for changed := true; changed && n > 0; {
		changed = false
		for _, f := range s.flows {
			if f.isOpen && f.share < 0 {
				if most := max(0, f.place.allowance(now, turn, f.told*(s.law.rtt.least()+leastWindow).Seconds(), s.options)); most <= left/float64(n) {
					f.share, left, n, changed = most, left-most, n-1, true
				}
			}
		}
	}
	for _, f := range s.flows {
		if f.isOpen && f.share < 0 {
			f.share = left / float64(n)
		}
	}
}

func (s *requester) sendInterest(now time.Duration, f *upFlow, flags uint16, out *Outbox) {
	s.shareOut(now)
	s.sequence++
	p := &s.node.interest
	*p = interest{ranges: p.ranges[:0], losts: p.losts[:0]}
	a := s.record(s.sequence)
	*a = askedInterest{sequence: s.sequence, at: now, flow: f}
	s.fillLosts(a, p)
	f.fillRanges(a, p)
	if a.isAgain {
		flags |= flagAgain
	}
	if s.echoAt > 0 {
		flags |= flagEcho
		p.echoUs = s.echoUs + micros(now) - micros(s.echoAt)
	}
	p.head = head{kind: kindInterest, flags: flags, flow: f.key.flow, sequence: s.sequence, sentUs: micros(now)}
	p.rateKbps, p.highest, p.ttl = uint32(min(f.share/125, math.MaxUint32)), s.arrivals.highest, ttlHop
	if a.nRanges > 0 {
		p.ttl = ttlFar
	}
	f.told, f.toldAt = f.share, now
	s.sendSealed(p, out)
	if a.nRanges == 0 && a.nLosts == 0 {
		a.sequence = 0
		s.advance()
	}
}

func (s *requester) sendSealed(p *interest, out *Outbox) {
	size := p.size()
	b := out.room(s.hop.Peer, size)
	p.put(b)
	s.sealer.seal(upstream, s.salt, p.sequence, b, size-tagBytes)
	s.sinceInterest = 0
	s.interestBytes += float64(size + headerBytes)
	s.counts.Interests++
	s.counts.InterestBytes += uint64(size)
}

func (s *requester) fillLosts(a *askedInterest, p *interest) {
	a.nLosts = copy(a.losts[:], s.losts)
	s.losts = s.losts[:copy(s.losts, s.losts[a.nLosts:])]
	p.losts = append(p.losts, a.losts[:a.nLosts]...)
}

// fillRanges takes runs of one sort: asked for the first time, or again.
func (f *upFlow) fillRanges(a *askedInterest, p *interest) {
	size, left := uint64(f.place.UnitBytes), uint32(mostAskUnits)
	for a.nRanges < mostRanges && left > 0 && !f.asks.empty() {
		isAgain := f.asks.list[0].tries > 0
		if a.nRanges > 0 && isAgain != a.isAgain {
			return
		}
		run := f.asks.take(min(left, f.requester.node.policy.MaxAskBytes/uint32(size)))
		left -= run.units()
		a.isAgain = isAgain
		a.ranges[a.nRanges] = run
		a.nRanges++
		start := uint64(run.first) * size
		length := min(uint64(run.end)*size, f.place.Length) - start
		p.ranges = append(p.ranges, byteRange{start, uint32(length)})
	}
}
