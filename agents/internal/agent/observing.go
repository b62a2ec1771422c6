package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"downlink/agents/internal/outside/dish"
	"downlink/agents/internal/outside/modempage"
	"downlink/agents/internal/outside/observe"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/server/uplink"
)

const (
	// sendEvery is between two tries to send what was observed.
	sendEvery = 30 * time.Second
	// mostHold is how long what was observed waits for runs of others: an hour of a dish fits into one call.
	mostHold = time.Hour
	// tellEvery is between two warnings of a source that says nothing.
	tellEvery = 10 * time.Minute
)

// source is a dish or a page.
type source interface {
	Read(ctx context.Context, now time.Time) ([]observe.Observation, error)
}

// watchLink reads dish and modem on their own network, during runs too, and sends what they said while no run is on.
func (a *Agent) watchLink(ctx context.Context) error {
	if !a.config.Observe.IsOn() {
		return nil
	}
	store, err := observe.Open(filepath.Join(a.config.StateDir, "observations"))
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	if address := a.config.Observe.Dish; address != "" {
		asked, err := dish.Open(address)
		if err != nil {
			return err
		}
		defer func() { _ = asked.Close() }()
		every := time.Duration(a.config.Observe.EveryS * float64(time.Second))
		group.Go(func() error { return a.readSource(ctx, "the dish at "+address, every, dish.NewReader(asked), store) })
	}
	for _, path := range a.config.Observe.ModemPages {
		page, err := modempage.Load(path)
		if err != nil {
			return fmt.Errorf("observe: %w", err)
		}
		every := time.Duration(page.EveryS * float64(time.Second))
		group.Go(func() error {
			return a.readSource(ctx, "the modem page "+page.Name, every, modempage.NewReader(page), store)
		})
	}
	group.Go(func() error { return a.sendObservations(ctx, store) })
	return group.Wait()
}

func (a *Agent) readSource(ctx context.Context, name string, every time.Duration, from source, store *observe.Store) error {
	var told time.Time
	for {
		found, err := from.Read(ctx, time.Now())
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil || len(found) > 0 {
			if keepErr := store.Add(found); keepErr != nil {
				a.log.Error("what was observed cannot be kept", "of", name, "error", keepErr)
			}
		}
		if err != nil && time.Since(told) > tellEvery {
			a.log.Warn("not all of it can be read", "of", name, "error", err)
			told = time.Now()
		}
		if err := uplink.Pause(ctx, every); err != nil {
			return err
		}
	}
}

func (a *Agent) sendObservations(ctx context.Context, store *observe.Store) error {
	for {
		if err := uplink.Pause(ctx, a.sendEvery); err != nil {
			return err
		}
		for a.maySend() {
			more, err := a.sendSome(ctx, store)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil {
				a.log.Warn("what was observed does not get through; trying again", "in", a.sendEvery, "error", err)
			}
			if !more || err != nil {
				break
			}
		}
	}
}

// maySend: nothing is sent while this agent has anything to do with a run, of which the upload is a part.
func (a *Agent) maySend() bool {
	isBusy := a.state.current().isBusy()
	_, waits := a.outbox.Waiting()
	return !isBusy && !waits
}

// mustHold: a run of other agents is on the link behind which this one is. What crosses no link does not wait.
func (a *Agent) mustHold(ctx context.Context, now time.Time) bool {
	if a.config.SeparateUplink {
		return false
	}
	var isHeld bool
	err := a.gate.Pass(ctx, func(ctx context.Context) (err error) {
		isHeld, err = a.client.HoldsObservations(ctx)
		return err
	})
	if err != nil || !isHeld {
		a.heldSince = time.Time{}
		return false
	}
	if a.heldSince.IsZero() {
		a.heldSince = now
	}
	if now.Sub(a.heldSince) < a.mostHold {
		return true
	}
	a.heldSince = now
	return false
}

// sendSome sends what one call takes; it is broken off when a run begins. What the server refuses permanently is dropped.
func (a *Agent) sendSome(ctx context.Context, store *observe.Store) (more bool, err error) {
	next := store.Next()
	if len(next) == 0 {
		return false, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go a.cancelWhenBusy(ctx, cancel)
	if a.mustHold(ctx, time.Now()) {
		return false, nil
	}
	request := protocol.ObservationsRequest{}
	if name := a.config.Observe.Link; name != "" {
		request.Link = &name
	}
	for _, one := range next {
		request.Observations = append(request.Observations, protocol.ObservedValue{
			Quantity: one.Quantity, Unit: one.Unit, Source: one.Source, At: protocol.Moment{Time: one.At}, Value: one.Value,
		})
	}
	var reply protocol.ObservationsReply
	err = a.gate.Pass(ctx, func(ctx context.Context) (err error) {
		reply, err = a.client.PostObservations(ctx, request)
		return err
	})
	a.sayRefused(reply, len(next))
	if refused, isAnswer := errors.AsType[*uplink.StatusError](err); isAnswer && refused.IsOurs() &&
		refused.Status == http.StatusUnprocessableEntity {
		a.log.Error("the server takes none of what was observed; it is dropped", "values", len(next), "error", err)
		err = nil
	}
	if err != nil {
		return false, err
	}
	return true, store.Done()
}

// sayRefused says what is lost, and why.
func (a *Agent) sayRefused(reply protocol.ObservationsReply, sent int) {
	if reply.RefusedCount == 0 {
		return
	}
	var why []string
	for _, each := range reply.Refused {
		if !slices.Contains(why, each.Message) {
			why = append(why, each.Message)
		}
	}
	a.log.Error("the server never takes some of what was observed; it is dropped", "values", reply.RefusedCount, "of", sent, "why", why)
}

// cancelWhenBusy ends a call when the agent is given something to do.
func (a *Agent) cancelWhenBusy(ctx context.Context, cancel context.CancelFunc) {
	for ctx.Err() == nil {
		news := a.state.news()
		if !a.maySend() {
			cancel()
			return
		}
		select {
		case <-news:
		case <-ctx.Done():
		}
	}
}
