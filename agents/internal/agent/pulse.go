package agent

import (
	"context"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// stuckAfter is longer than anything that the loop of polls waits for without having said so: a held poll and the
// patience with its answer, or the restoring of a host whose run is broken off.
const stuckAfter = 2 * time.Minute

// pulse tells whether the loop that follows the server's orders goes on.
type pulse struct {
	mu sync.Mutex
	// due is when the loop must have come round again.
	due time.Time
	// silentUntil is the end of a silence in which the loop waits for a run to end.
	silentUntil time.Time
	// patience is stuckAfter, but for tests.
	patience time.Duration
}

// beat is the loop's: it goes on, and may now wait so long.
func (p *pulse) beat(now time.Time, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.due = now.Add(wait + p.patience)
}

// hush lets the loop wait for a run that may last so long.
func (p *pulse) hush(now time.Time, span time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silentUntil = now.Add(span + p.patience)
}

// wake ends a silence; the loop has a moment to come round.
func (p *pulse) wake(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silentUntil = time.Time{}
	p.due = now.Add(p.patience)
}

func (p *pulse) isStuck(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return now.After(p.due) && now.After(p.silentUntil)
}

// watch tells systemd that the agent lives, as long as its loop goes on; systemd starts a silent one again. Without
// systemd, or a unit that asks for no sign of life, it does nothing.
func (a *Agent) watch(ctx context.Context) error {
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		a.log.Warn("systemd's watchdog is not understood, and gets no sign of life", "error", err)
	}
	if interval <= 0 {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	ticker := time.NewTicker(interval / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case now := <-ticker.C:
			if a.pulse.isStuck(now) {
				a.log.Error("the loop that follows the server's orders is stuck; systemd gets no sign of life")
				continue
			}
			a.tellSystemd(daemon.SdNotifyWatchdog)
		}
	}
}

// tellSystemd does nothing where no systemd listens.
func (a *Agent) tellSystemd(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		a.log.Warn("systemd does not hear this agent", "error", err)
	}
}
