package uplink

import (
	"slices"
	"sync"
	"time"
)

// recent is how old an exchange may be that the clock estimate rests on: a crystal that is off by 50 parts in a
// million drifts 30 ms in that time.
const recent = 10 * time.Minute

// due is how old the newest exchange may be before another one is wanted. An order may come with an answer that was
// held, and must find an estimate that is still recent.
const due = recent / 2

// Tolerance is how unsure of the server's clock an agent may be at the common start. Both ends wait for each other far
// longer than that; past it, the moments in a run's record would mislead. A less sure estimate counts as none.
const Tolerance = 2 * time.Second

// A server that answers slowly again and again is asked so often at once; then orders are followed all the same, and
// the next exchange is wanted after a pause.
const (
	mostSlow  = 3
	slowPause = 15 * time.Second
)

// Clock estimates the server's clock from the fastest recent exchange: the shorter the round trip, the less room for
// the moment at which the server read its clock.
type Clock struct {
	mu        sync.Mutex
	exchanges []exchange // which agree with each other
	slow      int        // how many in a row were less sure than Tolerance
}

type exchange struct {
	middle time.Time
	half   time.Duration
	server time.Time
}

// Estimate is the server's clock as seen from here.
type Estimate struct {
	// Offset is what must be added to this host's clock to get the server's.
	Offset time.Duration
	// Error is half the round trip.
	Error time.Duration

	best exchange
}

// drift is more than two clocks differ by after the time that an exchange counts.
const drift = 100 * time.Millisecond

// Note records one exchange; sent and received must carry monotonic readings.
func (c *Clock) Note(sent, received, server time.Time) {
	c.keep(newExchange(sent, received, server), true)
}

// Check records nothing of an exchange whose answer was held, but the estimate does not outlast a server whose clock was set.
func (c *Clock) Check(sent, received, server time.Time) {
	c.keep(newExchange(sent, received, server), false)
}

func newExchange(sent, received, server time.Time) exchange {
	half := received.Sub(sent) / 2
	return exchange{middle: sent.Add(half), half: half, server: server}
}

func (c *Clock) keep(last exchange, isBest bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := c.exchanges[:0]
	for _, e := range c.exchanges {
		// An exchange that is both older and slower than the new one can never be the best again.
		isNeeded := !isBest || last.middle.Add(last.half).Sub(e.middle) < recent && e.half < last.half
		if isNeeded && e.agrees(last) {
			kept = append(kept, e)
		}
	}
	if isBest {
		kept = append(kept, last)
		c.slow++
		if last.half <= Tolerance {
			c.slow = 0
		}
	}
	c.exchanges = kept
}

// agrees: no clock was set between two exchanges. This host's does not count: time is taken by its monotonic clock.
func (e exchange) agrees(other exchange) bool {
	apart := other.server.Sub(e.server) - other.middle.Sub(e.middle)
	return apart.Abs() <= e.half+other.half+drift
}

// Estimate returns false when there was no exchange lately.
func (c *Clock) Estimate(now time.Time) (Estimate, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.exchanges {
		// Kept in the order of their arrival, and only while faster than all later ones.
		if now.Sub(e.middle) < recent {
			return Estimate{Offset: e.server.Sub(e.middle), Error: e.half, best: e}, true
		}
	}
	return Estimate{}, false
}

// WantsExchange tells whether there was no exchange, or none that a run may rest on, for so long that the next poll
// should not be held.
func (c *Clock) WantsExchange(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.exchanges) == 0 {
		return true
	}
	age := now.Sub(c.exchanges[len(c.exchanges)-1].middle)
	if c.isSure(now) {
		return age >= due
	}
	return c.slow < mostSlow || age >= slowPause
}

// isSure tells whether a run may rest on what is known.
func (c *Clock) isSure(now time.Time) bool {
	return slices.ContainsFunc(c.exchanges, func(e exchange) bool {
		return e.half <= Tolerance && now.Sub(e.middle) < recent
	})
}

// Local returns the local moment, with a monotonic reading, of a moment on the server's clock.
func (e Estimate) Local(server time.Time) time.Time {
	return e.best.middle.Add(server.Sub(e.best.server))
}
