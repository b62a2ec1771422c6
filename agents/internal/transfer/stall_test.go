package transfer

import (
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/hosttest"
)

// TestARelayThatGivesUpWritingNamesALostLink: the neighbour downstream takes nothing for too long. What the relay had read for it
// came long before the deadline, and is no sign that data still move.
func TestARelayThatGivesUpWritingNamesALostLink(t *testing.T) {
	upstream, up := hosttest.Connect(t)
	down, downstream := hosttest.Connect(t)
	require.NoError(t, downstream.SetReadBuffer(4096))
	for n := 1; n > 0; { // until the way downstream is full
		require.NoError(t, down.SetWriteDeadline(time.Now().Add(100*time.Millisecond)))
		n, _ = down.Write(make([]byte, 16<<20))
	}
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
	r.endBy(t.Context(), <-passed)
	require.Equal(t, EndedLinkLost, r.result.Ended, r.result.Detail)
}
