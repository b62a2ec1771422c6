package congestion

import (
	"io"
	"net"
	"os"
	"testing"
	"time"

	"downlink/agents/internal/hosttest"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func connect(t *testing.T) (sender, receiver *net.TCPConn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	dialed, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	accepted, err := listener.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _ = dialed.Close(); _ = accepted.Close() })
	return accepted.(*net.TCPConn), dialed.(*net.TCPConn)
}

func TestConnectionsStartPlainWhereTheDefaultIsBBR(t *testing.T) {
	ns := hosttest.NewNamespace(t)
	ns.Do(t, func() {
		require.NoError(t, os.WriteFile("/proc/sys/net/ipv4/tcp_congestion_control", []byte("bbr"), 0))
		config := net.ListenConfig{Control: StartPlain}
		listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer func() { _ = listener.Close() }()
		dialed, err := net.Dial("tcp", listener.Addr().String())
		require.NoError(t, err)
		defer func() { _ = dialed.Close() }()
		accepted, err := listener.Accept()
		require.NoError(t, err)
		defer func() { _ = accepted.Close() }()
		actual, err := Actual(accepted.(*net.TCPConn))
		require.NoError(t, err)
		require.Equal(t, "reno", actual)
	})
}

func TestASocketUsesTheControlThatWasAsked(t *testing.T) {
	hosttest.NeedRoot(t)
	conn, _ := connect(t)
	for _, name := range []string{"cubic", "reno", "bbr"} {
		actual, err := Set(conn, name)
		require.NoError(t, err)
		require.Equal(t, name, actual)
	}
}

func TestAnUnavailableControlIsNamedWithWhatThereIs(t *testing.T) {
	conn, _ := connect(t)
	before, err := Actual(conn)
	require.NoError(t, err)
	for _, err := range []error{Check("nosuchcc"), func() error { _, err := Set(conn, "nosuchcc"); return err }()} {
		require.ErrorIs(t, err, ErrUnavailable)
		require.ErrorContains(t, err, `"nosuchcc"`)
		require.ErrorContains(t, err, "cubic")
	}
	after, err := Actual(conn)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

func TestPacingHoldsTheRateDown(t *testing.T) {
	hosttest.NeedRoot(t)
	sender, receiver := connect(t)
	_, err := Set(sender, "cubic")
	require.NoError(t, err)
	const rateBps = 80e6
	require.NoError(t, LimitPacing(sender, rateBps))
	const bytes = 4e6
	go func() { _, _ = sender.Write(make([]byte, bytes)) }()
	began := time.Now()
	_, err = io.CopyN(io.Discard, receiver, bytes)
	require.NoError(t, err)
	require.Greater(t, time.Since(began).Seconds(), 0.8*bytes*8/rateBps)
}

func TestUnsentDataIsLimitedAndTheFlightIsNot(t *testing.T) {
	sender, _ := connect(t)
	const unsent = 64 << 10
	require.NoError(t, LimitUnsent(sender, unsent))
	require.NoError(t, sender.SetWriteDeadline(time.Now().Add(200*time.Millisecond)))
	written, _ := sender.Write(make([]byte, 64<<20))
	raw, err := sender.SyscallConn()
	require.NoError(t, err)
	var waiting, outstanding int
	require.NoError(t, raw.Control(func(fd uintptr) {
		waiting, _ = unix.IoctlGetInt(int(fd), unix.SIOCOUTQNSD)
		outstanding, _ = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ)
	}))
	require.LessOrEqual(t, waiting, 2*unsent, "of %d bytes that were written", written)
	require.GreaterOrEqual(t, written, outstanding)
}
