package agent

import (
	"context"
	"time"

	"downlink/agents/internal/agent/trial"
	"downlink/agents/internal/server/protocol"
)

// state is what the agent is doing. A task is a trial or an upload, one at a time.
type state struct {
	status protocol.Status
	ref    protocol.RunRef
	trial  *trial.Trial
	upload *upload
	cancel context.CancelCauseFunc
	done   chan struct{}
}

func (s *state) isBusy() bool { return s.done != nil }

func (s *state) describe(request *protocol.PollRequest, now time.Time) {
	request.Status, request.WaitS = s.status, longWait.Seconds()
	if ref := s.ref; ref != (protocol.RunRef{}) {
		request.RunID, request.Attempt = &ref.RunID, &ref.Attempt
	}
	switch {
	case s.upload != nil:
		done, total := int(s.upload.done.Load()), int(s.upload.total.Load())
		request.Progress = &protocol.Progress{ChunksDone: &done, ChunksTotal: &total}
		if request.Detail = s.upload.trouble.Load(); request.Detail != nil {
			request.Reason = new(protocol.ReasonUploadRefused)
		}
		request.WaitS = 0
	case s.trial != nil && s.status == protocol.StatusRunning:
		request.Progress = s.trial.Progress(now)
		request.WaitS = 0
	}
}

// setStatus changes what the agent says of itself and makes it say so.
func (a *Agent) setStatus(status protocol.Status) {
	a.mu.Lock()
	a.state.status = status
	a.mu.Unlock()
	a.say()
}

func (a *Agent) say() {
	a.mu.Lock()
	defer a.mu.Unlock()
	close(a.changed)
	a.changed = make(chan struct{})
}

// news is closed when what the agent says of itself after this call differs from what it says now.
func (a *Agent) news() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.changed
}

func (a *Agent) currentRef() protocol.RunRef {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state.ref
}

// begin makes a task the current one; work runs beside, and the state after it is what finish returns.
func (a *Agent) begin(ctx context.Context, s state, work func(ctx context.Context) protocol.Status) {
	// A task outlives the loop that began it: it ends by its own cancellation, which carries the reason.
	ctx, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	s.done = make(chan struct{})
	a.mu.Lock()
	a.state = s
	a.mu.Unlock()
	go func() {
		status := work(ctx)
		a.finish(s, status)
	}()
}

func (a *Agent) finish(s state, status protocol.Status) {
	a.mu.Lock()
	a.state = state{status: status}
	if s.trial != nil {
		a.ended[s.ref] = struct{}{}
	}
	if status != protocol.StatusIdle {
		a.state.ref = s.ref
	}
	a.mu.Unlock()
	s.cancel(nil)
	close(s.done)
	a.say()
}

// endTask breaks the current task off and waits until it has cleaned up.
func (a *Agent) endTask(cause error) {
	a.mu.Lock()
	s := a.state
	a.mu.Unlock()
	if s.isBusy() {
		s.cancel(cause)
		<-s.done
	}
}
