package agent

import (
	"context"
	"fmt"
	"time"

	"downlink/agents/internal/agent/pause"
	"downlink/agents/internal/agent/trial"
	"downlink/agents/internal/server/protocol"
)

// restInterval is how soon an agent follows its owner.
const restInterval = time.Second

// startMargin is what getting ready and waiting for the start may add before a run's zero; the server gives up after a minute.
const startMargin = 90 * time.Second

// rest is why no run may begin now; empty when one may.
func (a *Agent) rest(now time.Time) string {
	if p := pause.Read(a.config.StateDir, now); p != nil {
		return p.Sentence()
	}
	for _, hours := range a.config.Policy.QuietHours {
		if hours.Contains(now.Local()) {
			return fmt.Sprintf("its owner's quiet hours are %s, by this host's clock", hours)
		}
	}
	// What a run under way will have moved is on the disk before it is moved; only its end says how much it was.
	if !a.state.current().isTrial() {
		if why := a.volume.UsedUp(now.Local()); why != "" {
			return why
		}
	}
	if until := time.Unix(a.restsUntil.Load(), 0).UTC(); now.Before(until) {
		return "its owner's quiet hours are near; it takes runs again at " + until.Format("2006-01-02 15:04 MST")
	}
	return ""
}

// restFor is why a run with this deadline may not begin now. The first one that would last into quiet hours begins the rest:
// the server then sees a host that takes no run, instead of trying one after the other.
func (a *Agent) restFor(now time.Time, deadlineS float64) string {
	if why := a.rest(now); why != "" {
		return why
	}
	span := time.Duration(deadlineS*float64(time.Second)) + startMargin
	for _, hours := range a.config.Policy.QuietHours {
		if hours.ContainsAny(now.Local(), span) {
			a.restsUntil.Store(hours.EndAfter(now.Local()).Unix())
			return fmt.Sprintf("it could last into its owner's quiet hours, %s by this host's clock", hours)
		}
	}
	return ""
}

// watchRest lets the server hear when a rest begins and ends, and breaks off a run whose owner wants it to.
func (a *Agent) watchRest(ctx context.Context) error {
	ticker := time.NewTicker(restInterval)
	defer ticker.Stop()
	last := a.rest(time.Now())
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case now := <-ticker.C:
			if why := a.rest(now); why != last {
				a.log.Info("rest", "why", why)
				last = why
				a.state.say()
			}
			if t := a.state.current(); t.isTrial() {
				if p := pause.Read(a.config.StateDir, now); p != nil && p.EndsRun {
					t.end(trial.ErrPaused)
				}
			}
		}
	}
}

// decline answers an order for a run that must not begin. Where this host is busy, the server plans the run again for later.
func (a *Agent) decline(ref protocol.RunRef, reason protocol.Reason, why string) {
	a.log.Info("run declined", "run_id", ref.RunID, "attempt", ref.Attempt, "why", why)
	err := a.outbox.Add(ref, protocol.Failed{
		EventHead: protocol.EventHead{Kind: protocol.KindFailed, Attempt: ref.Attempt, At: protocol.Moment{Time: time.Now()}},
		Reason:    reason, Detail: protocol.Sentence(why),
	})
	if err != nil {
		a.log.Error("that a run was declined cannot be noted", "run_id", ref.RunID, "error", err)
		return
	}
	a.state.decline(ref)
}
