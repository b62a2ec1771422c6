package transfer_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/flow/transfer"
	"downlink/agents/internal/testing/hosttest"
)

const (
	secret      = "dlt_5e3c0a9b7d-ZzqGXnY3vKc2sWmT8hLr4uJpQeB1dFoA"
	otherSecret = "dlt_1f2e3d4c5b_RtYuIoPAsDfGhJkLZxCvBnMqWeEdXsQa"
)

func openPort(t *testing.T, tickets map[int]string) *transfer.Port {
	t.Helper()
	port, err := transfer.OpenPort(transfer.PortPlan{Address: "127.0.0.1:0", Tickets: tickets})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, port.Close()) })
	return port
}

func address(port *transfer.Port) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port.Port()))
}

// ask connects, says something, shuts its side down, and returns the number of bytes that came back.
func ask(t *testing.T, port *transfer.Port, line string) int64 {
	t.Helper()
	conn, err := net.Dial("tcp", address(port))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, line)
	_ = conn.(*net.TCPConn).CloseWrite()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(5*time.Second)))
	n, err := io.Copy(io.Discard, conn)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the port must close the connection")
	return n
}

// serve sends over whatever connection shows a ticket, as a run's sender does.
func serve(t *testing.T, port *transfer.Port, flow int, plan transfer.SendPlan) <-chan transfer.Result {
	t.Helper()
	return serveUntil(t.Context(), port, flow, plan, quiet)
}

func serveUntil(ctx context.Context, port *transfer.Port, flow int, plan transfer.SendPlan, hooks transfer.Hooks) <-chan transfer.Result {
	plan.Port, plan.Flow, plan.Patience = port, flow, time.Minute
	results := make(chan transfer.Result, 1)
	go func() {
		if result, err := transfer.Carry(ctx, transfer.NewSender(plan, hooks)); err == nil {
			results <- result
		}
	}()
	return results
}

// quiet hooks set nothing up and sample nothing.
var quiet = transfer.Hooks{
	Open:    func(*net.TCPConn) error { return nil },
	Sample:  func(ctx context.Context, _ *net.TCPConn) { <-ctx.Done() },
	Silence: func(*net.TCPConn) time.Duration { return 0 },
}

func limits(d time.Duration) transfer.Limits {
	return transfer.Limits{Deadline: time.Now().Add(d), BaseRTT: time.Millisecond}
}

func sendPlan(stop transfer.Stop) transfer.SendPlan {
	return transfer.SendPlan{
		Stop: stop, Limits: limits(20 * time.Second), Begin: time.Now(), AppBytes: new(atomic.Int64), Budget: transfer.NewBudget(0),
		UnsentBytes: transfer.UnsentBytes(nil),
	}
}

func receivePlan(port *transfer.Port, stop transfer.Stop) transfer.ReceivePlan {
	return transfer.ReceivePlan{
		Address: address(port), Ticket: secret, Stop: stop, Limits: limits(20 * time.Second), DialAt: time.Now(), AppBytes: new(atomic.Int64),
		Budget: transfer.NewBudget(0), MayBeLoopback: true,
	}
}

func TestThePortSendsNothingWithoutAValidTicket(t *testing.T) {
	port := openPort(t, map[int]string{1: secret})
	serve(t, port, 1, sendPlan(transfer.Stop{Bytes: 1e6}))
	for _, line := range []string{
		"", "\n", "DL1 \n", "DL1 wrong\n", secret + "\n", "DL1 " + secret, "DL1 " + secret + "\r\n", "DL1 " + secret + "\nmore\n",
		"DL1 " + strings.Repeat("x", 200) + "\n", "DL2 " + secret + "\n", "GET / HTTP/1.1\r\n\r\n", "DL1 dlt_of_another_run\n",
	} {
		require.Zero(t, ask(t, port, line), "%q", line)
	}
}

func TestATicketWorksOnce(t *testing.T) {
	port := openPort(t, map[int]string{1: secret})
	sent := serve(t, port, 1, sendPlan(transfer.Stop{Bytes: 1e6}))
	result, err := transfer.Carry(t.Context(), transfer.NewReceiver(receivePlan(port, transfer.Stop{Bytes: 1e6}), quiet))
	require.NoError(t, err)
	require.Equal(t, transfer.EndedStopRule, result.Ended)
	require.Equal(t, transfer.EndedStopRule, (<-sent).Ended)
	require.Zero(t, ask(t, port, "DL1 "+secret+"\n"), "used")
}

