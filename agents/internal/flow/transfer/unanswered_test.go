package transfer_test

import (
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/flow/transfer"
)

// stranger listens and does this with each connection.
func stranger(t *testing.T, take func(net.Conn)) transfer.ReceivePlan {
	t.Helper()
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listening.Close() })
	go func() {
		for {
			conn, err := listening.Accept()
			if err != nil {
				return
			}
			take(conn)
		}
	}()
	return transfer.ReceivePlan{
		Address: listening.Addr().String(), Ticket: secret, Stop: transfer.Stop{Bytes: 1e6}, Limits: limits(20 * time.Second), DialAt: time.Now(),
		AppBytes: new(atomic.Int64), Budget: transfer.NewBudget(0), MayBeLoopback: true,
	}
}

func TestAPortThatClosesWithoutAByteDoesNotKnowTheTicket(t *testing.T) {
	plan := stranger(t, func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 256)) // or the close would be a reset
		_ = conn.Close()
	})
	_, err := transfer.Carry(t.Context(), transfer.NewReceiver(plan, quiet))
	require.ErrorIs(t, err, transfer.ErrNoConnection)
	require.ErrorContains(t, err, "does not know this run's ticket")
}
