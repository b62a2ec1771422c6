package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// mostUnsentBytes is room for unsentTime at 144 Mb/s.
	mostUnsentBytes  = 2 << 20
	leastUnsentBytes = 32 << 10
	// unsentTime is enough to fill a window that several delayed ACKs open at once.
	unsentTime = 115 * time.Millisecond
)

// UnsentBytes is how much a sender leaves in the socket before its first transmission; it limits neither the window nor
// the data in flight. Without a cap Linux lets a socket hold tens of megabytes that only leave long after a stop by
// time. Linux asks for more once half of it has left, so that a flow's count of written bytes moves in such steps:
// where a pacing rate says how little is needed, they are small. A flow without one may need all of it at any moment.
func UnsentBytes(pacingRateBps *int64) int {
	if pacingRateBps == nil {
		return mostUnsentBytes
	}
	needed := float64(*pacingRateBps) / 8 * unsentTime.Seconds()
	return int(min(max(needed, leastUnsentBytes), mostUnsentBytes))
}

// leastWriteBytes is the size of a small write: at rates that need no larger one, system calls cost nothing.
const leastWriteBytes = 2 << 10

// SendPlan is one flow at its sender.
type SendPlan struct {
	// Port is where the receiver comes to, with the ticket of the flow of this number.
	Port *Port
	Flow int
	// Patience is how long after Begin to wait for it, and never beyond the deadline.
	Patience time.Duration
	Stop     Stop
	Limits   Limits
	// Begin is the earliest moment of the first byte.
	Begin time.Time
	// AppBytes counts what was written.
	AppBytes *atomic.Int64
	// Budget breaks the flow off whatever its stop rule says.
	Budget *Budget
	// Offer is how the data come about; nil: as fast as they leave.
	Offer *Offer
	// UnsentBytes is the socket's limit.
	UnsentBytes int
	// Write writes from an offset of the flow on, as much of a part as it likes; nil: all of it, plainly.
	Write func(conn *net.TCPConn, offset int64, part []byte) (int, error)
}

// waitsUntil is when it is too late for the receiver to come.
func (p SendPlan) waitsUntil() time.Time { return earlier(p.Limits.Deadline, p.Begin.Add(p.Patience)) }

// waits is how long the receiver was waited for, for people.
func (p SendPlan) waits() time.Duration {
	return max(0, p.waitsUntil().Sub(p.Begin)).Round(time.Millisecond)
}

// Sender is the end of a flow that writes data over TCP until the stop rule, shuts its side down, and waits for the
// receiver to close.
//
// After a stop by time the samples end at the stop moment: what drains afterwards is no part of the measurement, and
// a receiver that has not got all of it within the drain limit is cut off. After a stop by bytes the object counts as
// a whole, so samples go on and the wait lasts until the receiver has everything or the deadline comes.
type Sender struct {
	connection
	plan SendPlan
	// missed says why there is no connection.
	missed error
}

// NewSender returns a sender that has done nothing yet.
func NewSender(plan SendPlan, hooks Hooks) *Sender {
	s := &Sender{connection: connection{hooks: hooks, limits: plan.Limits, appBytes: plan.AppBytes}, plan: plan}
	s.stillFor = func() time.Duration { return hooks.Silence(s.conn) }
	return s
}

// Open waits for the receiver, sets its connection up, and waits for the flow's beginning.
func (s *Sender) Open(ctx context.Context) error {
	patience, cancel := context.WithDeadline(ctx, s.plan.waitsUntil())
	defer cancel()
	conn, err := s.plan.Port.Accept(patience, s.plan.Flow)
	if err != nil {
		if ctx.Err() == nil {
			err = fmt.Errorf("%w: no receiver came with the ticket within %s; check that this host's data port can be reached",
				ErrNoConnection, s.plan.waits())
		}
		s.missed = err
		return err
	}
	s.take(ctx, conn)
	err = s.hooks.Open(conn)
	if err == nil {
		err = waitUntil(ctx, s.plan.Begin)
	}
	if err != nil {
		s.endByError(ctx, err)
		s.reset()
	}
	return err
}

// Run writes until the flow has ended.
func (s *Sender) Run(ctx context.Context, endSamples func()) {
	if !s.write(ctx) {
		return
	}
	if s.plan.Stop.After > 0 {
		endSamples()
	}
	s.drain(ctx)
}

// Close ends the connection.
func (s *Sender) Close() (Result, error) {
	s.close()
	return s.result, s.missed
}

