package agent

import (
	"context"
	"slices"
	"sync"
	"time"

	"downlink/agents/internal/agent/trial"
	"downlink/agents/internal/server/protocol"
)

// task is a trial or an upload; without work in it, it is what the agent says of itself between two of them.
type task struct {
	status protocol.Status
	ref    protocol.RunRef
	trial  *trial.Trial
	upload *upload
	cancel context.CancelCauseFunc
	done   chan struct{}
}

func (t task) isBusy() bool { return t.done != nil }

func (t task) isTrial() bool { return t.trial != nil }

// hasProgress tells whether there is something new to say at every poll.
func (t task) hasProgress() bool { return t.upload != nil || t.status == protocol.StatusRunning }

// end breaks the task off and waits until it has cleaned up.
func (t task) end(cause error) {
	if t.isBusy() {
		t.cancel(cause)
		<-t.done
	}
}

func (t task) describe(request *protocol.PollRequest, now time.Time) {
	request.Status, request.WaitS = t.status, longWait.Seconds()
	if ref := t.ref; ref != (protocol.RunRef{}) {
		request.RunID, request.Attempt = &ref.RunID, &ref.Attempt
	}
	switch {
	case t.upload != nil:
		done, total := int(t.upload.done.Load()), int(t.upload.total.Load())
		request.Progress = &protocol.Progress{ChunksDone: &done, ChunksTotal: &total}
		if request.Detail = t.upload.trouble.Load(); request.Detail != nil {
			request.Reason = new(protocol.ReasonUploadRefused)
		}
		request.WaitS = 0
	case t.trial != nil && t.status == protocol.StatusRunning:
		request.Progress = t.trial.Progress(now)
		request.WaitS = 0
	}
}

// state is what the agent is doing, and what it remembers of what it did. Its fields and its lock belong to this file alone.
type state struct {
	mu   sync.Mutex
	task task
	// changed is closed, and replaced, when there is something new to say.
	changed chan struct{}
	// ended are the attempts that this process is done with: an order that was on its way while the event of their
	// end was delivered must not begin them again.
	ended  map[protocol.RunRef]struct{}
	stalls []stall
}

// stall is an upload that waits for whatever refuses it to be gone.
type stall struct {
	ref      protocol.RunRef
	until    time.Time
	sentence string
}

func newState() *state {
	return &state{task: task{status: protocol.StatusIdle}, changed: make(chan struct{}), ended: map[protocol.RunRef]struct{}{}}
}

// current is the task as it is now: who has two questions asks both of one answer.
func (s *state) current() task {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.task
}

// setStatus changes what the agent says of itself and makes it say so.
func (s *state) setStatus(status protocol.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.task.status = status
	s.tell()
}

// say makes the agent poll at once.
func (s *state) say() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell()
}

// tell is for who holds the lock.
func (s *state) tell() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// news is closed when what the agent says of itself after this call differs from what it says now.
func (s *state) news() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// begin makes a task the current one; work runs beside, and the status after it is what work returns.
func (s *state) begin(ctx context.Context, t task, work func(ctx context.Context) protocol.Status) {
	// A task outlives the loop that began it: it ends by its own cancellation, which carries the reason.
	ctx, t.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	t.done = make(chan struct{})
	s.mu.Lock()
	s.task = t
	s.mu.Unlock()
	go func() { s.finish(t, work(ctx)) }()
}

func (s *state) finish(t task, status protocol.Status) {
	s.mu.Lock()
	s.task = task{status: status}
	if t.isTrial() {
		s.ended[t.ref] = struct{}{}
	}
	if status != protocol.StatusIdle {
		s.task.ref = t.ref
	}
	s.mu.Unlock()
	t.cancel(nil)
	close(t.done)
	s.say()
}

// forget turns "restored" into "idle" once nothing of the run is left.
func (s *state) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.task.isBusy() {
		s.task = task{status: protocol.StatusIdle}
	}
}

// decline notes an attempt that was never begun as ended, and makes the agent say so.
func (s *state) decline(ref protocol.RunRef) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended[ref] = struct{}{}
	s.tell()
}

// knows tells whether an attempt is under way or has ended.
func (s *state) knows(ref protocol.RunRef) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, hasEnded := s.ended[ref]
	return hasEnded || s.task.ref.Is(ref)
}

// stall notes that an upload waits.
func (s *state) stall(one stall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stalls = append(s.stalls, one)
}

func (s *state) clearStall(ref protocol.RunRef) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stalls = slices.DeleteFunc(s.stalls, func(one stall) bool { return one.ref.Names(ref) })
}

// isStalled tells whether an upload waits; its order comes with every poll meanwhile.
func (s *state) isStalled(ref protocol.RunRef, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.stalls, func(one stall) bool { return one.ref.Names(ref) && now.Before(one.until) })
}

// firstStall is what is said of the upload that has waited longest; empty: none does.
func (s *state) firstStall() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.stalls) == 0 {
		return ""
	}
	return s.stalls[0].sentence
}
