package intcp

import "time"

// Times are when a content's units passed a node; 0 for what never came.
type Times struct{ FirstSent, LastSent, FirstArrived, LastArrived time.Duration }

func (t *Times) sent(now time.Duration) {
	if t.FirstSent == 0 {
		t.FirstSent = now
	}
	t.LastSent = now
}

func (t *Times) arrived(now time.Duration) {
	if t.FirstArrived == 0 {
		t.FirstArrived = now
	}
	t.LastArrived = now
}

// Look is a content at a node as it is now.
type Look struct {
	Counts
	Times
	ReachedBytes   uint64        // one above the highest byte that was sent
	PassedBytes    uint64        // that were sent, each once for everybody who asked
	Peer           Address       // of a neighbour that asks for it
	Readers        int           // neighbours that ask for it
	Heard          time.Duration // the newest interest in it
	WaitingBytes   int           // here, to be sent
	PendingBytes   int           // asked for upstream and not come
	GrantedBps     float64       // that neighbours may be sent, in bits of IP packets a second
	AskedBps       float64       // of the neighbour upstream
	RTT            time.Duration // of the hop to a neighbour that asks; 0: not known yet
	IsOpenUpstream bool
	Refused        Reason // by the neighbour upstream
}

// Look looks at a content of a run.
func (n *Node) Look(now time.Duration, run uint64, name Name) (l Look) {
	for key, p := range n.places {
		if key.run != run || key.name != name {
			continue
		}
		l.Counts = l.plus(p.counts)
		l.Times = l.with(p.times)
		l.PendingBytes += p.nPending * int(p.UnitBytes)
		for _, r := range p.readers {
			if l.Heard = max(l.Heard, r.heard); r.hasLeft {
				continue
			}
			l.Readers++
			l.Peer = r.key.peer
			l.WaitingBytes += (r.line.total + r.resends.total) * int(p.UnitBytes)
			l.GrantedBps += 8 * r.granted(now)
			if trip := &r.responder.rtt; trip.lows.any {
				l.RTT = trip.smooth
			}
		}
		if p.up != nil {
			l.AskedBps += 8 * p.up.told
			l.IsOpenUpstream = l.IsOpenUpstream || p.up.isOpen
		}
		l.Refused = max(l.Refused, p.failure)
		l.ReachedBytes += min(uint64(p.sentEnd)*uint64(p.UnitBytes), p.Length)
	}
	if gone := n.gone[placeKey{run: run, name: name}]; gone != nil {
		l.Counts, l.Times = l.plus(gone.counts), l.with(gone.times)
		l.ReachedBytes += gone.reachedBytes
	}
	l.PassedBytes = l.SentBytes - l.AgainBytes
	return l
}

// Passed looks at a hop on which the node answers: how many of a content's bytes were sent there, each once for each who asked,
// since Serve, and how many flows ask for it now.
func (n *Node) Passed(run uint64, number uint16, name Name) (bytes uint64, readers int) {
	hop := n.hops[hopKey{run, number}]
	if hop == nil {
		return 0, 0
	}
	if passed := hop.passed[name]; passed != nil {
		bytes = *passed
	}
	if hop.now != nil {
		for _, r := range hop.now.readers {
			if r.place.Name == name {
				readers++
			}
		}
	}
	return bytes, readers
}

// With joins what two nodes of a path say of a content.
func (l Look) With(other Look) Look {
	l.Counts, l.Times = l.plus(other.Counts), l.with(other.Times)
	l.ReachedBytes, l.Heard = max(l.ReachedBytes, other.ReachedBytes), max(l.Heard, other.Heard)
	l.WaitingBytes += other.WaitingBytes
	l.PendingBytes += other.PendingBytes
	l.Refused = max(l.Refused, other.Refused)
	return l
}

func (t Times) with(other Times) Times {
	first := func(a, b time.Duration) time.Duration {
		if a == 0 || b == 0 {
			return max(a, b)
		}
		return min(a, b)
	}
	return Times{
		FirstSent: first(t.FirstSent, other.FirstSent), LastSent: max(t.LastSent, other.LastSent),
		FirstArrived: first(t.FirstArrived, other.FirstArrived), LastArrived: max(t.LastArrived, other.LastArrived),
	}
}

// Withhold ends what the origin of a content gives: from now on nothing leaves but repairs of what has left.
func (n *Node) Withhold(run uint64, name Name) {
	p := n.places[placeKey{run: run, name: name}]
	if p == nil || p.stream == nil {
		return
	}
	p.ready = p.sentEnd
	for _, r := range p.readers {
		p.counts.Dropped += uint64(r.line.total)
		r.line, r.wants.list = line{}, r.wants.list[:0]
	}
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
		return n.past[run]
	}
	counts := s.counts.plus(n.past[run])
	counts.RTT, counts.LeastRTT, counts.Queue, counts.Patience = s.law.rtt.smooth, s.law.rtt.least(), s.law.queue(), s.law.rtt.patience()
	counts.RateBps, counts.LossFloor, counts.IsTimed = s.law.rate*8, s.law.lossFloor(), s.law.rtt.lows.any
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
	if gone := n.gone[placeKey{run: run, name: name}]; gone != nil {
		counts = counts.plus(gone.counts)
	}
	return counts, waiting
}
