package agent

import (
	"context"
	"errors"
	"net/http"
	"time"

	"downlink/agents/internal/protocol"
	"downlink/agents/internal/spool"
	"downlink/agents/internal/uplink"
)

func (a *Agent) startUpload(ctx context.Context, ref protocol.RunRef) {
	a.mu.Lock()
	isBusy := a.state.isBusy()
	a.mu.Unlock()
	if isBusy || a.outbox.Has(ref) {
		return
	}
	progress := &upload{}
	a.begin(ctx, state{status: protocol.StatusUploading, ref: ref, upload: progress}, func(ctx context.Context) protocol.Status {
		a.upload(ctx, ref, progress)
		return protocol.StatusIdle
	})
}

// upload sends an attempt's chunks in order. What is not dealt with stays for the next order.
func (a *Agent) upload(ctx context.Context, ref protocol.RunRef, progress *upload) {
	keys, err := a.spool.Keys(ref.RunID, ref.Attempt)
	if err != nil {
		a.log.Error("the spool cannot be read", "error", err)
		return
	}
	progress.total.Store(int64(len(keys)))
	for _, key := range keys {
		if err := a.uploadOne(ctx, key); err != nil {
			a.log.Error("an upload ended early; the server will ask again", "run_id", ref.RunID, "error", err)
			return
		}
		progress.done.Add(1)
	}
	head := protocol.EventHead{Kind: protocol.KindUploaded, Attempt: ref.Attempt, At: protocol.Moment{Time: time.Now()}}
	a.keep(ref, protocol.Uploaded{EventHead: head})
}

// uploadOne settles one chunk: acknowledged, or set aside because it can never be. The server misses the latter by the
// counts of the run's `finished`.
func (a *Agent) uploadOne(ctx context.Context, key spool.Key) error {
	body, err := a.spool.Get(key)
	if errors.Is(err, spool.ErrCorrupt) {
		a.log.Error("a chunk is damaged and was set aside", "chunk", key, "error", err)
		return nil
	}
	if err != nil {
		return err
	}
	err = a.put(ctx, key, body)
	if isRefused(err) {
		a.log.Error("the server refused a chunk; it was set aside", "chunk", key, "error", err)
		return a.spool.Quarantine(key)
	}
	if err != nil {
		return err
	}
	return a.spool.Remove(key)
}

// isRefused tells a chunk that the server will never take from one that it does not take now, or not from this agent.
func isRefused(err error) bool {
	var status *uplink.StatusError
	if !errors.As(err, &status) {
		return false
	}
	isConflict := status.Status == http.StatusConflict && status.Problem.Code != "not_your_run" && status.Problem.Code != "chunk_unwanted"
	return isConflict || status.Status == http.StatusUnprocessableEntity
}

// put repeats until the chunk is acknowledged or refused, or the task ends.
func (a *Agent) put(ctx context.Context, key spool.Key, body []byte) error {
	chunk := uplink.Chunk{
		RunRef: protocol.RunRef{RunID: key.RunID, Attempt: key.Attempt}, Flow: key.Flow, End: key.End, Sequence: key.Sequence, Body: body,
	}
	backoff := uplink.DefaultBackoff()
	for {
		err := a.client.PutChunk(ctx, chunk)
		if err == nil || isSettled(err) {
			return err
		}
		if err := uplink.Pause(ctx, backoff.Next(err)); err != nil {
			return err
		}
	}
}

// isSettled tells whether repeating the same chunk could not help. A chunk that was damaged on its way is repeated.
func isSettled(err error) bool {
	if status, ok := errors.AsType[*uplink.StatusError](err); ok {
		return status.IsFinal() && status.Problem.Code != "chunk_damaged"
	}
	return errors.Is(err, uplink.ErrRevoked)
}
