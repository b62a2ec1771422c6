package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// ErrUpstream means that a relay did not reach the neighbour upstream.
var ErrUpstream = errors.New("the neighbour upstream cannot be reached")

// Relay ends a flow's TCP connection from downstream, and has one of its own to the neighbour upstream. What comes from
// there it passes on. Hooks are of the connection on which it sends.
type Relay struct {
	connection
	plan   SendPlan
	dial   ReceivePlan
	up     *net.TCPConn
	missed error
	moving sync.Mutex // of the moment below
	moved  time.Time
}

// NewRelay returns a relay that has done nothing yet. Both plans are of the same flow.
func NewRelay(plan SendPlan, dial ReceivePlan, hooks Hooks) *Relay {
	r := &Relay{connection: connection{hooks: hooks, limits: plan.Limits, appBytes: plan.AppBytes}, plan: plan, dial: dial}
	r.stillFor = r.sinceMoved
	return r
}

func (r *Relay) sinceMoved() time.Duration {
	r.moving.Lock()
	defer r.moving.Unlock()
	return time.Since(r.moved)
}

func (r *Relay) note() {
	r.moving.Lock()
	defer r.moving.Unlock()
	r.moved = time.Now()
}

// Open waits for the neighbour downstream, and reaches the one upstream.
func (r *Relay) Open(ctx context.Context) error {
	r.missed = r.meet(ctx)
	return r.missed
}

func (r *Relay) meet(ctx context.Context) error {
	patience, cancel := context.WithDeadline(ctx, r.plan.waitsUntil())
	defer cancel()
	down, err := r.plan.Port.Accept(patience, r.plan.Flow)
	if err != nil {
		if ctx.Err() == nil {
			err = fmt.Errorf("%w: no neighbour came with the ticket within %s; check that this host's data port can be reached",
				ErrNoConnection, r.plan.waits())
		}
		return err
	}
	r.take(ctx, down)
	r.note()
	if err := r.hooks.Open(down); err != nil {
		return err
	}
	up, err := dial(ctx, r.dial)
	if err != nil {
		if ctx.Err() == nil {
			err = fmt.Errorf("%w: %s from %s over TCP: %w", ErrUpstream, r.dial.Address, r.result.Local, err)
		}
		return err
	}
	r.up = up
	if _, err := io.WriteString(up, ticketLine(r.dial.Ticket)); err != nil {
		return fmt.Errorf("%w: %w", ErrUpstream, err)
	}
	return nil
}

// Upstream is the connection to the neighbour upstream; nil without one.
func (r *Relay) Upstream() *net.TCPConn { return r.up }

// Run passes on until either neighbour has ended.
func (r *Relay) Run(ctx context.Context, _ func()) {
	defer context.AfterFunc(ctx, func() { _ = r.up.Close() })()
	err := errors.Join(r.up.SetDeadline(r.limits.Deadline), r.conn.SetWriteDeadline(r.limits.Deadline))
	var watching sync.WaitGroup
	passed := make(chan struct{})
	watching.Go(func() { r.breakStalls(passed) })
	buffer := make([]byte, bufferBytes)
	for err == nil && r.result.Ended == "" {
		err = r.pass(buffer)
	}
	close(passed)
	watching.Wait()
	if r.result.Ended == "" {
		r.endBy(ctx, err)
	}
}

// breakStalls ends the waiting for a neighbour that has vanished.
func (r *Relay) breakStalls(passed <-chan struct{}) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-passed:
			return
		case <-ticker.C:
			if r.isStalled() {
				_ = r.up.SetDeadline(time.Now())
				_ = r.conn.SetWriteDeadline(time.Now())
			}
		}
	}
}

// pass takes on what there is. It counts each byte twice in the budget: as received, and as sent.
func (r *Relay) pass(buffer []byte) error {
	n, err := r.up.Read(buffer[:r.plan.Budget.room(len(buffer))])
	if n > 0 {
		r.note()
		if !r.plan.Budget.Spend(n) || r.plan.Budget.Take(n) < n {
			r.end(EndedAborted, r.plan.Budget.Exceeded())
			r.reset()
			return nil
		}
		written, writeErr := r.conn.Write(buffer[:n])
		r.move(written)
		if writeErr == nil { // one that was given up has moved nothing for long
			r.note()
		}
		if r.result.FirstByte.IsZero() {
			r.result.FirstByte = r.result.LastByte
		}
		if writeErr != nil {
			return writeErr
		}
	}
	return err
}

func (r *Relay) endBy(ctx context.Context, err error) {
	switch {
	case errors.Is(err, io.EOF):
		r.drain(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		r.endByTimeout()
		r.reset()
	default:
		r.endByError(ctx, err)
		r.reset()
	}
}

// drain passes the end of the data on, and waits for the close of the neighbour downstream, which says that it has all.
func (r *Relay) drain(ctx context.Context) {
	if isComplete(r.plan.Stop, r.appBytes.Load(), r.result.FirstByte) {
		r.end(EndedStopRule, "")
	} else {
		r.end(EndedPeerClosed, "the neighbour upstream closed before the stop rule")
	}
	limit := r.limits.Deadline
	if r.plan.Stop.After > 0 {
		limit = earlier(limit, time.Now().Add(r.limits.DrainLimit()))
	}
	err := errors.Join(r.conn.CloseWrite(), r.conn.SetReadDeadline(limit))
	if err == nil {
		err = awaitClose(r.conn)
	}
	switch {
	case errors.Is(err, io.EOF):
	case ctx.Err() != nil:
		r.endByError(ctx, err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		r.result.Detail = fmt.Sprintf("the neighbour downstream had not got everything %s after the end; the rest was dropped",
			r.limits.DrainLimit())
		r.reset()
	default:
		r.endByError(ctx, err)
	}
}

// Close ends both connections. A relay without both has carried nothing.
func (r *Relay) Close() (Result, error) {
	if r.up != nil {
		_ = r.up.Close()
	}
	if r.missed != nil && r.conn != nil {
		r.reset()
	}
	r.close()
	return r.result, r.missed
}
