package netlab

import (
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// echoServer sends back what it reads, once its client has finished writing.
func echoServer(t *testing.T, network, address string) string {
	t.Helper()
	listener, err := net.Listen(network, address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				text, _ := io.ReadAll(conn)
				_, _ = conn.Write(text)
			}()
		}
	}()
	return listener.Addr().String()
}

func requireEcho(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	require.NoError(t, conn.SetDeadline(time.Now().Add(5*time.Second)))
	_, err := conn.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	got, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.Equal(t, text, string(got))
}

func startOnLoopback(t *testing.T, control string) net.Conn {
	t.Helper()
	forward, err := startForwarder(netip.MustParseAddr("127.0.0.1"), control)
	require.NoError(t, err)
	t.Cleanup(func() { _ = forward.Close() })
	conn, err := net.Dial("tcp", forward.address().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestForwarderReachesAUnixSocket(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "control")
	echoServer(t, "unix", socket)
	requireEcho(t, startOnLoopback(t, "unix:"+socket), "half-closed and answered")
}

func TestForwarderClosesWhenTheBackendIsDown(t *testing.T) {
	conn := startOnLoopback(t, "unix:"+filepath.Join(t.TempDir(), "nobody"))
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(5*time.Second)))
	_, err := io.ReadAll(conn)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "closed, not left hanging")
}

func TestClosingTheForwarderCutsOpenConnections(t *testing.T) {
	backend := echoServer(t, "tcp", "127.0.0.1:0")
	forward, err := startForwarder(netip.MustParseAddr("127.0.0.1"), backend)
	require.NoError(t, err)
	conn, err := net.Dial("tcp", forward.address().String())
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = conn.Write([]byte("x"))
	require.NoError(t, err)
	require.NoError(t, forward.Close())
	_, err = net.Dial("tcp", forward.address().String())
	require.Error(t, err)
}
