package transfer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// bufferBytes is the size of one write or read: large enough that system calls cost little at 10 Gb/s.
const bufferBytes = 128 << 10

// Ended says what ended a flow, in the words of the agent protocol.
type Ended string

// The endings.
const (
	EndedStopRule   Ended = "stop_rule"
	EndedPeerClosed Ended = "peer_closed"
	EndedLinkLost   Ended = "link_lost"
	EndedAborted    Ended = "aborted"
	EndedDeadline   Ended = "deadline"
)

// Stop is the stop rule of one flow: exactly one of the two is positive.
type Stop struct {
	// After counts from the flow's first data byte at the sender.
	After time.Duration
	Bytes int64
}

// Hooks are what others do at a flow's TCP connection.
type Hooks struct {
	// Open is called before the first byte; an error ends the flow.
	Open func(conn *net.TCPConn) error
	// Sample runs beside the data until its context is done, and returns before the connection is closed.
	Sample func(ctx context.Context, conn *net.TCPConn)
	// Silence tells how long nothing was heard from the receiver; a sender needs it, because its own writes only
	// tell how full the socket is.
	Silence func(conn *net.TCPConn) time.Duration
}

// Result is what came of a flow at one end. Moments carry monotonic readings; those that never came are zero.
type Result struct {
	Connected time.Time
	FirstByte time.Time
	LastByte  time.Time
	Local     string
	Peer      string
	Ended     Ended
	// Detail is a sentence when there is something to say about the end.
	Detail string
}

// Limits bound a flow in time.
type Limits struct {
	// Deadline is the hard end.
	Deadline time.Time
	// Overtime says what data that still moves at the deadline means.
	Overtime string
	// BaseRTT is the link's idle round-trip time; patience scales with it.
	BaseRTT time.Duration
}

// StallLimit is how long nothing may move before silence is called a lost link rather than a slow one.
func (l Limits) StallLimit() time.Duration { return 10*time.Second + 10*l.BaseRTT }

// DrainLimit is how long a sender waits after a stop by time for what is still under way. A GEO queue of 36 MB takes
// two seconds to drain at 144 Mb/s, and recovering losses in it takes some round trips more.
func (l Limits) DrainLimit() time.Duration { return 2*time.Second + 10*l.BaseRTT }

// DialLimit is how long a receiver tries to connect; it leaves room for four SYN retransmissions besides the round trips.
func (l Limits) DialLimit() time.Duration { return 15*time.Second + 4*l.BaseRTT }

// connection is the TCP connection of a flow, with the state that both loops share.
type connection struct {
	hooks    Hooks
	limits   Limits
	appBytes *atomic.Int64
	result   Result
	// stillFor tells how long nothing has moved.
	stillFor func() time.Duration

	conn *net.TCPConn // nil until there is one
	// release gives the context up that would reset the connection.
	release func() bool
}

// take makes conn the flow's own. A cancelled context ends every call on it at once, and the peer's too: the connection is
// reset, and what is queued for it is thrown away.
func (c *connection) take(ctx context.Context, conn *net.TCPConn) {
	c.conn = conn
	c.result = Result{Connected: time.Now(), Local: conn.LocalAddr().String(), Peer: conn.RemoteAddr().String()}
	c.release = context.AfterFunc(ctx, func() { c.reset() })
}

// Sample lets the hook record the connection.
func (c *connection) Sample(ctx context.Context) { c.hooks.Sample(ctx, c.conn) }

func (c *connection) close() {
	if c.conn != nil {
		c.release()
		_ = c.conn.Close()
	}
}

func (c *connection) reset() {
	_ = c.conn.SetLinger(0)
	_ = c.conn.Close()
}

// move notes bytes that went through.
func (c *connection) move(n int) {
	if n == 0 {
		return
	}
	c.result.LastByte = time.Now()
	c.appBytes.Add(int64(n))
}

// sinceLastByte is how long a receiver has got nothing.
func (c *connection) sinceLastByte() time.Duration {
	if c.result.LastByte.IsZero() {
		return time.Since(c.result.Connected)
	}
	return time.Since(c.result.LastByte)
}

// isStalled tells whether nothing has moved for so long that the link must be gone.
func (c *connection) isStalled() bool { return c.stillFor() > c.limits.StallLimit() }

func (c *connection) end(ended Ended, detail string) {
	c.result.Ended, c.result.Detail = ended, detail
}

// endByTimeout tells a lost link from a slow one at the deadline.
func (c *connection) endByTimeout() {
	if c.isStalled() {
		c.end(EndedLinkLost, fmt.Sprintf("no data moved for the last %.0f s", c.stillFor().Seconds()))
		return
	}
	c.end(EndedDeadline, c.limits.Overtime)
}

// endByError names what a failed call means.
func (c *connection) endByError(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil:
		c.end(EndedAborted, context.Cause(ctx).Error())
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		c.end(EndedPeerClosed, "the peer closed the connection early: "+err.Error())
	default:
		c.end(EndedLinkLost, err.Error())
	}
}

// waitUntil returns early when the context ends.
func waitUntil(ctx context.Context, moment time.Time) error {
	timer := time.NewTimer(time.Until(moment))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
