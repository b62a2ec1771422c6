package hosttest

import (
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// Connect returns both ends of a connection over loopback.
func Connect(t testing.TB) (sender, receiver *net.TCPConn) {
	t.Helper()
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	dialed, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	receiver, isTCP := dialed.(*net.TCPConn)
	require.True(t, isTCP)
	sender, err = listener.AcceptTCP()
	require.NoError(t, err)
	t.Cleanup(func() { _ = sender.Close(); _ = receiver.Close() })
	return sender, receiver
}

// Send sends bytes and returns when they have been read.
func Send(t testing.TB, sender, receiver *net.TCPConn, bytes int64) {
	t.Helper()
	read := make(chan int64)
	go func() {
		n, _ := io.CopyN(io.Discard, receiver, bytes)
		read <- n
	}()
	_, err := sender.Write(make([]byte, bytes))
	require.NoError(t, err)
	require.Equal(t, bytes, <-read)
}
