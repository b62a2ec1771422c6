package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"downlink/agents/internal/agent/trial"
	"downlink/agents/internal/host/diskfile"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/server/spool"
)

// follow carries an order out, or starts to. It returns how long the next poll should wait. Every order may come
// twice, and an order whose run has already ended here waits for its events to reach the server.
func (a *Agent) follow(ctx context.Context, order protocol.Order) time.Duration {
	if order == nil {
		return a.idlePause()
	}
	if !spool.IsPlainName(order.Ref().RunID) {
		a.log.Error("the server sent an order with an impossible run id", "run_id", order.Ref().RunID)
		return orderPause
	}
	switch order := order.(type) {
	case *protocol.Prepare:
		a.prepare(ctx, order)
	case *protocol.Go:
		a.start(order)
	case *protocol.Abort:
		a.abort(order)
	case *protocol.Upload:
		if a.state.isStalled(order.RunRef, time.Now()) {
			return stalledPause
		}
		a.startUpload(ctx, order.RunRef)
	case *protocol.Discard:
		a.discard(order)
	}
	return orderPause
}

// idlePause spaces the polls of an agent that reports progress; others are spaced by the server's holding them.
func (a *Agent) idlePause() time.Duration {
	if a.state.current().hasProgress() {
		return busyPause
	}
	return orderPause / 10
}

func (a *Agent) prepare(ctx context.Context, order *protocol.Prepare) {
	if a.state.knows(order.RunRef) || a.outbox.Has(order.RunRef) {
		return
	}
	a.state.current().end(&trial.Aborted{Reason: protocol.ReasonLeaseExpired})
	if a.keeper.Pending() {
		a.log.Error("an order was not taken: this host's settings are not restored", "run_id", order.RunID)
		return
	}
	if why := a.restFor(time.Now(), order.DeadlineS); why != "" {
		a.decline(order.RunRef, protocol.ReasonHostBusy, why)
		return
	}
	if err := a.marker.set(order.RunRef, phaseBegun); diskfile.IsFull(err) {
		a.decline(order.RunRef, protocol.ReasonDiskFull, fmt.Sprintf("the disk of this agent's state folder is full: %v; free some", err))
		return
	} else if err != nil {
		a.log.Error("an order was not taken", "run_id", order.RunID, "error", err)
		return
	}
	// A server that was restored from a copy orders again what it does not know to be measured.
	if place, err := a.spool.Replace(order.RunID, order.Attempt); err != nil {
		a.decline(order.RunRef, protocol.ReasonInternal, fmt.Sprintf("samples of this attempt wait here from before, and cannot be moved: %v",
			err))
		return
	} else if place != "" {
		a.log.Warn("this attempt was measured before, and is ordered again; its samples of then are kept and not uploaded", "run_id",
			order.RunID, "attempt", order.Attempt, "at", place)
	}
	t := trial.New(a.trialEnv(), order, a.state.setStatus)
	a.log.Info("run begins", "run_id", order.RunID, "attempt", order.Attempt)
	a.state.begin(ctx, task{status: protocol.StatusPreparing, ref: order.RunRef, trial: t}, func(ctx context.Context) protocol.Status {
		return a.runTrial(ctx, t)
	})
}

func (a *Agent) trialEnv() trial.Env {
	return trial.Env{
		Config: a.config, Version: a.version, BootID: a.bootID, Keeper: a.keeper, Spool: a.spool, Volume: a.volume, Controls: a.controls,
		Clock: a.client.Clock, FreeBytes: a.freeBytes, Report: a.report,
	}
}

// report keeps an event, and remembers when a run needs no more than its restoration to be told.
func (a *Agent) report(ref protocol.RunRef, event protocol.Event) error {
	a.log.Info("run event", "run_id", ref.RunID, "attempt", ref.Attempt, "kind", event.Head().Kind)
	if failed, isFailed := event.(protocol.Failed); isFailed {
		a.log.Warn("run failed", "run_id", ref.RunID, "reason", failed.Reason, "detail", failed.Detail)
	}
	if err := a.outbox.Add(ref, event); err != nil {
		return err
	}
	if event.Head().Kind == protocol.KindFinished {
		return a.marker.set(ref, phaseFinished)
	}
	return nil
}

func (a *Agent) runTrial(ctx context.Context, t *trial.Trial) protocol.Status {
	err := t.Run(ctx)
	a.pulse.wake(time.Now())
	a.gate.Open()
	if err != nil {
		a.log.Error("the run's end is not clean", "run_id", t.Ref().RunID, "error", err)
	}
	if err := a.marker.clear(); err != nil {
		a.log.Error("the run marker could not be removed", "error", err)
	}
	keys := a.spool.Keys(t.Ref().RunID, t.Ref().Attempt)
	// Whether a run that was broken off wants its chunks is for the server to say, unless it has taken the run away.
	if err == nil && len(keys) > 0 && !errors.Is(context.Cause(ctx), trial.ErrLost) {
		return protocol.StatusRestored
	}
	return protocol.StatusIdle
}

// start passes the common zero on. From here on a receiver is silent, unless its control traffic takes another path.
func (a *Agent) start(order *protocol.Go) {
	current := a.state.current()
	if !current.isTrial() || !current.ref.Is(order.RunRef) || current.status != protocol.StatusReady {
		return
	}
	t := current.trial
	if t.Receives() && !a.config.SeparateUplink {
		a.pulse.hush(time.Now(), t.Deadline()+startMargin)
		a.gate.Shut()
		a.client.Hush()
	}
	t.Go(order)
}

// abort answers even for a run that is not here any more: the server waits to hear that this host is restored.
func (a *Agent) abort(order *protocol.Abort) {
	if t := a.state.current(); t.ref.Is(order.RunRef) && t.isTrial() {
		t.end(&trial.Aborted{Reason: order.Reason})
		return
	}
	if a.outbox.Has(order.RunRef) {
		return
	}
	outcome, err := a.keeper.Restore()
	if err != nil {
		a.log.Error("this host's settings are not restored", "error", err)
	}
	a.keep(order.RunRef, trial.RestoredEvent(order.RunRef, outcome, a.keeper.Snapshot("")))
}

func (a *Agent) keep(ref protocol.RunRef, event protocol.Event) {
	if err := a.outbox.Add(ref, event); err != nil {
		a.log.Error("an event could not be kept; the server will ask again", "run_id", ref.RunID, "error", err)
	}
}

// discard deletes samples only where the order says that nobody can want them any more.
func (a *Agent) discard(order *protocol.Discard) {
	if t := a.state.current(); t.ref.Is(order.RunRef) {
		t.end(&trial.Aborted{Reason: order.Reason})
		a.state.forget()
	}
	a.state.clearStall(order.RunRef)
	forget, how := a.spool.SetAside, "set aside"
	if order.Delete {
		forget, how = a.spool.Discard, "deleted"
	}
	err := forget(order.RunID, order.Attempt)
	a.log.Info("the run continues without this agent's chunks", "run_id", order.RunID, "attempt", order.Attempt, "reason",
		order.Reason, "chunks_are", how, "error", err)
}
