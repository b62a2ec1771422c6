package intcpsocket

import (
	"context"
	"fmt"
	"time"

	"downlink/agents/internal/flow/transfer"
	"downlink/agents/internal/intcp"
)

// grantBytes is how far ahead of what has left a sender's data are there: some milliseconds of 2 Gb/s, and what waits
// at its first hop in any case.
const grantBytes = 8 << 20

// Sender is the end of a flow that has the content. It sends what is asked for, at the rate that is asked for.
type Sender struct {
	end
	ready int64 // bytes that are there
}

// NewSender returns a sender that has done nothing yet.
func NewSender(plan FlowPlan) *Sender { return &Sender{end: end{plan: plan}} }

// Open waits for somebody who asks for the content, which the home has published, and for the flow's moment.
func (s *Sender) Open(ctx context.Context) (err error) {
	until := earlier(s.plan.Limits.Deadline, s.plan.Begin.Add(s.plan.Patience))
	if !s.await(ctx, until, func(l intcp.Look) bool { return l.Readers > 0 }) {
		s.missed = fmt.Errorf("%w: nobody asked for the flow within %s; check that UDP reaches this host's data port",
			transfer.ErrNoConnection, s.plan.Patience)
		if ctx.Err() != nil {
			s.missed = context.Cause(ctx)
		}
		return s.missed
	}
	l, now := s.look()
	s.moved = now
	s.result = transfer.Result{Connected: time.Now(), Local: s.plan.Home.Local().String(), Peer: addrPort(l.Peer).String()}
	if err = s.awaitBegin(ctx); err != nil {
		s.missed = err
	}
	return err
}

// Run lets data leave until the flow has ended.
func (s *Sender) Run(ctx context.Context, endSamples func()) {
	for !s.hasEnded() {
		s.watch(endSamples)
		if s.hasEnded() || !s.pause(ctx, s.nextMoment()) {
			break
		}
	}
	if s.result.Ended == transfer.EndedStopRule {
		s.drain(ctx)
	}
	l, _ := s.look()
	s.takeIn(&l)
	s.plan.Budget.GiveBackTo(s.charged(leaving), int64(l.ReachedBytes)) // another flow of the content takes it again
}

// nextMoment is when there is something to do before the next tick.
func (s *Sender) nextMoment() time.Time {
	next := s.plan.Limits.Deadline
	if s.plan.Stop.After > 0 && !s.result.FirstByte.IsZero() {
		next = earlier(next, s.result.FirstByte.Add(s.plan.Stop.After))
	}
	if s.plan.Offer != nil {
		next = earlier(next, s.plan.Offer.Next(s.plan.Begin, time.Now()))
	}
	return next
}

// takeIn notes what has left; false means that it was too much. What leaves of a shared content again was not granted before.
func (s *Sender) takeIn(l *intcp.Look) (isWithin bool) {
	s.plan.AppBytes.Store(int64(l.ReachedBytes))
	s.result.FirstByte, s.result.LastByte = s.notBefore(s.plan.Home.At(l.FirstSent)), s.plan.Home.At(l.LastSent)
	s.moved = max(s.moved, l.Heard)
	return !s.plan.IsShared || s.spend(again, int64(l.PassedBytes)-int64(l.ReachedBytes))
}

func (s *Sender) watch(endSamples func()) {
	l, now := s.look()
	if !s.takeIn(&l) {
		return
	}
	reached := int64(l.ReachedBytes)
	switch {
	case s.plan.Stop.Bytes > 0 && reached >= s.plan.Stop.Bytes:
		s.finish(transfer.EndedStopRule, "")
	case s.isOver() && !s.isStalled(now):
		s.plan.Home.Withhold(s.plan.Content)
		s.finish(transfer.EndedStopRule, "")
		endSamples()
	case l.Readers == 0 && s.isComplete(reached, s.result.FirstByte):
		s.finish(transfer.EndedStopRule, "")
	case l.Readers == 0:
		s.finish(transfer.EndedPeerClosed, "%s ended the flow before the stop rule", s.result.Peer)
	default:
		s.endByTime(now)
	}
	if !s.hasEnded() {
		s.give(reached)
	}
}

// give makes more of the content ready: what the offer says, and what the budget allows.
func (s *Sender) give(reached int64) {
	wanted := reached + grantBytes
	if s.plan.Offer != nil {
		wanted = s.plan.Offer.Bytes(time.Since(s.plan.Begin))
	}
	wanted = min(wanted, int64(s.plan.Content.Length))
	granted := s.plan.Budget.TakeUpTo(s.charged(leaving), wanted)
	if granted < wanted && reached > granted-int64(s.plan.Content.UnitBytes) { // only whole units leave
		s.finish(transfer.EndedAborted, "%s", s.plan.Budget.Exceeded())
		return
	}
	if ready := min(wanted, granted); ready > s.ready {
		s.ready = ready
		s.plan.Home.Do(func(_ time.Duration, node *intcp.Node) {
			offer := node.Offer
			if s.plan.Offer != nil {
				offer = node.OfferMade
			}
			offer(s.plan.Content.Run, s.plan.Content.Name, uint64(ready))
		})
	}
}

// drain waits until the requester has ended the flow, which shows that it has everything.
func (s *Sender) drain(ctx context.Context) {
	limit := s.plan.Limits.Deadline
	if s.plan.Stop.After > 0 {
		limit = earlier(limit, time.Now().Add(s.plan.Limits.DrainLimit()))
	}
	for {
		l, now := s.look()
		isWithin := s.takeIn(&l)
		switch {
		case !isWithin, l.Readers == 0:
			return
		case s.isStalled(now), s.plan.Stop.Bytes > 0 && !time.Now().Before(limit):
			s.endByTime(now)
			return
		case !time.Now().Before(limit):
			s.result.Detail = fmt.Sprintf("the receiver had not ended the flow %s after the stop moment", s.plan.Limits.DrainLimit())
			return
		}
		if !s.pause(ctx, limit) {
			return
		}
	}
}

// Close tells what came of the flow.
func (s *Sender) Close() (transfer.Result, error) { return s.result, s.missed }
