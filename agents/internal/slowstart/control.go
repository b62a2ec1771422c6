package slowstart

import (
	"time"

	"downlink/agents/internal/emulate"
)

// Linux's values (net/ipv4/tcp_cubic.c).
const (
	hystartLowWindow  = 16
	hystartMinSamples = 8
	hystartAckDelta   = 2 * time.Millisecond
	hystartDelayMin   = 4 * time.Millisecond
	hystartDelayMax   = 16 * time.Millisecond
	cubicC            = 0.4 // segments / s^3
	renoShare         = 0.53
)

// control is CUBIC before its first loss: slow start with HyStart, then the growth from where that ended.
type control struct {
	hasHyStart bool
	cwnd       int64
	inStart    bool
	exitAt     time.Duration
	exitBy     Detector

	roundEnd   int64 // the round lasts until this segment is acknowledged
	roundStart time.Duration
	lastAck    time.Duration
	samples    int
	currRtt    time.Duration
	delayMin   time.Duration

	epochStart time.Duration
	origin     float64
	renoCwnd   float64
	credit     float64
}

func newControl(hasHyStart bool) *control {
	return &control{hasHyStart: hasHyStart, cwnd: initialWindow, inStart: true, exitAt: emulate.Never, delayMin: emulate.Never}
}

// acked takes an acknowledgement of newly segments. acked, sent: segments in all.
func (c *control) acked(now, rtt time.Duration, newly, acked, sent int64) {
	c.delayMin = min(c.delayMin, rtt)
	if c.inStart && c.hasHyStart && c.cwnd >= hystartLowWindow {
		c.watch(now, rtt, acked, sent)
	}
	if c.inStart {
		c.cwnd += newly
		if c.hasHyStart && acked > c.roundEnd {
			c.beginRound(now, sent)
		}
		return
	}
	c.grow(now, newly)
}

func (c *control) beginRound(now time.Duration, sent int64) {
	c.roundStart, c.lastAck, c.roundEnd = now, now, sent
	c.samples, c.currRtt = 0, emulate.Never
}

// watch is hystart_update.
func (c *control) watch(now, rtt time.Duration, acked, sent int64) {
	if acked > c.roundEnd {
		c.beginRound(now, sent)
	}
	if now-c.lastAck <= hystartAckDelta {
		c.lastAck = now
		if now-c.roundStart > c.delayMin/2 {
			c.leave(now, Train)
			return
		}
	}
	c.currRtt = min(c.currRtt, rtt)
	if c.samples < hystartMinSamples {
		c.samples++
		return
	}
	if c.currRtt > c.delayMin+min(max(c.delayMin/8, hystartDelayMin), hystartDelayMax) {
		c.leave(now, Delay)
	}
}

func (c *control) leave(now time.Duration, by Detector) {
	c.inStart, c.exitAt, c.exitBy = false, now, by
	c.epochStart, c.origin, c.renoCwnd = now, float64(c.cwnd), float64(c.cwnd)
}

// grow is congestion avoidance: towards the cubic function, no slower than Reno would (RFC 9438 sections 4.2 and 4.3).
func (c *control) grow(now time.Duration, newly int64) {
	elapsed := (now - c.epochStart + c.delayMin).Seconds()
	target := c.origin + cubicC*elapsed*elapsed*elapsed
	target = min(target, 1.5*float64(c.cwnd))
	c.renoCwnd += renoShare * float64(newly) / c.renoCwnd
	target = max(target, c.renoCwnd)
	if target > float64(c.cwnd) {
		c.credit += float64(newly) * (target - float64(c.cwnd)) / float64(c.cwnd)
	}
	if whole := int64(c.credit); whole > 0 {
		c.cwnd, c.credit = c.cwnd+whole, c.credit-float64(whole)
	}
}