func TestATicketShownTwiceAtOnceAdmitsOne(t *testing.T) {
	port := openPort(t, map[int]string{1: secret})
	serve(t, port, 1, sendPlan(transfer.Stop{Bytes: 1000}))
	var served atomic.Int64
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if ask(t, port, "DL1 "+secret+"\n") > 0 {
				served.Add(1)
			}
		})
	}
	group.Wait()
	require.Equal(t, int64(1), served.Load())
}

func TestATicketOpensItsOwnFlowOnly(t *testing.T) {
	port := openPort(t, map[int]string{1: otherSecret, 2: secret})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	conn, err := net.Dial("tcp", address(port))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = io.WriteString(conn, "DL1 "+secret+"\n")
	require.NoError(t, err)
	accepted, err := port.Accept(ctx, 2)
	require.NoError(t, err)
	defer func() { _ = accepted.Close() }()
	_, err = port.Accept(ctx, 1)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestAClosedPortAdmitsNobody(t *testing.T) {
	port := openPort(t, map[int]string{1: secret})
	conn, err := net.Dial("tcp", address(port))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	require.NoError(t, port.Close())
	_, _ = io.WriteString(conn, "DL1 "+secret+"\n")
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(5*time.Second)))
	n, err := conn.Read(make([]byte, 1))
	require.Zero(t, n)
	require.Error(t, err)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
}

// TestATicketExpiresWithTheWaitForIt: the port may be open for long after it, for the run's other flows.
func TestATicketExpiresWithTheWaitForIt(t *testing.T) {
	port := openPort(t, map[int]string{1: secret})
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := port.Accept(over, 1)
	require.ErrorIs(t, err, context.Canceled)
	conn, err := net.Dial("tcp", address(port))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, "DL1 "+secret+"\n")
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(5*time.Second)))
	n, err := conn.Read(make([]byte, 1))
	require.Zero(t, n)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "it was taken, and left open")
}

func TestAStopByBytesSendsExactlyThose(t *testing.T) {
	port := openPort(t, map[int]string{1: secret})
	plan := sendPlan(transfer.Stop{Bytes: 3_000_001})
	sent := serve(t, port, 1, plan)
	receive := receivePlan(port, plan.Stop)
	_, err := transfer.Carry(t.Context(), transfer.NewReceiver(receive, quiet))
	require.NoError(t, err)
	<-sent
	require.Equal(t, int64(3_000_001), plan.AppBytes.Load())
	require.Equal(t, int64(3_000_001), receive.AppBytes.Load())
}

func TestAStopByTimeCountsFromTheFirstByte(t *testing.T) {
	stopsByTime(t, 0.5, 60)
}

func TestAFlowLastsItsSecondsAndNotLonger(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares times of a real kernel")
	stopsByTime(t, 0.5, 1.5)
}

// stopsByTime runs a flow of a second, which lasts for seconds within these bounds.
func stopsByTime(t *testing.T, least, most float64) {
	t.Helper()
	port := openPort(t, map[int]string{1: secret})
	plan := sendPlan(transfer.Stop{After: time.Second})
	plan.Begin = time.Now().Add(100 * time.Millisecond)
	sent := serve(t, port, 1, plan)
	receive := receivePlan(port, plan.Stop)
	result, err := transfer.Carry(t.Context(), transfer.NewReceiver(receive, quiet))
	require.NoError(t, err)
	sender := <-sent
	require.Equal(t, transfer.EndedStopRule, result.Ended)
	require.False(t, sender.FirstByte.Before(plan.Begin))
	took := sender.LastByte.Sub(sender.FirstByte).Seconds()
	require.Greater(t, took, least)
	require.Less(t, took, most)
	require.Equal(t, plan.AppBytes.Load(), receive.AppBytes.Load(), "the receiver got everything that was written")
}

