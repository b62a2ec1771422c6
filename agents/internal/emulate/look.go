package emulate

import "time"

// Look is what a line is like at one moment: its counts so far, and what its nodes are about to do to a packet.
type Look struct {
	At time.Duration
	Counts
	// WaitingBytes is what waits for the hop or is being sent on it; the rest of what is inside is on its way.
	WaitingBytes int
	// RateBps is the hop's rate, 0 in a gap that holds packets back.
	RateBps float64
	// Delay of a packet that would leave the hop now; what is drawn for single packets is left out.
	Delay time.Duration
	// IsGap: a handover is under way. IsOutage: whatever passes is lost for another reason than a handover.
	IsGap, IsOutage bool
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
	look.WaitingBytes = b.queuedBytes
	showRate(b.shown, now, look)
}

func (n *frames) show(now time.Duration, look *Look) {
	look.WaitingBytes = n.queuedBytes
	showRate(n.shown, now, look)
}

func showRate(r rate, now time.Duration, look *Look) {
	look.RateBps, _ = r.at(now)
	if gapped, hasGaps := r.(gappedRate); hasGaps {
		look.IsGap, _ = gapped.gaps.next(now)
	}
}

func (n lossyGaps) show(now time.Duration, look *Look) { look.IsGap, _ = n.gaps.next(now) }

func (n *outages) show(now time.Duration, look *Look) {
	n.Process(now, nil)
	look.IsOutage = now >= n.from
}

func (n *delay) show(now time.Duration, look *Look) {
	look.Delay = n.base
	for _, v := range n.variations {
		if v.hold > 0 || v.recorded != nil {
			look.Delay += v.at(now)
		}
	}
	look.Delay = max(0, look.Delay)
}
