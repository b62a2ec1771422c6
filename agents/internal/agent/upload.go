package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/server/spool"
	"downlink/agents/internal/server/uplink"
)

// upload is what an upload under way has to say of itself.
type upload struct {
	done, total atomic.Int64
	// trouble is a sentence about a chunk that does not get through, or nil.
	trouble atomic.Pointer[string]
	// left counts the chunks that were left for later.
	left atomic.Int64
	// carried is how many bytes a request with several chunks may carry because others got through quickly; below 0
	// after one was refused.
	carried atomic.Int64

	mu sync.Mutex
	// gone are chunks whose files somebody has removed.
	gone []spool.Key
}

func (u *upload) noteGone(key spool.Key) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.gone = append(u.gone, key)
}

func (u *upload) goneOnes() []protocol.Missing {
	u.mu.Lock()
	defer u.mu.Unlock()
	slices.SortFunc(u.gone, spool.Compare)
	return ranges(u.gone, protocol.WhyGone)
}

const (
	// troubleTries is how often a chunk must fail before the server and people hear of it: a proxy that is restarted
	// is back within the 4 s and more that these take.
	troubleTries = 5
	// leaveTries is how often a chunk is refused before it is left for later, which takes about a minute. Once one was
	// left, troubleTries are enough: whatever refused it is not gone so soon.
	leaveTries = 8
	// leaveFor is how long the agent is free for runs before it tries again.
	leaveFor = 10 * time.Minute
)

// errHeld ends an upload that would cross a link under a run.
var errHeld = errors.New("a run holds the link that the upload crosses")

// holdUpload ends an upload at once: what was on its way is broken off, and what is left stays in the spool. The server asks for it
// again when no run is in its way.
func (a *Agent) holdUpload() {
	if t := a.state.current(); t.upload != nil {
		a.log.Info("the upload waits: a run holds the link that it crosses", "run_id", t.ref.RunID, "attempt", t.ref.Attempt)
		t.end(errHeld)
	}
}

func (a *Agent) startUpload(ctx context.Context, ref protocol.RunRef) {
	if a.state.current().isBusy() || a.outbox.Waits(ref) {
		return
	}
	a.state.clearStall(ref)
	progress := &upload{}
	a.state.begin(ctx, task{status: protocol.StatusUploading, ref: ref, upload: progress}, func(ctx context.Context) protocol.Status {
		a.upload(ctx, ref, progress)
		return protocol.StatusIdle
	})
}

// upload sends an attempt's chunks, several at a time and in any order: each is forgotten when it is acknowledged, so
// that whatever comes in between, the next upload begins with what is left.
func (a *Agent) upload(ctx context.Context, ref protocol.RunRef, progress *upload) {
	keys := a.spool.Keys(ref.RunID, ref.Attempt)
	progress.total.Store(int64(len(keys)))
	left, err := a.uploadBundles(ctx, ref, keys, progress)
	if err == nil {
		err = a.uploadSingly(ctx, left, progress)
	}
	if err != nil && errors.Is(context.Cause(ctx), errHeld) {
		return
	}
	if err != nil {
		a.log.Error("an upload ended early; what is left stays in the spool", "run_id", ref.RunID, "error", err)
		return
	}
	if left := progress.left.Load(); left > 0 {
		a.noteStall(ref, left, progress)
		return
	}
	a.keep(ref, uploaded(ref, append(progress.goneOnes(), a.badOnes(ref)...)))
}

func (a *Agent) uploadSingly(ctx context.Context, keys []spool.Key, progress *upload) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(uplink.UploadsInFlight)
	for _, key := range keys {
		group.Go(func() error { return a.uploadOne(ctx, key, progress) })
	}
	return group.Wait()
}

// noteStall makes the agent free for runs: a proxy that lets no chunk pass must not keep it, and its link, for ever.
func (a *Agent) noteStall(ref protocol.RunRef, left int64, progress *upload) {
	trouble := progress.trouble.Load()
	if trouble == nil {
		trouble = new("")
	}
	a.log.Error("chunks do not get through; they stay in the spool and are tried again", "run_id", ref.RunID, "chunks", left, "in", leaveFor)
	sentence := fmt.Sprintf("%d chunks of run %s are left for later. %s", left, ref.RunID, *trouble)
	a.state.stall(stall{ref: ref, until: time.Now().Add(leaveFor), sentence: sentence})
}

