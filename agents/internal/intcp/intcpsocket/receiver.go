package intcpsocket

import (
	"context"
	"fmt"
	"strings"
	"time"

	"downlink/agents/internal/flow/transfer"
	"downlink/agents/internal/intcp"
)

// relaySlack is how much longer than a relay waits for its own neighbour a receiver waits for the first byte: the relay can say
// who did not answer, and the receiver only that nothing came.
const relaySlack = 2 * time.Second

// Receiver is the end of a flow that wants the content.
type Receiver struct {
	end
	consumer *intcp.Consumer
	wrong    *intcp.Wrong
}

// NewReceiver returns a receiver that has done nothing yet.
func NewReceiver(plan FlowPlan) *Receiver { return &Receiver{end: end{plan: plan}} }

// Open reaches the neighbour upstream and, at the flow's moment, begins to ask.
func (r *Receiver) Open(ctx context.Context) (err error) {
	if err = r.reach(ctx); err == nil {
		err = r.awaitBegin(ctx)
	}
	if err == nil {
		r.plan.Home.Do(func(now time.Duration, node *intcp.Node) {
			r.consumer, err = node.Consume(now, r.plan.Content, r.plan.Stream)
			r.moved = now
		})
	}
	r.missed = err
	r.waitsUntil = r.plan.Begin.Add(r.plan.Patience + relaySlack)
	if err == nil {
		r.result = transfer.Result{Connected: time.Now(), Local: r.plan.Home.Local().String(), Peer: r.plan.Upstream}
	}
	return err
}

// Consumer is what the consumer has counted so far, and its window in bytes.
func (r *Receiver) Consumer() (counts intcp.ConsumerCounts, windowBytes int) {
	r.plan.Home.Do(func(time.Duration, *intcp.Node) { counts, windowBytes = r.consumer.Counts(), r.consumer.WindowBytes() })
	return counts, windowBytes
}

// Run takes data in until the flow has ended.
func (r *Receiver) Run(ctx context.Context, _ func()) {
	stopAt := r.plan.Limits.Deadline
	for !r.hasEnded() {
		if !r.pause(ctx, stopAt) {
			break
		}
		r.watch()
		if r.plan.Stop.After > 0 && !r.result.FirstByte.IsZero() {
			stopAt = earlier(stopAt, r.result.FirstByte.Add(r.plan.Stop.After))
		}
	}
	r.plan.Home.Do(func(now time.Duration, _ *intcp.Node) { r.consumer.Stop(now) })
	r.takeIn()
	if r.result.FirstByte.IsZero() && (r.result.Ended == transfer.EndedLinkLost || r.result.Ended == transfer.EndedDeadline) {
		r.missed = fmt.Errorf("%w: nothing came from %s (%s)", transfer.ErrNoConnection, r.plan.Upstream, r.result.Ended)
	}
}

// seen is a receiver's flow as it is now.
type seen struct {
	now     time.Duration
	arrived int64 // bytes of the content, for all its flows here
	counts  intcp.ConsumerCounts
	state   string
	wrong   intcp.Wrong
	isWrong bool
}

// takeIn notes what has come.
func (r *Receiver) takeIn() (s seen) {
	var times intcp.Times
	content := r.plan.Content
	r.plan.Home.Do(func(now time.Duration, node *intcp.Node) {
		look := node.Look(now, content.Run, content.Name)
		times, s.arrived = look.Times, int64(look.ArrivedBytes)
		s.now, s.counts = now, r.consumer.Counts()
		s.state, _ = r.consumer.State()
		s.wrong, s.isWrong = r.consumer.Wrong()
	})
	r.plan.AppBytes.Store(int64(s.counts.InOrderBytes))
	r.result.FirstByte, r.result.LastByte = r.plan.Home.At(times.FirstArrived), r.plan.Home.At(times.LastArrived)
	r.moved = max(r.moved, times.LastArrived)
	return s
}

func (r *Receiver) watch() {
	s := r.takeIn()
	if !r.spend(arriving, s.arrived) {
		return
	}
	switch {
	case s.state == "complete":
		r.finish(transfer.EndedStopRule, "")
	case s.isWrong:
		r.wrong = &s.wrong
		r.finish(EndedContentWrong, "the unit at byte %d is not the content's, and the tags of hop %d held", s.wrong.Offset, s.wrong.Hop)
	case s.state == "link_lost":
		r.finish(transfer.EndedLinkLost, "what was asked for did not come after %d timeouts", s.counts.Timeouts)
	case strings.HasPrefix(s.state, "refused"):
		r.endByRefusal(s.state)
	case r.isOver() && !r.isStalled(s.now):
		r.finish(transfer.EndedStopRule, "")
	default:
		r.endByTime(s.now)
	}
}

// Wrong tells where the content was wrong; nil where it was not.
func (r *Receiver) Wrong() *intcp.Wrong { return r.wrong }

// endByRefusal: a neighbour that ends the run is one that closed.
func (r *Receiver) endByRefusal(state string) {
	reason := strings.TrimPrefix(state, "refused: ")
	switch {
	case reason != intcp.ReasonEnded.String() && reason != intcp.ReasonDone.String():
		r.finish(EndedRefused, "%s refused the flow: %s", r.plan.Upstream, reason)
	case r.isComplete(r.plan.AppBytes.Load(), r.result.FirstByte):
		r.finish(transfer.EndedStopRule, "")
	default:
		r.finish(transfer.EndedPeerClosed, "%s ended the flow before the stop rule", r.plan.Upstream)
	}
}

// Close tells what came of the flow.
func (r *Receiver) Close() (transfer.Result, error) { return r.result, r.missed }
