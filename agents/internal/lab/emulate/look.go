package emulate

import "time"

// Look is what a line is like at one moment: its counts so far, and what its nodes are about to do to a packet.
type Look struct {
	At time.Duration
	Counts
	// WaitingBytes is what waits for the hop or is being sent on it; the rest of what is inside is on its way.
	WaitingBytes int
	// RateBps is the hop's rate, 0 in a gap that holds packets back; of many hops the lowest.
	RateBps float64
	// Delay of a packet that would leave the hop now; what is drawn for single packets is left out. Of many hops the sum.
	Delay time.Duration
	// IsGap: a handover is under way. IsOutage: whatever passes is lost for another reason than a handover.
	IsGap, IsOutage bool
	// GapTime and OutageTime are how long either lasted since the line's time 0, whether or not a packet met it: a look
	// each 10 ms would miss most outages of milliseconds.
	// Of many hops it is their sum.
	GapTime, OutageTime time.Duration
	// Path is the number of the present path in the path trace, 0 without one.
	Path int

	hasRate bool
}

// narrow adds a hop's rate.
func (look *Look) narrow(bps float64) {
	if !look.hasRate || bps < look.RateBps {
		look.RateBps = bps
	}
	look.hasRate = true
}

// shows is a node that has something to say at a look.
type shows interface {
	show(now time.Duration, look *Look)
}

// Look runs the line up to now, without letting anything in, and looks at it. Packets that left are appended to out, as by
// Step.
func (l *Line) Look(now time.Duration, out []*Packet) (Look, []*Packet) {
	out, _ = l.Step(now, nil, out)
	look := Look{At: now, Counts: l.Counts()}
	for _, node := range l.nodes {
		if node, hasMore := node.(shows); hasMore {
			node.show(now, &look)
		}
	}
	return look, out
}

func (b *bottleneck) show(now time.Duration, look *Look) {
	look.WaitingBytes += b.queuedBytes
	showRate(b.shown, now, look)
}

func (n *frames) show(now time.Duration, look *Look) {
	look.WaitingBytes += n.queuedBytes
	showRate(n.shown, now, look)
}

func showRate(r rate, now time.Duration, look *Look) {
	bps, _ := r.at(now)
	look.narrow(bps)
	if gapped, hasGaps := r.(gappedRate); hasGaps {
		gapped.gaps.show(now, look)
	}
}

func (n lossyGaps) show(now time.Duration, look *Look) { n.gaps.show(now, look) }

func (g gaps) show(now time.Duration, look *Look) {
	inside, _ := g.next(now)
	look.IsGap = look.IsGap || inside
	look.GapTime += g.until(now)
}

// until is how much of the time from 0 to now lies in gaps. It is asked with times that never decrease.
func (g gaps) until(now time.Duration) time.Duration {
	begin, past := &g.seen.begin, &g.seen.past
	for ; *begin+g.every <= now; *begin += g.every {
		*past += g.within(*begin, now)
	}
	return *past + g.within(*begin, now)
}

// within is how much of the gap that begins at a moment lies between 0 and now.
func (g gaps) within(begin, now time.Duration) time.Duration {
	return max(0, min(begin+g.lengthAt(begin), now)-max(begin, 0))
}

// seen is how far a line's gaps have been added up: those before begin last for past.
type seen struct{ begin, past time.Duration }

// unseen begins with the last gap that begins before time 0, or then.
func (g gaps) unseen() *seen {
	return &seen{begin: g.offset%g.every - g.every}
}

func (n *outages) show(now time.Duration, look *Look) {
	n.Process(now, nil)
	look.IsOutage = look.IsOutage || now >= n.from
	look.OutageTime += n.past + max(0, now-n.from)
}

func (n *delay) show(now time.Duration, look *Look) {
	delay := n.base
	for _, v := range n.variations {
		if v.hold > 0 || v.recorded != nil {
			delay += v.at(now)
		}
	}
	look.Delay += max(0, delay)
}
