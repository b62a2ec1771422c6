package uplink

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Backoff grows the pause between failing calls and jitters it, so that agents do not come back all at once.
type Backoff struct {
	First, Max time.Duration
	failures   int
}

// DefaultBackoff waits between half a second and half a minute.
func DefaultBackoff() *Backoff { return &Backoff{First: 500 * time.Millisecond, Max: 30 * time.Second} }

// Reset forgets earlier failures.
func (b *Backoff) Reset() { b.failures = 0 }

// Next returns the pause after one more failure: between half and all of a doubling span, or what the server asked for.
func (b *Backoff) Next(err error) time.Duration {
	span := min(b.First<<min(b.failures, 16), b.Max)
	b.failures++
	pause := span/2 + rand.N(span/2+1)
	if status, ok := errors.AsType[*StatusError](err); ok {
		pause = max(pause, status.RetryAfter)
	}
	return pause
}

// Pause waits, or returns early with the context's cause.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