// write sends until the stop rule holds; false means that the flow ended otherwise.
func (s *Sender) write(ctx context.Context) bool {
	s.result.FirstByte = time.Now()
	stopAt := s.limits.Deadline
	if s.plan.Stop.After > 0 {
		stopAt = earlier(stopAt, s.result.FirstByte.Add(s.plan.Stop.After))
	}
	if err := s.conn.SetWriteDeadline(stopAt); err != nil {
		s.endByError(ctx, err)
		return false
	}
	return s.pump(ctx, stopAt)
}

func (s *Sender) pump(ctx context.Context, stopAt time.Time) bool {
	// A write returns when all of it has found room.
	buffer := incompressible()[:min(max(s.plan.UnsentBytes/16, leastWriteBytes), bufferBytes)]
	for {
		part := buffer
		if left := s.plan.Stop.Bytes - s.appBytes.Load(); s.plan.Stop.Bytes > 0 && left < int64(len(part)) {
			part = part[:left]
		}
		if len(part) == 0 {
			s.end(EndedStopRule, "")
			return true
		}
		if s.plan.Offer != nil {
			if part = s.awaitOffer(ctx, part, stopAt); len(part) == 0 {
				return s.endOffer(ctx)
			}
		}
		granted := s.plan.Budget.Take(len(part))
		if granted == 0 {
			s.end(EndedAborted, s.plan.Budget.Exceeded())
			s.reset()
			return false
		}
		n, err := s.put(part[:granted])
		s.plan.Budget.GiveBack(granted - n)
		s.move(n)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return s.stopByTime()
		}
		if err != nil {
			s.endByError(ctx, err)
			return false
		}
	}
}

func (s *Sender) put(part []byte) (int, error) {
	if s.plan.Write != nil {
		return s.plan.Write(s.conn, s.appBytes.Load(), part)
	}
	return s.conn.Write(part)
}

// awaitOffer waits until some of a part has come about, and gives that; nothing at the stop moment.
func (s *Sender) awaitOffer(ctx context.Context, part []byte, stopAt time.Time) []byte {
	for {
		now := time.Now()
		if there := s.plan.Offer.Bytes(now.Sub(s.result.FirstByte)) - s.appBytes.Load(); there > 0 {
			return part[:min(int64(len(part)), there)]
		}
		if waitUntil(ctx, earlier(stopAt, s.plan.Offer.Next(s.result.FirstByte, now))) != nil || !time.Now().Before(stopAt) {
			return nil
		}
	}
}

// endOffer: no message has come about until the stop moment, or the flow was broken off.
func (s *Sender) endOffer(ctx context.Context) bool {
	if ctx.Err() != nil {
		s.endByError(ctx, ctx.Err())
		return false
	}
	return s.stopByTime()
}

// stopByTime ends the writing at the stop moment or at the deadline, whichever the write was waiting for.
func (s *Sender) stopByTime() bool {
	isStopRule := s.plan.Stop.After > 0 && !time.Now().Before(s.result.FirstByte.Add(s.plan.Stop.After))
	if isStopRule && !s.isStalled() {
		s.end(EndedStopRule, "")
		return true
	}
	s.endByTimeout()
	s.reset()
	return false
}

// drain waits for the receiver's close, which says that it has everything.
func (s *Sender) drain(ctx context.Context) {
	limit := s.limits.Deadline
	if s.plan.Stop.After > 0 {
		limit = earlier(limit, time.Now().Add(s.limits.DrainLimit()))
	}
	err := errors.Join(s.conn.CloseWrite(), s.conn.SetReadDeadline(limit))
	if err == nil {
		err = awaitClose(s.conn)
	}
	switch {
	case errors.Is(err, io.EOF):
	case ctx.Err() != nil:
		s.endByError(ctx, err)
	case s.isStalled():
		s.endByTimeout()
		s.reset()
	case s.plan.Stop.After > 0:
		s.result.Detail = fmt.Sprintf("the receiver had not got everything %s after the stop moment; the rest was dropped", s.limits.DrainLimit())
		s.reset()
	case errors.Is(err, os.ErrDeadlineExceeded):
		s.endByTimeout()
		s.reset()
	default:
		s.endByError(ctx, err)
	}
}

// awaitClose waits for the peer's close, io.EOF. While stamps of departures wait in the socket (section "delivery tables" of
// docs/method.md), the runtime may say that it cannot be waited for; that ends with the next packet from the peer.
func awaitClose(conn *net.TCPConn) error {
	for {
		_, err := conn.Read(make([]byte, 1))
		if err == nil || !strings.Contains(err.Error(), "not pollable") {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// incompressible returns data that no link can shrink; it needs no secrecy and is the same every time.
func incompressible() []byte {
	buffer := make([]byte, bufferBytes)
	source := rand.NewChaCha8([32]byte{})
	_, _ = source.Read(buffer)
	return buffer
}