// uploadOne repeats until a chunk is acknowledged, set aside because it can never be, or left for later, or the upload
// ends. The server misses a chunk that was set aside by the counts of the run's `finished`.
func (a *Agent) uploadOne(ctx context.Context, key spool.Key, progress *upload) error {
	backoff := a.backoff()
	for tries := 0; ; {
		err := a.offer(ctx, key, progress)
		switch {
		case err == nil:
			if tries >= troubleTries && progress.left.Load() == 0 {
				progress.trouble.Store(nil)
			}
			progress.done.Add(1)
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case isUnwanted(err):
			return err
		}
		if uplink.IsRefusal(err) || isUnreadable(err) {
			tries++
			a.noteTrouble(key, tries, err, progress)
		}
		if tries >= leaveTries || tries >= troubleTries && progress.left.Load() > 0 {
			progress.left.Add(1)
			return nil
		}
		if err := uplink.Pause(ctx, backoff.Next(err)); err != nil {
			return err
		}
	}
}

func (a *Agent) noteTrouble(key spool.Key, tries int, err error, progress *upload) {
	if tries < troubleTries {
		return
	}
	sentence := fmt.Sprintf("Chunk %d of flow %d's %s did not get through in %d tries: %v", key.Sequence, key.Flow, key.Point, tries, err)
	sentence = firstWords(sentence)
	progress.trouble.Store(&sentence)
	a.log.Error("a chunk does not get through; it is tried again", "run_id", key.RunID, "chunk", key, "tries", tries, "error", err)
}

// take reads a chunk from the spool. It returns none, and no error, where there is nothing to send any more.
func (a *Agent) take(key spool.Key, progress *upload) ([]byte, error) {
	body, err := a.spool.Get(key)
	switch {
	case errors.Is(err, spool.ErrCorrupt):
		a.log.Error("a chunk is damaged and was set aside", "chunk", key, "error", err)
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		a.log.Error("a chunk is gone from the spool; somebody has removed its file", "chunk", key)
		progress.noteGone(key)
		return nil, a.spool.Remove(key)
	}
	return body, err
}

// offer makes one try.
func (a *Agent) offer(ctx context.Context, key spool.Key, progress *upload) error {
	body, err := a.take(key, progress)
	if err != nil || body == nil {
		return err
	}
	return a.settle(key, a.client.PutChunk(ctx, onTheWay(key, body)))
}

func onTheWay(key spool.Key, body []byte) uplink.Chunk {
	ref := protocol.RunRef{RunID: key.RunID, Attempt: key.Attempt}
	return uplink.Chunk{RunRef: ref, Flow: key.Flow, Point: protocol.Point(key.Point), Sequence: key.Sequence, Body: body}
}

// settle forgets a chunk that the server has, or will never take, and returns whatever else was answered.
func (a *Agent) settle(key spool.Key, answer error) error {
	if isRefused(answer) {
		a.log.Error("the server refused a chunk; it was set aside", "chunk", key, "error", answer)
		return a.spool.Quarantine(key)
	}
	if answer != nil {
		return answer
	}
	return a.spool.Remove(key)
}

// isUnreadable tells trouble with this host's disk, which must not be taken for a server that is away.
func isUnreadable(err error) bool {
	_, isFile := errors.AsType[*fs.PathError](err)
	return isFile
}

// isRefused tells a chunk that the server itself will never take from one that it does not take now, or not from this
// agent. A chunk that was damaged on its way is repeated.
func isRefused(err error) bool {
	status, isAnswer := errors.AsType[*uplink.StatusError](err)
	if !isAnswer || !status.IsFinal() || isUnwanted(err) || status.Problem.Code == "chunk_damaged" {
		return false
	}
	return slices.Contains([]int{http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}, status.Status)
}

// isUnwanted tells an upload that is over: the run is no longer this agent's, or takes no chunks now.
func isUnwanted(err error) bool {
	status, isAnswer := errors.AsType[*uplink.StatusError](err)
	if !isAnswer {
		return errors.Is(err, uplink.ErrRevoked)
	}
	return status.Problem.Code == "not_your_run" || status.Problem.Code == "chunk_unwanted"
}
