package agent

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/server/spool"
	"downlink/agents/internal/server/uplink"
)

const (
	// bundleBytes is what a request carries of chunks at first, when one alone is not larger. All that are in flight
	// together pass a return channel of 60 kb/s before the server misses an agent that stores nothing.
	bundleBytes = 512 << 10
	// maxBundleBytes is what it carries at most: where the channel is fast, most of what a request costs the server does
	// not depend on its size.
	maxBundleBytes = 2 << 20
	// quickly is how fast a request must be answered for the next ones to carry more.
	quickly = 4 * time.Second
)

// bundle is chunks that go in one request.
type bundle struct {
	keys   []spool.Key
	chunks []uplink.Chunk
	bytes  int
}

// bundleBytes is what the next request carries: no more than a slow pace gives away in the time after which the server would
// miss an agent that stores nothing, divided by the requests in flight and by four.
func (u *upload) bundleBytes(paceBps float64) int {
	const missedAfterS = 300
	most := paceBps / 8 * missedAfterS / uplink.UploadsInFlight / 4
	return int(min(float64(max(bundleBytes, int(u.carried.Load()))), most))
}

// noteBundle lets requests carry up to twice what one has carried quickly; one that was slow or failed brings them back
// to what every channel carries. They stay there after a refusal: something on the way may take no larger ones.
func (u *upload) noteBundle(bytes int, took time.Duration, err error) {
	switch carried := u.carried.Load(); {
	case carried < 0 || uplink.IsRefusal(err):
		u.carried.Store(-1)
	case err != nil || took > quickly:
		u.carried.Store(0)
	default:
		u.carried.Store(max(carried, min(2*int64(bytes), maxBundleBytes)))
	}
}

// uploadBundles sends chunks several to a request, and returns those that must go one by one: what a request alone tells
// about them is better known, and a server older than this agent takes no other.
func (a *Agent) uploadBundles(ctx context.Context, ref protocol.RunRef, keys []spool.Key, progress *upload) (left []spool.Key, err error) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(uplink.UploadsInFlight)
	var mu sync.Mutex
	leave := func(keys []spool.Key) {
		mu.Lock()
		defer mu.Unlock()
		left = append(left, keys...)
	}
	for len(keys) > 0 && ctx.Err() == nil && !a.sendsSingly.Load() {
		var full bundle
		var unread []spool.Key
		full, unread, keys = a.fill(keys, progress)
		leave(unread)
		group.Go(func() error {
			rest, err := a.sendBundle(ctx, ref, full, progress)
			leave(rest)
			return err
		})
	}
	err = group.Wait()
	return append(left, keys...), err
}

// fill takes chunks from the spool for one request. Those that cannot be read are left to uploadOne, which reports them.
func (a *Agent) fill(keys []spool.Key, progress *upload) (full bundle, unread, rest []spool.Key) {
	for i, key := range keys {
		body, err := a.take(key, progress)
		if err != nil {
			unread = append(unread, key)
			continue
		}
		if body == nil {
			progress.done.Add(1)
			continue
		}
		isFull := full.bytes+len(body) > progress.bundleBytes(a.client.Pace.Bps()) || len(full.keys) == uplink.MaxBundleChunks
		if len(full.keys) > 0 && isFull {
			return full, unread, keys[i:]
		}
		full.bytes += len(body)
		full.keys, full.chunks = append(full.keys, key), append(full.chunks, onTheWay(key, body))
	}
	return full, unread, nil
}

// sendBundle repeats until the request is answered, and returns the chunks that the answer left open. One that does not
// get through in a few tries is too much at a time for something on the way.
func (a *Agent) sendBundle(ctx context.Context, ref protocol.RunRef, full bundle, progress *upload) ([]spool.Key, error) {
	backoff := a.backoff()
	for range troubleTries {
		if len(full.keys) == 0 || a.sendsSingly.Load() {
			break
		}
		began := time.Now()
		answers, err := a.client.PostChunks(ctx, ref, full.chunks)
		progress.noteBundle(full.bytes, time.Since(began), err)
		switch {
		case err == nil:
			return a.settleBundle(full.keys, answers, progress)
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case isUnwanted(err):
			return nil, err
		case uplink.IsRefusal(err):
			a.noteSingly(err)
			return full.keys, nil
		}
		if err := uplink.Pause(ctx, backoff.Next(err)); err != nil {
			return nil, err
		}
	}
	return full.keys, nil
}

func (a *Agent) settleBundle(keys []spool.Key, answers []error, progress *upload) (open []spool.Key, err error) {
	for i, key := range keys {
		switch err := a.settle(key, answers[i]); {
		case err == nil:
			progress.done.Add(1)
		case isUnwanted(err):
			return nil, err
		default:
			open = append(open, key)
		}
	}
	return open, nil
}

// noteSingly remembers, until the agent is restarted, that the server has no place for bundles.
func (a *Agent) noteSingly(err error) {
	status, isAnswer := errors.AsType[*uplink.StatusError](err)
	if isAnswer && (status.Status == http.StatusNotFound || status.Status == http.StatusMethodNotAllowed) {
		a.sendsSingly.Store(true)
	}
}
