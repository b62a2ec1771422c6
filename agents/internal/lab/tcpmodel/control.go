package tcpmodel

import (
	"math"
	"time"

	"downlink/agents/internal/lab/emulate"
)

// Linux's values (net/ipv4/tcp_cubic.c).
const (
	hystartLowWindow  = 16
	hystartMinSamples = 8
	hystartAckDelta   = 2 * time.Millisecond
	hystartDelayMin   = 4 * time.Millisecond
	hystartDelayMax   = 16 * time.Millisecond
	cubicC            = 0.4 // segments / s^3
	cubicBeta         = 0.7
	renoShare         = 0.53
	mostGrowth        = 0.5  // of the window, a round trip
	firstGrowth       = 0.05 // at least, before the first loss
)

// control is CUBIC: slow start with HyStart, and the growth after it. With hybla, that decides instead how the window moves.
type control struct {
	hybla      *hybla
	hasHyStart bool
	cwnd       int64
	threshold  int64         // slow start below it
	exitAt     time.Duration // out of the first slow start
	exitBy     Detector

	roundEnd   int64 // the round lasts until this segment is acknowledged
	roundStart time.Duration
	lastAck    time.Duration
	samples    int
	currRtt    time.Duration
	delayMin   time.Duration

	lastMax    float64 // window at the last loss; 0: there was none
	epochStart time.Duration
	origin     float64
	turnS      float64 // from the epoch's start to the origin
	renoCwnd   float64
	credit     float64
}

func newControl(options Options) *control {
	c := &control{hasHyStart: options.HasHyStart && !options.IsHybla, cwnd: initialWindow, threshold: math.MaxInt64, exitAt: emulate.Never,
		delayMin: emulate.Never}
	if options.IsHybla {
		c.hybla = &hybla{}
	}
	return c
}

func (c *control) inStart() bool { return c.cwnd < c.threshold }

// hear takes the RTT of an acknowledgement. acked, sent: segments in all.
func (c *control) hear(now, rtt time.Duration, acked, sent int64) {
	c.delayMin = min(c.delayMin, rtt)
	if c.hybla != nil {
		c.hybla.hear(rtt)
	}
	if c.inStart() && c.hasHyStart && c.cwnd >= hystartLowWindow {
		c.watch(now, rtt, acked, sent)
	}
}

// grow widens the window for newly acknowledged segments, outside of recovery.
func (c *control) grow(now time.Duration, newly, acked, sent int64) {
	if c.hybla != nil {
		c.cwnd = c.hybla.grown(c.cwnd, c.threshold)
		return
	}
	if !c.inStart() {
		c.avoid(now, newly)
		return
	}
	c.cwnd += newly
	if c.hasHyStart && acked > c.roundEnd {
		c.beginRound(now, sent)
	}
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
	c.threshold = c.cwnd
	if c.exitAt == emulate.Never {
		c.exitAt, c.exitBy = now, by
	}
	c.beginEpoch(now)
}

// lose answers a loss with the window to go on with after recovery (RFC 9438 sections 4.6 and 4.7).
func (c *control) lose(now time.Duration) {
	window := float64(c.cwnd)
	if window < c.lastMax {
		c.lastMax = window * (1 + cubicBeta) / 2
	} else {
		c.lastMax = window
	}
	share := cubicBeta
	if c.hybla != nil {
		share = renoBeta
	}
	c.cwnd = max(int64(window*share), 2)
	c.leave(now, Loss)
}

// beginEpoch sets the cubic function out from the present window.
func (c *control) beginEpoch(now time.Duration) {
	c.epochStart, c.renoCwnd, c.credit = now, float64(c.cwnd), 0
	c.origin = max(c.lastMax, float64(c.cwnd))
	c.turnS = math.Cbrt((c.origin - float64(c.cwnd)) / cubicC)
}

// avoid is congestion avoidance: towards the cubic function, no slower than Reno would (RFC 9438 sections 4.2 and 4.3).
func (c *control) avoid(now time.Duration, newly int64) {
	window := float64(c.cwnd)
	sinceTurn := (now - c.epochStart + c.delayMin).Seconds() - c.turnS
	target := c.origin + cubicC*sinceTurn*sinceTurn*sinceTurn
	target = min(target, (1+mostGrowth)*window)
	if c.lastMax == 0 {
		target = max(target, (1+firstGrowth)*window)
	}
	c.renoCwnd += renoShare * float64(newly) / window
	target = max(target, c.renoCwnd)
	if target > window {
		c.credit += float64(newly) * (target - window) / window
	}
	if whole := int64(c.credit); whole > 0 {
		c.cwnd, c.credit = c.cwnd+whole, c.credit-float64(whole)
	}
}
