package intcp

import (
	"time"
)

// When a requester is next to do something.

// patience grows with each repeat that nothing answers.
func (s *requester) patience() time.Duration { return s.backedOff(s.law.rtt.patience()) }

func (s *requester) backedOff(base time.Duration) time.Duration {
	return max(base, min(mostBackoff, base<<min(s.backoff, 5)))
}

func (s *requester) pending() bool {
	for _, f := range s.flows {
		if f.isOpen && !f.place.pending.empty() {
			return true
		}
	}
	return false
}

// keepalive is how often a hop hears its rate: seldom where interests take too large a share of the bytes.
func (s *requester) keepalive() time.Duration {
	if s.sinceInterest == 0 {
		return idlePause
	}
	if s.interestBytes > interestsShare*s.dataBytes+interestsBurst { // dear: the leases can wait
		return max(s.law.rtt.least(), leastLease/3)
	}
	return max(s.law.rtt.least()/2, leastWindow)
}

// probeAt is when silence on a hop on which something is pending makes a probe.
func (s *requester) probeAt() time.Duration {
	if !s.options.ProbesTails || !s.pending() {
		return never
	}
	return max(s.law.newest, s.probedAt, s.firstAsk()) + s.backedOff(s.law.rtt.silence())
}

// firstAsk is when the oldest of what is pending was asked for.
func (s *requester) firstAsk() time.Duration {
	first := never
	for _, f := range s.flows {
		if f.isOpen && !f.place.pending.empty() {
			first = min(first, f.place.pending.list[0].at)
		}
	}
	return first
}

// wake is when the requester has something to do next.
func (s *requester) wake() time.Duration {
	wake := s.greeting.wake()
	for _, f := range s.flows {
		switch {
		case f.refused != 0:
		case !f.isOpen:
			wake = min(wake, f.openedAt+openPause(f.opens))
		case !f.asks.empty():
			return 0
		case !f.place.pending.empty():
			wake = min(wake, f.toldAt+s.keepalive())
		}
	}
	if len(s.losts) > 0 {
		wake = min(wake, s.lossAt+lossPause)
	}
	if s.law.isNews && s.pending() {
		return 0
	}
	if s.options.RepeatsInterests && s.oldest <= s.sequence {
		if a := s.record(s.oldest); a.sequence == s.oldest {
			wake = min(wake, a.at+s.patience())
		}
	}
	return min(wake, s.probeAt())
}
