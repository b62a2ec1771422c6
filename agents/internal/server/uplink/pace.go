package uplink

import (
	"context"
	"io"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// slowBps is what a way to the server carries at least that needs no pacing of its own: the samples of a long run pass it in
	// seconds.
	slowBps = 20e6
	// shareOfCarried is what uploads take of a way that turned out slow; the rest is left to others behind the same terminal.
	shareOfCarried = 0.75
	// keptUp is the part of a pace that must have been carried for a higher one to be tried.
	keptUp = 0.95
	// raise is by how much a higher one is higher, and goodWindows how many windows in a row must have kept up for it once the
	// limit of the way was met.
	raise       = 1.25
	goodWindows = 8
	// lowestBps is what uploads get however little came through.
	lowestBps = 32e3
	// paceWindow is how long is measured before a pace is judged.
	paceWindow = 2 * time.Second
	// paceBurst is the most that leaves at once.
	paceBurst = 16 << 10
)

// Pace spaces the bytes of all uploads of an agent together: by its owner's limit and, on a slow way, by what that has carried.
// The zero value does not pace.
type Pace struct {
	mu       sync.Mutex
	ownerBps float64
	// foundBps is 0 while nothing but the owner limits.
	foundBps float64
	hasMet   bool
	good     int
	limiter  *rate.Limiter

	began   time.Time
	carried int64
	// inFlight requests are on their way, arrived ones came through since began, and most is how many were on their way together.
	inFlight, arrived, most int
}

// NewPace returns a pace below a limit of the owner's; 0 is none.
func NewPace(ownerBps int64) *Pace {
	p := &Pace{ownerBps: float64(ownerBps)}
	p.set()
	return p
}

// Bps is the pace of this moment; infinite without one.
func (p *Pace) Bps() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bps()
}

func (p *Pace) bps() float64 {
	bps := math.Inf(1)
	for _, limit := range []float64{p.ownerBps, p.foundBps} {
		if limit > 0 {
			bps = min(bps, limit)
		}
	}
	return bps
}

func (p *Pace) set() {
	limit := rate.Inf
	if bps := p.bps(); !math.IsInf(bps, 1) {
		limit = rate.Limit(bps / 8)
	}
	if p.limiter == nil {
		p.limiter = rate.NewLimiter(limit, paceBurst)
		return
	}
	p.limiter.SetLimit(limit)
}

// Begin says that a request is on its way.
func (p *Pace) Begin(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.inFlight == 0 {
		p.measure(now) // a pause says nothing of the way
	}
	p.inFlight++
	p.most = max(p.most, p.inFlight)
}

// End says that a request is over, and how much of it has arrived at the server. Once in a while it judges the pace by that:
// not before as many have arrived as were on their way together, since those share it.
func (p *Pace) End(bytes int, hasArrived bool, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inFlight--
	if !hasArrived {
		p.measure(now) // what has not come through took a part of the way that nobody knows
		return
	}
	p.carried, p.arrived = p.carried+int64(bytes), p.arrived+1
	lasted := now.Sub(p.began)
	if lasted < paceWindow || p.arrived < p.most {
		return
	}
	p.judge(float64(p.carried) * 8 / lasted.Seconds())
	p.measure(now)
	p.set()
}

func (p *Pace) measure(now time.Time) {
	p.began, p.carried, p.arrived, p.most = now, 0, 0, p.inFlight
}

// judge finds the next pace by what the way has carried under this one.
func (p *Pace) judge(carriedBps float64) {
	switch pace := p.bps(); {
	case p.foundBps == 0:
		// The owner's limit, where it held, says nothing of the way.
		if carriedBps < slowBps && carriedBps < keptUp*pace {
			p.foundBps = max(lowestBps, shareOfCarried*carriedBps)
		}
	case carriedBps < keptUp*pace:
		p.foundBps, p.hasMet, p.good = max(lowestBps, shareOfCarried*carriedBps), true, 0
	default:
		if p.good++; !p.hasMet || p.good >= goodWindows {
			p.foundBps, p.good = raise*p.foundBps, 0
		}
		if p.foundBps >= slowBps {
			p.foundBps, p.hasMet = 0, false
		}
	}
}

// pacedReader gives a body away at a pace.
type pacedReader struct {
	ctx  context.Context //nolint:containedctx // a reader has no other place for it
	pace *Pace
	body io.Reader
}

func (r *pacedReader) Read(buffer []byte) (int, error) {
	n, err := r.body.Read(buffer[:min(len(buffer), paceBurst)])
	if n == 0 || r.pace.limiter == nil {
		return n, err
	}
	if waitErr := r.pace.limiter.WaitN(r.ctx, n); waitErr != nil {
		return 0, waitErr
	}
	return n, err
}
