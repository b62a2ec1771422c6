package agent

import (
	"context"
	"time"

	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/server/uplink"
)

// Hurry makes an agent's uploads try again at once.
func (a *Agent) Hurry() {
	a.backoff = func() *uplink.Backoff { return &uplink.Backoff{First: time.Millisecond, Max: time.Millisecond} }
}

// HurryWatch makes the watchdog take a loop for stuck after this time.
func (a *Agent) HurryWatch(patience time.Duration) { a.pulse.patience = patience }

// Freeze leaves a lock held that the loop of polls needs, as a fault in the program would.
func (a *Agent) Freeze() { a.state.mu.Lock() }

// Thaw ends that.
func (a *Agent) Thaw() { a.state.mu.Unlock() }

// Pulse is what the watchdog looks at.
type Pulse = pulse

// NewPulse returns one that has just beaten.
func NewPulse(now time.Time, patience time.Duration) *Pulse {
	p := &pulse{patience: patience}
	p.Beat(now, 0)
	return p
}

func (p *Pulse) Beat(now time.Time, wait time.Duration) { p.beat(now, wait) }
func (p *Pulse) Hush(now time.Time, span time.Duration) { p.hush(now, span) }
func (p *Pulse) Wake(now time.Time)                     { p.wake(now) }
func (p *Pulse) IsStuck(now time.Time) bool             { return p.isStuck(now) }

// HurryObserving makes an agent send at once what it observed.
func (a *Agent) HurryObserving() { a.sendEvery = 10 * time.Millisecond }

// HoldObservations is how long an agent lets what it observed wait for runs of others.
func (a *Agent) HoldObservations(most time.Duration) { a.mostHold = most }

// WatchLink is the part of an agent that reads dish and modem.
func (a *Agent) WatchLink(ctx context.Context) error { return a.watchLink(ctx) }

// Busy gives an agent a task, which ends when the function that it returns is called.
func (a *Agent) Busy(ctx context.Context) func() {
	ended := make(chan struct{})
	a.state.begin(ctx, task{}, func(context.Context) protocol.Status { <-ended; return protocol.StatusIdle })
	a.state.say()
	return func() { close(ended) }
}

// WaitAt is how long this agent would let its poll be held at a moment.
func (a *Agent) WaitAt(now time.Time) time.Duration {
	return time.Duration(a.snapshot(now).WaitS * float64(time.Second))
}

// InstanceOf says which start of an agent with this configuration would be this one.
var InstanceOf = instanceOf
