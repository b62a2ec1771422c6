package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// ReceivePlan is one flow at its receiver.
type ReceivePlan struct {
	Address string
	Ticket  string
	// MayBeLoopback lets this host's own services be dialled, as where both ends are on one host.
	MayBeLoopback bool
	// Stop is the sender's rule; the receiver only compares what it got with it.
	Stop   Stop
	Limits Limits
	// DialAt is the run's zero plus the flow's offset.
	DialAt time.Time
	// AppBytes counts what was read.
	AppBytes *atomic.Int64
	// Budget breaks the flow off when the sender does not stop.
	Budget *Budget
}

// ErrNoConnection means that a receiver got no connection, or not a byte over it.
var ErrNoConnection = errors.New("no data connection")

// earlyRatio is the part of the agreed duration after which a sender's close is taken for the stop rule: delay that
// varies lets the last byte come a little less than the duration after the first one.
const earlyRatio = 0.9

// Receive dials the data port at its moment, shows the ticket, and reads until the sender closes.
// It returns ErrNoConnection when no data came at all; everything later is told by the result.
func Receive(ctx context.Context, plan ReceivePlan, hooks Hooks) (Result, error) {
	conn, err := dial(ctx, plan)
	if err != nil {
		return Result{}, err
	}
	r := &receiving{connection: newConnection(conn, plan.Limits, plan.AppBytes), plan: plan}
	r.stillFor = r.sinceLastByte
	defer func() { _ = conn.Close() }()
	release := r.closeOnAbort(ctx)
	defer release()
	if err := r.open(hooks); err != nil {
		return Result{}, fmt.Errorf("%w to %s: %w", ErrNoConnection, plan.Address, err)
	}
	_, waitForSamples := sampling(ctx, hooks, conn)
	r.read(ctx)
	waitForSamples()
	if r.result.FirstByte.IsZero() && r.result.Ended != EndedAborted {
		return r.result, fmt.Errorf("%w: %s accepted the connection and sent nothing (%s); it may not know the ticket", ErrNoConnection, plan.Address, r.result.Ended)
	}
	return r.result, nil
}

type receiving struct {
	*connection
	plan ReceivePlan
}

func dial(ctx context.Context, plan ReceivePlan) (*net.TCPConn, error) {
	if !IsTicket(plan.Ticket) {
		return nil, fmt.Errorf("%w: the flow has no valid ticket", ErrNoConnection)
	}
	if err := waitUntil(ctx, plan.DialAt); err != nil {
		return nil, err
	}
	dialer := net.Dialer{
		Deadline: earlier(plan.Limits.Deadline, time.Now().Add(plan.Limits.DialLimit())),
		// Probes of our own would be packets that the run did not ask for.
		KeepAlive: -1,
		Control:   plan.refuseLoopback,
	}
	conn, err := dialer.DialContext(ctx, "tcp", plan.Address)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w; check the sender's data host and that its data port is open to this host", ErrNoConnection, err)
	}
	tcp, isTCP := conn.(*net.TCPConn)
	if !isTCP {
		return nil, errors.Join(ErrNoConnection, conn.Close())
	}
	return tcp, nil
}

// refuseLoopback is asked with the address that a name was resolved to, before anything is sent.
func (p ReceivePlan) refuseLoopback(_, address string, _ syscall.RawConn) error {
	resolved, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	host := resolved.Addr().Unmap()
	if host.IsUnspecified() || host.IsMulticast() || host.IsLoopback() && !p.MayBeLoopback {
		return fmt.Errorf("%s is not an address of another host", host)
	}
	return nil
}

func (r *receiving) open(hooks Hooks) error {
	if err := hooks.Open(r.conn); err != nil {
		return err
	}
	if err := r.conn.SetDeadline(r.plan.Limits.Deadline); err != nil {
		return err
	}
	_, err := io.WriteString(r.conn, ticketLine(r.plan.Ticket))
	return err
}

func (r *receiving) read(ctx context.Context) {
	buffer := make([]byte, bufferBytes)
	for {
		n, err := r.conn.Read(buffer[:r.plan.Budget.room(len(buffer))])
		r.move(n)
		if n > 0 && r.result.FirstByte.IsZero() {
			r.result.FirstByte = r.result.LastByte
		}
		if !r.plan.Budget.spend(n) {
			r.end(EndedAborted, r.plan.Budget.exceeded())
			r.reset()
			return
		}
		if err != nil {
			r.endBy(ctx, err)
			return
		}
	}
}

func (r *receiving) endBy(ctx context.Context, err error) {
	switch {
	case ctx.Err() == nil && !errors.Is(err, os.ErrDeadlineExceeded) && r.isComplete():
		r.end(EndedStopRule, "")
	case errors.Is(err, io.EOF):
		r.end(EndedPeerClosed, "the sender closed before the stop rule")
	case errors.Is(err, os.ErrDeadlineExceeded):
		r.endByTimeout()
	default:
		r.endByError(ctx, err)
	}
}

// isComplete tells whether the stop rule explains the end.
func (r *receiving) isComplete() bool {
	if r.plan.Stop.Bytes > 0 {
		return r.appBytes.Load() >= r.plan.Stop.Bytes
	}
	wanted := time.Duration(earlyRatio * float64(r.plan.Stop.After))
	return !r.result.FirstByte.IsZero() && time.Since(r.result.FirstByte) >= wanted
}
