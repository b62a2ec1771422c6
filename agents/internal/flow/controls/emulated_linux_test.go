package controls

import (
	"io"
	"net"
	"os"
	"testing"
	"time"

	"downlink/agents/internal/flow/acks"
	"downlink/agents/internal/flow/socket"
	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/pump"
	"downlink/agents/internal/testing/hosttest"

	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// path is an emulated path between two network namespaces that vanish with the test.
type path struct {
	sender, receiver *hosttest.Namespace
	address          string
}

// newPath joins two namespaces by TUN devices and the emulator's own pump, whose thread a busy host does not hold up.
// Data flows down, acknowledgements up.
func newPath(t testing.TB, rateBps float64, rtt time.Duration, queueBytes int, change func(*emulate.Profile)) *path {
	t.Helper()
	profile := emulate.Profile{Name: "test", Seed: 1}
	profile.Down = emulate.Direction{Rate: emulate.Rate{ConstantBps: rateBps}, Queue: emulate.Queue{LimitBytes: queueBytes}}
	profile.Up = emulate.Direction{Rate: emulate.Rate{ConstantBps: 1e9}, Queue: emulate.Queue{LimitBytes: 64 << 20}}
	profile.Up.Delay.BaseMs = rtt.Seconds() * 1000
	if change != nil {
		change(&profile)
	}
	p := &path{sender: hosttest.NewNamespace(t), receiver: hosttest.NewNamespace(t), address: "10.77.0.2:5000"}
	carrying, err := pump.Start(pump.Options{
		Profile: profile, Seed: profile.Seed, IsSpaced: true,
		Gateway: openTun(t, p.sender, "10.77.0.1/24"), Receiver: pump.Host{Device: openTun(t, p.receiver, "10.77.0.2/24")},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, carrying.Stop()) })
	return p
}

func openTun(t testing.TB, ns *hosttest.Namespace, address string) (device pump.Device) {
	t.Helper()
	ns.Do(t, func() {
		var err error
		device, err = pump.OpenDevice("data")
		require.NoError(t, err)
		configure(t, address)
	})
	t.Cleanup(device.Close)
	return device
}

func configure(t testing.TB, address string) {
	t.Helper()
	link, err := netlink.LinkByName("data")
	require.NoError(t, err)
	parsed, err := netlink.ParseAddr(address)
	require.NoError(t, err)
	require.NoError(t, netlink.AddrAdd(link, parsed))
	require.NoError(t, netlink.LinkSetTxQLen(link, 10_000))
	require.NoError(t, netlink.LinkSetUp(link))
	grantBuffers(t)
}

// grantBuffers lets connections of the thread's namespace begin with large windows.
func grantBuffers(t testing.TB) {
	t.Helper()
	require.NoError(t, os.WriteFile("/proc/sys/net/ipv4/tcp_rmem", []byte("4096 6000000 60000000"), 0))
	require.NoError(t, os.WriteFile("/proc/sys/net/ipv4/tcp_wmem", []byte("4096 6000000 60000000"), 0))
	require.NoError(t, os.WriteFile("/proc/sys/net/ipv4/tcp_no_metrics_save", []byte("1"), 0))
}

// connect opens a connection across the path, with the congestion control set at the sender before the first byte.
func (p *path) connect(t testing.TB, control string) (sender, receiver *net.TCPConn) {
	t.Helper()
	// The receiver dials, as in a run, so that the sender's smoothed RTT is known before the control starts.
	var listener net.Listener
	p.sender.Do(t, func() {
		var err error
		config := net.ListenConfig{Control: socket.StartPlain} // as the agent's data port
		listener, err = config.Listen(t.Context(), "tcp", "10.77.0.1:0")
		require.NoError(t, err)
	})
	defer func() { _ = listener.Close() }()
	dialed := make(chan *net.TCPConn, 1)
	go p.receiver.Do(t, func() {
		conn, err := net.DialTimeout("tcp", listener.Addr().String(), 10*time.Second)
		if err != nil {
			dialed <- nil
			return
		}
		dialed <- conn.(*net.TCPConn)
	})
	accepted, err := listener.Accept()
	require.NoError(t, err)
	sender, receiver = accepted.(*net.TCPConn), <-dialed
	require.NotNil(t, receiver)
	t.Cleanup(func() { _ = sender.SetLinger(0); _ = sender.Close(); _ = receiver.Close() })
	actual, err := socket.SetControl(sender, control)
	require.NoError(t, err)
	require.Equal(t, control, actual)
	return sender, receiver
}

// run sends for a time and returns the sender's records.
func (p *path) run(t testing.TB, source acks.Source, control string, lasts time.Duration) []acks.Ack {
	t.Helper()
	sender, receiver := p.connect(t, control)
	records, tally := record(t, source, sender, func() { sendFor(sender, receiver, lasts) })
	require.Zero(t, tally.Dropped)
	require.NotEmpty(t, records)
	return records
}

func sendFor(sender, receiver *net.TCPConn, lasts time.Duration) {
	go func() { _, _ = io.Copy(io.Discard, receiver) }()
	end := time.Now().Add(lasts)
	_ = sender.SetWriteDeadline(end)
	block := make([]byte, 256<<10)
	for time.Now().Before(end) {
		if _, err := sender.Write(block); err != nil {
			return
		}
	}
}

// tcpInfo reads the kernel's view of a connection.
func tcpInfo(t *testing.T, conn *net.TCPConn) (info *unix.TCPInfo) {
	t.Helper()
	raw, err := conn.SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(fd uintptr) {
		info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	}))
	require.NoError(t, err)
	return info
}

// deliveredBps is the mean rate at which segments arrived between two moments of a flow.
func deliveredBps(records []acks.Ack, fromS, toS float64) float64 {
	zero := records[0].TimeNs
	var first, last *acks.Ack
	for i := range records {
		at := float64(records[i].TimeNs-zero) / 1e9
		if at >= fromS && first == nil {
			first = &records[i]
		}
		if at <= toS {
			last = &records[i]
		}
	}
	if first == nil || last == nil || last.TimeNs <= first.TimeNs {
		return 0
	}
	return float64(last.DeliveredSegments-first.DeliveredSegments) * float64(first.SndMssBytes) * 8e9 / float64(last.TimeNs-first.TimeNs)
}

// exitOf is the index of the first record that shows a finite slow-start threshold, -1 for none.
func exitOf(records []acks.Ack) int {
	for i := range records {
		if records[i].SsthreshSegments < 0x7fffffff {
			return i
		}
	}
	return -1
}
