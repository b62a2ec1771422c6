package intcpsocket

import (
	"context"
	"fmt"
	"time"

	"downlink/agents/internal/flow/transfer"
	"downlink/agents/internal/intcp"
)

// Relay is a place between the ends of a flow.
type Relay struct{ end }

// NewRelay returns a relay that has done nothing yet.
func NewRelay(plan FlowPlan) *Relay { return &Relay{end: end{plan: plan}} }

// Open reaches the neighbour upstream, and waits for somebody downstream who asks.
func (r *Relay) Open(ctx context.Context) error {
	r.missed = r.reach(ctx)
	if r.missed != nil {
		return r.missed
	}
	until := earlier(r.plan.Limits.Deadline, r.plan.Begin.Add(2*r.plan.Patience))
	if !r.await(ctx, until, r.isAsked) {
		r.missed = fmt.Errorf("%w: nobody downstream asked for the flow within %s; check that UDP reaches this host's data port",
			transfer.ErrNoConnection, 2*r.plan.Patience)
		if ctx.Err() != nil {
			r.missed = context.Cause(ctx)
		}
		return r.missed
	}
	_, r.moved = r.look()
	r.result = transfer.Result{Connected: time.Now(), Local: r.seat().Local().String(), Peer: r.plan.Upstream}
	return nil
}

// isAsked tells whether somebody downstream asks, or has done so: between two looks a small flow begins and ends.
func (r *Relay) isAsked(l intcp.Look) bool {
	return l.Readers > 0 || !r.plan.IsShared && l.FirstSent > 0
}

// Run passes data on until the flow has ended.
func (r *Relay) Run(ctx context.Context, _ func()) {
	for !r.hasEnded() {
		r.watch()
		if r.hasEnded() || !r.pause(ctx, r.plan.Limits.Deadline) {
			return
		}
	}
}

func (r *Relay) watch() {
	l, now := r.look()
	passed := int64(l.PassedBytes)
	r.plan.AppBytes.Store(passed)
	r.result.FirstByte, r.result.LastByte = r.notBefore(r.seat().At(l.FirstSent)), r.seat().At(l.LastSent)
	r.moved = max(r.moved, l.Heard) // what arrives was asked for, perhaps by one that has gone
	if !r.spend(arriving, int64(l.ArrivedBytes)) || !r.spend(leaving, passed) {
		return
	}
	switch {
	case r.seat().Err() != nil:
		r.missed = r.seat().Err()
		r.finish(transfer.EndedAborted, "%v", r.missed)
	case l.Readers == 0 && r.isComplete(passed, r.result.FirstByte):
		r.finish(transfer.EndedStopRule, "")
	case l.Refused != 0 && l.Refused != intcp.ReasonEnded && l.Refused != intcp.ReasonDone:
		r.finish(EndedRefused, "%s refused the flow: %s", r.plan.Upstream, l.Refused)
	case l.Readers == 0:
		r.finish(transfer.EndedPeerClosed, "a neighbour ended the flow before the stop rule")
	case r.plan.Stop.After > 0 && !r.result.FirstByte.IsZero() &&
		time.Since(r.result.FirstByte) >= r.plan.Stop.After+r.plan.Limits.DrainLimit():
		r.finish(transfer.EndedStopRule, "the neighbour downstream had not ended the flow %s after the stop moment", r.plan.Limits.DrainLimit())
	default:
		r.endByTime(now)
	}
}

// Close tells what came of the flow.
func (r *Relay) Close() (transfer.Result, error) { return r.result, r.missed }
