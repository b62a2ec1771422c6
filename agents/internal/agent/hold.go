package agent

import (
	"context"
	"time"

	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/server/spool"
)

// holdInterval is how often the agent looks whether samples wait for longer than its owner allows.
const holdInterval = time.Minute

// watchHold keeps the owner's limits on samples that wait; not while a run is on, whose disk and processor are its own.
func (a *Agent) watchHold(ctx context.Context) error {
	ticker := time.NewTicker(holdInterval)
	defer ticker.Stop()
	for now := time.Now(); ; {
		if !a.state.current().isTrial() {
			a.dropOverdue(now)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case now = <-ticker.C:
		}
	}
}

func (a *Agent) dropOverdue(now time.Time) {
	days := a.config.Policy.HoldDays * float64(24*time.Hour)
	hold := spool.Hold{For: time.Duration(days), MaxBytes: a.config.Policy.HoldBytes}
	for _, overdue := range a.spool.Overdue(hold, now) {
		ref := protocol.RunRef{RunID: overdue.RunID, Attempt: overdue.Attempt}
		if ref.Names(a.state.current().ref) {
			continue
		}
		why := protocol.WhyTooMuch
		if overdue.IsOld {
			why = protocol.WhyTooOld
		}
		a.drop(ref, why)
	}
}

// drop says what is missing before it deletes it: a crash in between leaves chunks that the server then discards.
func (a *Agent) drop(ref protocol.RunRef, why protocol.Why) {
	missing := append(ranges(a.spool.Keys(ref.RunID, ref.Attempt), why), a.badOnes(ref)...)
	a.log.Warn("samples are dropped by the limits of this host's owner", "run_id", ref.RunID, "attempt", ref.Attempt, "why", why, "missing",
		missing)
	if err := a.outbox.Add(ref, uploaded(ref, missing)); err != nil {
		a.log.Error("samples are kept: that they go cannot be noted", "run_id", ref.RunID, "error", err)
		return
	}
	if err := a.spool.Discard(ref.RunID, ref.Attempt); err != nil {
		a.log.Error("samples that were given up cannot be deleted", "run_id", ref.RunID, "error", err)
	}
	a.state.clearStall(ref)
}

// badOnes are the chunks of an attempt that were set aside one by one.
func (a *Agent) badOnes(ref protocol.RunRef) []protocol.Missing {
	bad, err := a.spool.Bad(ref.RunID, ref.Attempt)
	if err != nil {
		a.log.Error("chunks that were set aside cannot be listed", "run_id", ref.RunID, "error", err)
	}
	var damaged, refused []spool.Key
	for _, chunk := range bad {
		if chunk.IsDamaged {
			damaged = append(damaged, chunk.Key)
		} else {
			refused = append(refused, chunk.Key)
		}
	}
	return append(ranges(damaged, protocol.WhyDamaged), ranges(refused, protocol.WhyRefused)...)
}

// mostMissing is how many ranges the server takes in one event; further ones are missed by their numbers alone.
const mostMissing = 1000

func uploaded(ref protocol.RunRef, missing []protocol.Missing) protocol.Uploaded {
	head := protocol.EventHead{Kind: protocol.KindUploaded, Attempt: ref.Attempt, At: protocol.Moment{Time: time.Now()}}
	return protocol.Uploaded{EventHead: head, Missing: missing[:min(len(missing), mostMissing)]}
}

// ranges joins chunks that follow each other. keys are in their order.
func ranges(keys []spool.Key, why protocol.Why) (list []protocol.Missing) {
	for _, key := range keys {
		point := protocol.Point(key.Point)
		if last := len(list) - 1; last >= 0 && list[last].Flow == key.Flow && list[last].Point == point && list[last].Last+1 == key.Sequence {
			list[last].Last = key.Sequence
			continue
		}
		list = append(list, protocol.Missing{Flow: key.Flow, Point: point, First: key.Sequence, Last: key.Sequence, Why: why})
	}
	return list
}