func TestAnAbortEndsBothEndsAtOnce(t *testing.T) {
	port := openPort(t, map[int]string{1: secret})
	reason := errors.New("cancelled by its owner")
	ctx, abort := context.WithCancelCause(t.Context())
	plan := sendPlan(transfer.Stop{After: time.Minute})
	sent := serveUntil(ctx, port, 1, plan, quiet)
	receive := receivePlan(port, plan.Stop)
	receive.AppBytes = new(atomic.Int64)
	go func() {
		for receive.AppBytes.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		abort(reason)
	}()
	result, err := transfer.Carry(t.Context(), transfer.NewReceiver(receive, quiet))
	require.NoError(t, err)
	require.Equal(t, transfer.EndedPeerClosed, result.Ended)
	sender := <-sent
	require.Equal(t, transfer.EndedAborted, sender.Ended)
	require.Equal(t, reason.Error(), sender.Detail)
}

func TestAReceiverThatReadsNothingCannotHoldTheSender(t *testing.T) {
	port := openPort(t, map[int]string{1: secret})
	plan := sendPlan(transfer.Stop{After: 100 * time.Millisecond})
	sent := serve(t, port, 1, plan)
	conn, err := net.Dial("tcp", address(port))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = io.WriteString(conn, "DL1 "+secret+"\n")
	require.NoError(t, err)
	result := <-sent
	require.Equal(t, transfer.EndedStopRule, result.Ended)
	require.Contains(t, result.Detail, "dropped")
}

func TestASilentReceiverMeansALostLink(t *testing.T) {
	port := openPort(t, map[int]string{1: secret})
	silent := quiet
	silent.Silence = func(*net.TCPConn) time.Duration { return time.Minute }
	plan := sendPlan(transfer.Stop{After: 50 * time.Millisecond})
	sent := serveUntil(t.Context(), port, 1, plan, silent)
	_, err := transfer.Carry(t.Context(), transfer.NewReceiver(receivePlan(port, plan.Stop), quiet))
	require.NoError(t, err)
	result := <-sent
	require.Equal(t, transfer.EndedLinkLost, result.Ended)
	require.Contains(t, result.Detail, "60 s")
}

func TestAnObjectThatDoesNotGetThroughEndsAtTheDeadline(t *testing.T) {
	port := openPort(t, map[int]string{1: secret})
	plan := sendPlan(transfer.Stop{Bytes: 1e12})
	plan.Limits = limits(200 * time.Millisecond)
	sent := serve(t, port, 1, plan)
	_, err := transfer.Carry(t.Context(), transfer.NewReceiver(receivePlan(port, plan.Stop), quiet))
	require.NoError(t, err)
	require.Equal(t, transfer.EndedDeadline, (<-sent).Ended)
}

func TestThePolicysBytesBreakAFlowOff(t *testing.T) {
	port := openPort(t, map[int]string{1: secret})
	plan := sendPlan(transfer.Stop{After: time.Minute})
	plan.Budget = transfer.NewBudget(1e6)
	sent := serve(t, port, 1, plan)
	_, err := transfer.Carry(t.Context(), transfer.NewReceiver(receivePlan(port, plan.Stop), quiet))
	require.NoError(t, err)
	result := <-sent
	require.Equal(t, transfer.EndedAborted, result.Ended)
	require.LessOrEqual(t, plan.AppBytes.Load(), int64(1e6))
}

func TestAReceiverWithoutASenderSaysSo(t *testing.T) {
	port := openPort(t, map[int]string{1: secret})
	plan := receivePlan(port, transfer.Stop{Bytes: 1})
	require.NoError(t, port.Close())
	_, err := transfer.Carry(t.Context(), transfer.NewReceiver(plan, quiet))
	require.ErrorIs(t, err, transfer.ErrNoConnection)
	require.ErrorContains(t, err, plan.Address+" refused the connection over TCP")
}

func TestAReceiverWithAWrongTicketSaysSo(t *testing.T) {
	port := openPort(t, map[int]string{1: secret})
	plan := receivePlan(port, transfer.Stop{Bytes: 1})
	plan.Ticket = otherSecret
	_, err := transfer.Carry(t.Context(), transfer.NewReceiver(plan, quiet))
	require.ErrorIs(t, err, transfer.ErrNoConnection)
	require.ErrorContains(t, err, "ticket")
}
