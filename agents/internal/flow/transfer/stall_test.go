package transfer

import (
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/testing/hosttest"
)

// TestARelayThatGivesUpWritingNamesALostLink: the neighbour downstream takes nothing for too long. What the relay had read for it
// came long before the deadline, and does not show that data still move.
func TestARelayThatGivesUpWritingNamesALostLink(t *testing.T) {
	upstream, up := hosttest.Connect(t)
	down, downstream := hosttest.Connect(t)
	require.NoError(t, downstream.SetReadBuffer(4096))
	fill(t, down)
	limits := Limits{Deadline: time.Now().Add(time.Hour), Overtime: "data was still moving"}
	r := NewRelay(SendPlan{Limits: limits, AppBytes: new(atomic.Int64), Budget: NewBudget(0)}, ReceivePlan{}, Hooks{})
	r.conn, r.up = down, up
	require.NoError(t, down.SetWriteDeadline(limits.Deadline))
	passed := make(chan error)
	go func() { passed <- r.pass(make([]byte, bufferBytes)) }()
	_, err := io.WriteString(upstream, "what the relay reads")
	require.NoError(t, err)
	require.Eventually(t, func() bool { return r.sinceMoved() < time.Hour }, time.Minute, time.Millisecond, "it has read")
	r.moving.Lock()
	r.moved = time.Now().Add(-time.Hour)
	r.moving.Unlock()
	require.NoError(t, down.SetWriteDeadline(time.Now()))
	err = <-passed
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	r.endBy(t.Context(), err)
	require.Equal(t, EndedLinkLost, r.result.Ended, r.result.Detail)
}

// TestAReceiverEndsAtSilenceWhereItsPlanNamesOne: not before, however often data come, and not before the first byte.
func TestAReceiverEndsAtSilenceWhereItsPlanNamesOne(t *testing.T) {
	const silence, pause, pauses = 90 * time.Millisecond, 30 * time.Millisecond, 6
	sender, conn := hosttest.Connect(t)
	limits := Limits{Deadline: time.Now().Add(time.Hour)}
	r := NewReceiver(ReceivePlan{Limits: limits, Silence: silence, AppBytes: new(atomic.Int64), Budget: NewBudget(0)}, Hooks{})
	r.take(t.Context(), conn)
	require.NoError(t, conn.SetDeadline(limits.Deadline))
	wrote := make(chan struct{})
	go func() {
		time.Sleep(2 * silence)
		for range pauses {
			_, _ = io.WriteString(sender, "data")
			time.Sleep(pause)
		}
		close(wrote)
	}()
	r.read(t.Context())
	ended := time.Now()
	<-wrote
	require.Equal(t, EndedLinkLost, r.result.Ended, r.result.Detail)
	require.Contains(t, r.result.Detail, "no data came for")
	require.GreaterOrEqual(t, ended.Sub(r.result.LastByte), silence)
	require.NoError(t, sender.Close())
}

// fill writes until the kernel takes nothing more, also after what was on its way has come.
func fill(t *testing.T, conn *net.TCPConn) {
	t.Helper()
	raw, err := conn.SyscallConn()
	require.NoError(t, err)
	junk, taken := make([]byte, 64<<10), 1
	for taken > 0 {
		taken = 0
		require.NoError(t, raw.Write(func(fd uintptr) bool {
			for {
				n, err := syscall.Write(int(fd), junk)
				if err != nil {
					return true
				}
				taken += n
			}
		}))
		time.Sleep(20 * time.Millisecond)
	}
}

func TestAConnectionOnWhichNothingComesIsNotTheSenders(t *testing.T) {
	for _, ended := range []Ended{EndedLinkLost, EndedDeadline} {
		require.Contains(t, unanswered("192.0.2.1:8410", Result{Ended: ended}), "192.0.2.1:8410 took the connection over TCP and sent nothing")
	}
}
