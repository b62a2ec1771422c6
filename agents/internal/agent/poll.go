package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"time"

	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/server/spool"
	"downlink/agents/internal/server/uplink"
)

const (
	// longWait is the longest that the protocol lets a poll be held.
	longWait = 25 * time.Second
	// busyPause is between the polls of an agent that has progress to tell.
	busyPause = time.Second
	// orderPause keeps an order that is being carried out already from being fetched in a tight loop.
	orderPause = 500 * time.Millisecond
	// stalledPause is between the polls of an agent that is ordered to upload what does not get through.
	stalledPause = 5 * time.Second
	// factsInterval is how often an idle agent looks whether its host has changed.
	factsInterval = time.Minute
)

// pollAll polls until the context ends or the secret is revoked.
func (a *Agent) pollAll(ctx context.Context) error {
	backoff := uplink.DefaultBackoff()
	facts := &factsKeeper{read: a.hostFacts}
	for {
		a.pulse.beat(time.Now(), 0)
		news := a.state.news()
		response, err := a.pollOnce(ctx, facts, news)
		var pause time.Duration
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, uplink.ErrRevoked):
			return err
		case errors.Is(err, context.Canceled):
			// Interrupted to say something new, or silenced: the next poll waits for the gate by itself.
			continue
		case err != nil:
			pause = backoff.Next(err)
			a.log.Warn("the server gives no order; trying again", "in", pause.Round(time.Millisecond), "error", err)
		case a.lacksClock(response.Order):
			backoff.Reset()
			continue
		default:
			backoff.Reset()
			if response.HoldUpload {
				a.holdUpload()
			}
			pause = a.follow(ctx, response.Order)
		}
		a.pulse.beat(time.Now(), pause)
		if err := pauseUnless(ctx, pause, news); err != nil {
			return err
		}
	}
}

// lacksClock: an answer that was held has a run in it, and shows that the server's clock was set. The next poll is not held, and
// brings the order again.
func (a *Agent) lacksClock(order protocol.Order) bool {
	_, isPrepare := order.(*protocol.Prepare)
	return isPrepare && a.client.Clock.WantsExchange(time.Now())
}

// pollOnce makes one poll, which ends early when the agent has something new to say.
func (a *Agent) pollOnce(ctx context.Context, facts *factsKeeper, news <-chan struct{}) (protocol.PollResponse, error) {
	var response protocol.PollResponse
	err := a.gate.Pass(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() {
			select {
			case <-news:
				cancel()
			case <-ctx.Done():
			}
		}()
		now := time.Now()
		request := a.snapshot(now)
		request.Host = facts.news(now, request.Status)
		var err error
		response, err = a.client.Poll(ctx, request)
		if err == nil {
			facts.told(request.Host)
		} else if ctx.Err() != nil {
			err = ctx.Err()
		}
		return err
	})
	return response, err
}

// snapshot is what the agent says of itself now.
func (a *Agent) snapshot(now time.Time) protocol.PollRequest {
	request := protocol.PollRequest{Protocol: protocol.Version, Spool: []protocol.Spooled{}}
	for _, h := range a.spool.Held() {
		request.Spool = append(request.Spool, spooled(h))
	}
	a.state.current().describe(&request, now)
	if request.Status == protocol.StatusIdle {
		a.qualifyIdle(&request, now)
	}
	if request.Detail != nil {
		request.Detail = new(protocol.Sentence(*request.Detail))
	}
	if a.client.Clock.WantsExchange(now) {
		request.WaitS = 0
	}
	return request
}

// qualifyIdle says what keeps an agent without a task from taking one.
func (a *Agent) qualifyIdle(request *protocol.PollRequest, now time.Time) {
	if a.keeper.Pending() {
		request.Status = protocol.StatusBlocked
		request.Detail = new(a.notRestored())
		return
	}
	// Until the server has heard how the last run ended here, "idle" would look like a restart in the middle of it.
	if ref, some := a.outbox.Waiting(); some {
		request.Status, request.RunID, request.Attempt = protocol.StatusRestoring, &ref.RunID, &ref.Attempt
		request.Detail = new("events of this run wait for their delivery")
		return
	}
	if why := a.rest(now); why != "" {
		request.Status, request.Detail = protocol.StatusBlocked, &why
		return
	}
	if sentence := a.state.firstStall(); sentence != "" {
		request.Detail, request.Reason = &sentence, new(protocol.ReasonUploadRefused)
		return
	}
	if count, ref := a.outbox.Aside(); count > 0 {
		request.Detail = new(fmt.Sprintf("%d events are set aside, of run %s among others: the server's side refuses them again and again; "+
			"this agent's log says how", count, ref.RunID))
	}
}

// notRestored says what to do, and what is in the way. The end comes first: a sentence may be cut.
func (a *Agent) notRestored() string {
	why := "this host's settings are not as before the last run; run `downlink-agent restore` on it"
	if trouble := a.keeper.Trouble(); trouble != nil {
		why += ": " + trouble.Error()
	}
	return why
}

func spooled(h spool.Held) protocol.Spooled {
	return protocol.Spooled{RunRef: protocol.RunRef{RunID: h.RunID, Attempt: h.Attempt}, Chunks: h.Chunks}
}

// pauseUnless waits, but not when there is something new to say.
func pauseUnless(ctx context.Context, pause time.Duration, news <-chan struct{}) error {
	if pause == 0 {
		return nil
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-news:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// factsKeeper sends the host's facts at the first poll and whenever they change.
type factsKeeper struct {
	read   func() *protocol.Host
	last   []byte
	clock  *protocol.ClockFacts
	readAt time.Time
}

// news returns nil when the server knows the facts already. They are not read while a run is on: its settings are not
// the host's own.
func (f *factsKeeper) news(now time.Time, status protocol.Status) *protocol.Host {
	isOwn := status == protocol.StatusIdle || status == protocol.StatusBlocked || status == protocol.StatusRestored
	if f.last != nil && (!isOwn || now.Sub(f.readAt) < factsInterval) {
		return nil
	}
	f.readAt = now
	facts := f.read()
	if string(fingerprint(*facts)) == string(f.last) && !hasMoved(f.clock, facts.Clock) {
		return nil
	}
	return facts
}

// hasMoved tells news of a clock from what its error allows.
func hasMoved(before, now *protocol.ClockFacts) bool {
	if before == nil || now == nil {
		return now != nil
	}
	return math.Abs(now.OffsetMs-before.OffsetMs) > before.ErrorMs+now.ErrorMs || now.ErrorMs < before.ErrorMs/2
}

func (f *factsKeeper) told(facts *protocol.Host) {
	if facts != nil {
		f.last, f.clock = fingerprint(*facts), facts.Clock
	}
}

// fingerprint leaves out the free disk but for its order of magnitude, since the number itself would be news all the time. It is
// news when half of it is gone: that a pre-flight sees a small disk fill up. What of a month is used is news by percents of it.
func fingerprint(facts protocol.Host) []byte {
	if policy := facts.Policy; policy != nil && policy.Month != nil {
		coarse, month := *policy, *policy.Month
		month.UsedBytes = int64(100 * float64(month.UsedBytes) / float64(max(1, month.LimitBytes)))
		coarse.Month, facts.Policy = &month, &coarse
	}
	facts.SpoolFreeBytes = int64(bits.Len64(uint64(max(0, facts.SpoolFreeBytes))))
	facts.Clock = nil
	encoded, err := json.Marshal(facts)
	if err != nil {
		return nil
	}
	return encoded
}
