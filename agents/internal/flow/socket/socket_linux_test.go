package socket

import (
	"io"
	"net"
	"os"
	"testing"
	"time"

	"downlink/agents/internal/testing/hosttest"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

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
		actual, err := ActualControl(accepted.(*net.TCPConn))
		require.NoError(t, err)
		require.Equal(t, "reno", actual)
	})
}

func TestASocketUsesTheControlThatWasAsked(t *testing.T) {
	hosttest.NeedRoot(t)
	conn, _ := hosttest.Connect(t)
	for _, name := range []string{"cubic", "reno", "bbr"} {
		actual, err := SetControl(conn, name)
		require.NoError(t, err)
		require.Equal(t, name, actual)
	}
}

func TestAnUnavailableControlIsNamedWithWhatThereIs(t *testing.T) {
	conn, _ := hosttest.Connect(t)
	before, err := ActualControl(conn)
	require.NoError(t, err)
	for _, err := range []error{CheckControl("nosuchcc"), func() error { _, err := SetControl(conn, "nosuchcc"); return err }()} {
		require.ErrorIs(t, err, ErrUnavailable)
		require.ErrorContains(t, err, `"nosuchcc"`)
		require.ErrorContains(t, err, "cubic")
	}
	after, err := ActualControl(conn)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

func TestPacingHoldsTheRateDown(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	hosttest.NeedRoot(t)
	sender, receiver := hosttest.Connect(t)
	_, err := SetControl(sender, "cubic")
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
	sender, _ := hosttest.Connect(t)
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
