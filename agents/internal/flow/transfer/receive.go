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
	// MayDial, unless nil, refuses addresses besides.
	MayDial func(host netip.Addr) error
	// Stop is the sender's rule; the receiver only compares what it got with it.
	Stop   Stop
	Limits Limits
	// Silence is how long nothing may come after the first byte; 0: until the deadline.
	Silence time.Duration
	// DialAt is the run's zero plus the flow's offset.
	DialAt time.Time
	// AppBytes counts what was read.
	AppBytes *atomic.Int64
	// Read reads from an offset of the flow on, as the connection does; nil: plainly.
	Read func(conn *net.TCPConn, offset int64, buffer []byte) (int, error)
	// Budget breaks the flow off when the sender does not stop.
	Budget *Budget
}

// ErrNoConnection means that an end got no connection, or a receiver not a byte over it.
var ErrNoConnection = errors.New("no data connection")

// earlyRatio is the part of the agreed duration after which a sender's close is taken for the stop rule: delay that
// varies lets the last byte come a little less than the duration after the first one.
const earlyRatio = 0.9

// Receiver is the end of a flow that dials the data port over TCP at its moment, shows the ticket, and reads until the
// sender closes.
type Receiver struct {
	connection
	plan ReceivePlan
	// missed says why no data came.
	missed error
}

// NewReceiver returns a receiver that has done nothing yet.
func NewReceiver(plan ReceivePlan, hooks Hooks) *Receiver {
	r := &Receiver{connection: connection{hooks: hooks, limits: plan.Limits, appBytes: plan.AppBytes}, plan: plan}
	r.stillFor = r.sinceLastByte
	return r
}

// Open dials and shows the ticket.
func (r *Receiver) Open(ctx context.Context) error {
	conn, err := dial(ctx, r.plan)
	if err == nil {
		r.take(ctx, conn)
		if err = r.present(); err != nil {
			err = fmt.Errorf("%w to %s: %w", ErrNoConnection, r.plan.Address, err)
		}
	}
	r.missed = err
	return err
}

// Run reads until the sender closes.
func (r *Receiver) Run(ctx context.Context, _ func()) {
	r.read(ctx)
	if r.result.FirstByte.IsZero() && r.result.Ended != EndedAborted {
		r.missed = fmt.Errorf("%w: %s", ErrNoConnection, unanswered(r.plan.Address, r.result))
	}
}

// Close ends the connection. It returns ErrNoConnection when no data came at all; everything later is told by the result.
func (r *Receiver) Close() (Result, error) {
	r.close()
	return r.result, r.missed
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
		return nil, fmt.Errorf("%w: %s; check the sender's data host and that its data port is open to this host (%w)",
			ErrNoConnection, unreached(plan.Address, plan.Limits.DialLimit(), err), err)
	}
	tcp, isTCP := conn.(*net.TCPConn)
	if !isTCP {
		return nil, errors.Join(ErrNoConnection, conn.Close())
	}
	return tcp, nil
}

// unreached says of a failed dial what it tells of the way.
func unreached(address string, patience time.Duration, err error) string {
	timeout, isNet := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return address + " refused the connection over TCP: a firewall rejects it, or nothing listens there"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EACCES):
		return address + " is out of reach over TCP: a firewall on the way rejects it, or there is no route to it"
	case isNet && timeout.Timeout():
		return fmt.Sprintf("%s did not answer over TCP within %s: a firewall or a NAT drops what is sent there, or the host is away",
			address, patience)
	}
	return address + " was not reached over TCP"
}

// unanswered says of a connection on which nothing came who may have taken it.
func unanswered(address string, result Result) string {
	if result.Ended == EndedLinkLost || result.Ended == EndedDeadline {
		return address + " took the connection over TCP and sent nothing: a firewall or a proxy on the way answers in the sender's place, " +
			"or another program listens there"
	}
	return address + " took the connection over TCP and closed it without a byte: whatever listens there does not know this run's ticket; " +
		"the address leads to another host or program than the sender, or the sender has given the run up"
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
	if p.MayDial != nil {
		return p.MayDial(host)
	}
	return nil
}

func (r *Receiver) present() error {
	if err := r.hooks.Open(r.conn); err != nil {
		return err
	}
	if err := r.conn.SetDeadline(r.plan.Limits.Deadline); err != nil {
		return err
	}
	_, err := io.WriteString(r.conn, ticketLine(r.plan.Ticket))
	return err
}

func (r *Receiver) read(ctx context.Context) {
	buffer := make([]byte, bufferBytes)
	for {
		n, err := r.get(buffer[:r.plan.Budget.room(len(buffer))])
		r.move(n)
		isFirst := n > 0 && r.result.FirstByte.IsZero()
		if isFirst {
			r.result.FirstByte = r.result.LastByte
		}
		if !r.plan.Budget.Spend(n) {
			r.end(EndedAborted, r.plan.Budget.Exceeded())
			r.reset()
			return
		}
		if isFirst && err == nil || r.isEarly(err) {
			err = r.conn.SetReadDeadline(r.hopesUntil())
		}
		if err != nil {
			r.endBy(ctx, err)
			return
		}
	}
}

// hopesUntil is when nothing more is expected, if nothing comes before.
func (r *Receiver) hopesUntil() time.Time {
	if r.plan.Silence == 0 {
		return r.limits.Deadline
	}
	return earlier(r.limits.Deadline, r.result.LastByte.Add(r.plan.Silence))
}

// isEarly tells whether a read waited only for a moment that data have postponed since it was set.
func (r *Receiver) isEarly(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) && !r.result.FirstByte.IsZero() && time.Now().Before(r.hopesUntil())
}

func (r *Receiver) get(buffer []byte) (int, error) {
	if r.plan.Read != nil {
		return r.plan.Read(r.conn, r.appBytes.Load(), buffer)
	}
	return r.conn.Read(buffer)
}

func (r *Receiver) endBy(ctx context.Context, err error) {
	switch {
	case ctx.Err() == nil && !errors.Is(err, os.ErrDeadlineExceeded) && r.isComplete():
		r.end(EndedStopRule, "")
	case errors.Is(err, io.EOF):
		r.end(EndedPeerClosed, "the sender closed before the stop rule")
	case errors.Is(err, os.ErrDeadlineExceeded) && time.Now().Before(r.limits.Deadline):
		r.end(EndedLinkLost, fmt.Sprintf("no data came for %.0f s", r.stillFor().Seconds()))
	case errors.Is(err, os.ErrDeadlineExceeded):
		r.endByTimeout()
	default:
		r.endByError(ctx, err)
	}
}

// isComplete tells whether the stop rule explains the end.
func (r *Receiver) isComplete() bool {
	return isComplete(r.plan.Stop, r.appBytes.Load(), r.result.FirstByte)
}

func isComplete(stop Stop, bytes int64, first time.Time) bool {
	if stop.Bytes > 0 {
		return bytes >= stop.Bytes
	}
	wanted := time.Duration(earlyRatio * float64(stop.After))
	return !first.IsZero() && time.Since(first) >= wanted
}
