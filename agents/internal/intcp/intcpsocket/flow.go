package intcpsocket

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"

	"downlink/agents/internal/flow/transfer"
	"downlink/agents/internal/intcp"
)

// tick is how often a flow is looked at.
const tick = 5 * time.Millisecond

// Endings that TCP does not have, in the words of the agent protocol.
const (
	EndedContentWrong transfer.Ended = "content_wrong"
	EndedRefused      transfer.Ended = "refused"
)

// ErrUnreachable means that the neighbour upstream did not answer.
var ErrUnreachable = errors.New("the neighbour upstream does not answer")

// Seat is where a relay's node is: behind sockets of this process, or at the sites of an emulated link.
type Seat interface {
	// Look looks at a content, at a moment of the node's clock.
	Look(content intcp.Content) (l intcp.Look, now time.Duration)
	// IsMet tells whether the neighbour upstream has ever answered.
	IsMet() bool
	// At is a moment of the node's clock; the zero time for 0.
	At(moment time.Duration) time.Time
	// Local is where neighbours downstream come to, AskingFrom from where the one upstream is asked.
	Local() netip.AddrPort
	AskingFrom() netip.AddrPort
	// Err is why there is no node any more; nil while there is one.
	Err() error
}

// FlowPlan is one flow at its sender, its receiver, or a relay.
type FlowPlan struct {
	Home *Home
	// Seat is a relay's instead of Home.
	Seat    Seat
	Content intcp.Content
	// IsShared: other flows of the run move the same content, and may have begun before.
	IsShared bool
	// Stream is what the content is made of; relays do not know it.
	Stream intcp.Stream
	Stop   transfer.Stop
	Limits transfer.Limits
	// Begin is the flow's moment: nothing is sent or asked for before it.
	Begin time.Time
	// Patience is how long after Begin somebody may be waited for.
	Patience time.Duration
	// Upstream is whom a receiver or a relay asks, for people.
	Upstream string
	AppBytes *atomic.Int64
	Budget   *transfer.Budget
	// Offer is how the sender's data come about; nil: all of it is there at once.
	Offer *transfer.Offer
	// Sample records the flow until its context is done.
	Sample func(ctx context.Context)
}

// end is what the three places of a flow have in common.
type end struct {
	plan   FlowPlan
	result transfer.Result
	missed error
	moved  time.Duration // when something moved last, on the home's clock
	// waitsUntil is before when silence means nothing while no byte has come yet.
	waitsUntil time.Time
}

// Sample records the flow.
func (e *end) Sample(ctx context.Context) { e.plan.Sample(ctx) }

func (e *end) finish(ended transfer.Ended, format string, values ...any) {
	e.result.Ended, e.result.Detail = ended, fmt.Sprintf(format, values...)
}

func (e *end) hasEnded() bool { return e.result.Ended != "" }

// notBefore is a flow's first moment: where others have had its content before it began, it is its own beginning.
func (e *end) notBefore(first time.Time) time.Time {
	if e.plan.IsShared && !first.IsZero() && first.Before(e.plan.Begin) {
		return e.plan.Begin
	}
	return first
}

// look reads the flow's state.
func (e *end) look() (l intcp.Look, now time.Duration) { return e.seat().Look(e.plan.Content) }

func (e *end) seat() Seat {
	if e.plan.Seat != nil {
		return e.plan.Seat
	}
	return e.plan.Home
}

// pause waits until a moment, or less; false means that the flow has been broken off.
func (e *end) pause(ctx context.Context, until time.Time) bool {
	timer := time.NewTimer(min(tick, max(0, time.Until(until))))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		e.finish(transfer.EndedAborted, "%v", context.Cause(ctx))
		return false
	}
}

// silence is how long nothing has moved.
func (e *end) silence(now time.Duration) time.Duration { return now - e.moved }

func (e *end) isStalled(now time.Duration) bool {
	isWaiting := e.result.FirstByte.IsZero() && time.Now().Before(e.waitsUntil)
	return !isWaiting && e.silence(now) > e.plan.Limits.StallLimit()
}

// endByTime tells a lost link from a slow one at the deadline, and ends a flow on which nothing has moved for long.
func (e *end) endByTime(now time.Duration) {
	switch {
	case e.isStalled(now):
		e.finish(transfer.EndedLinkLost, "no data moved for the last %.0f s", e.silence(now).Seconds())
	case !time.Now().Before(e.plan.Limits.Deadline):
		e.finish(transfer.EndedDeadline, "%s", e.plan.Limits.Overtime)
	}
}

// charge is what is counted in the budget of the run: flows of one content move it together.
type charge struct {
	name intcp.Name
	what string
}

const (
	arriving = "arriving"
	leaving  = "leaving"
	again    = "leaving again"
)

func (e *end) charged(what string) charge { return charge{e.plan.Content.Name, what} }

// spend counts bytes of the flow's content that have moved in all; false means that they were too many.
func (e *end) spend(what string, total int64) bool {
	if e.plan.Budget.SpendUpTo(e.charged(what), total) {
		return true
	}
	e.finish(transfer.EndedAborted, "%s", e.plan.Budget.Exceeded())
	return false
}

// isOver: the flow's seconds have passed.
func (e *end) isOver() bool {
	return e.plan.Stop.After > 0 && !e.result.FirstByte.IsZero() && time.Since(e.result.FirstByte) >= e.plan.Stop.After
}

// earlyRatio is the part of the agreed duration after which an end is taken for the stop rule.
const earlyRatio = 0.9

// isComplete tells whether the stop rule explains an end after so many bytes.
func (e *end) isComplete(bytes int64, first time.Time) bool {
	if e.plan.Stop.Bytes > 0 {
		return bytes >= e.plan.Stop.Bytes
	}
	return !first.IsZero() && time.Since(first) >= time.Duration(earlyRatio*float64(e.plan.Stop.After))
}

// await looks until a condition holds or patience is over.
func (e *end) await(ctx context.Context, until time.Time, holds func(l intcp.Look) bool) (isThere bool) {
	for {
		if l, _ := e.look(); holds(l) {
			return true
		}
		if !time.Now().Before(until) || !e.pause(ctx, until) {
			return false
		}
	}
}

// reach waits until the neighbour upstream has answered.
func (e *end) reach(ctx context.Context) error {
	until := earlier(e.plan.Limits.Deadline, e.plan.Begin.Add(e.plan.Patience))
	isMet := e.await(ctx, until, func(intcp.Look) bool { return e.seat().IsMet() })
	switch {
	case isMet:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case e.seat().Err() != nil:
		return e.seat().Err()
	}
	return fmt.Errorf("%w: %s did not answer %s over UDP within %s; open that UDP port towards this host",
		ErrUnreachable, e.plan.Upstream, e.seat().AskingFrom(), e.plan.Patience)
}

// awaitBegin returns at the flow's moment.
func (e *end) awaitBegin(ctx context.Context) error {
	for time.Now().Before(e.plan.Begin) {
		if !e.pause(ctx, e.plan.Begin) {
			return context.Cause(ctx)
		}
	}
	return nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
