package socket_test

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/flow/socket"
)

// TestTheKernelSaysWhenBytesLeftAndCame: over loopback a write leaves after it was begun, and comes after it left.
func TestTheKernelSaysWhenBytesLeftAndCame(t *testing.T) {
	a, b := pair(t)
	sender, err := socket.Stamp(a)
	require.NoError(t, err)
	receiver, err := socket.Stamp(b)
	require.NoError(t, err)
	segment, err := sender.SegmentBytes()
	require.NoError(t, err)
	require.Greater(t, segment, 500)
	buffer := make([]byte, 100)
	stamped := 0
	for i := range 20 {
		began := time.Now()
		n, err := sender.Write(buffer[:10])
		require.NoError(t, err)
		require.Equal(t, 10, n)
		n, arrival, err := receiver.Read(buffer)
		require.NoError(t, err)
		require.Equal(t, 10, n)
		if arrival.Stamp.IsZero() { // of a host's first such socket: the kernel turns stamping on a moment later
			time.Sleep(10 * time.Millisecond)
			continue
		}
		stamped++
		left := map[uint32]time.Time{}
		require.NoError(t, sender.Departures(func(number uint32, at time.Time) { left[number] = at }))
		at, isThere := left[uint32(10*i+9)]
		require.True(t, isThere)
		const exactly = 20 * time.Microsecond // clocks are read one after the other
		require.Greater(t, at.Sub(began), -exactly)
		require.Greater(t, arrival.Stamp.Sub(at), -exactly)
		require.Greater(t, arrival.At.Sub(arrival.Stamp), -exactly)
	}
	require.Greater(t, stamped, 10)
	require.NoError(t, a.CloseWrite())
	n, _, err := receiver.Read(buffer)
	require.NoError(t, err)
	require.Zero(t, n, "the end")
}

func pair(t *testing.T) (a, b *net.TCPConn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	dialled, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	accepted, err := listener.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = dialled.Close(), accepted.Close() })
	return dialled.(*net.TCPConn), accepted.(*net.TCPConn)
}
