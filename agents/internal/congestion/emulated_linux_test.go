package congestion

import (
	"io"
	"net"
	"os"
	"testing"
	"time"

	"downlink/agents/internal/emulate"
	"downlink/agents/internal/hosttest"

	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// path is an emulated path between two network namespaces that vanish with the test.
type path struct {
	sender, receiver *hosttest.Namespace
	address          string
}

const mtu = 1500

// newPath joins two namespaces by TUN devices and a pump between them. Data flows down, acknowledgements up.
func newPath(t *testing.T, rateBps float64, rtt time.Duration, queueBytes int, change func(*emulate.Profile)) *path {
	t.Helper()
	profile := emulate.Profile{Name: "test", Seed: 1}
	profile.Down = emulate.Direction{Rate: emulate.Rate{ConstantBps: rateBps}, Queue: emulate.Queue{LimitBytes: queueBytes}}
	profile.Up = emulate.Direction{Rate: emulate.Rate{ConstantBps: 1e9}, Queue: emulate.Queue{LimitBytes: 64 << 20}}
	profile.Up.Delay.BaseMs = rtt.Seconds() * 1000
	if change != nil {
		change(&profile)
	}
	p := &path{sender: hosttest.NewNamespace(t), receiver: hosttest.NewNamespace(t), address: "10.77.0.2:5000"}
	atSender := openTun(t, p.sender, "10.77.0.1/24")
	atReceiver := openTun(t, p.receiver, "10.77.0.2/24")
	link := emulate.New(profile, profile.Seed)
	pump(link.Down, atSender, atReceiver)
	pump(link.Up, atReceiver, atSender)
	return p
}

func openTun(t *testing.T, ns *hosttest.Namespace, address string) (device *os.File) {
	t.Helper()
	ns.Do(t, func() {
		fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		require.NoError(t, err)
		request, err := unix.NewIfreq("data")
		require.NoError(t, err)
		request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		require.NoError(t, unix.IoctlIfreq(fd, unix.TUNSETIFF, request))
		device = os.NewFile(uintptr(fd), "tun")
		configure(t, address)
	})
	t.Cleanup(func() { _ = device.Close() })
	return device
}

func configure(t *testing.T, address string) {
	t.Helper()
	link, err := netlink.LinkByName("data")
	require.NoError(t, err)
	parsed, err := netlink.ParseAddr(address)
	require.NoError(t, err)
	require.NoError(t, netlink.AddrAdd(link, parsed))
	require.NoError(t, netlink.LinkSetTxQLen(link, 10_000))
	require.NoError(t, netlink.LinkSetUp(link))
	require.NoError(t, os.WriteFile("/proc/sys/net/ipv4/tcp_rmem", []byte("4096 6000000 60000000"), 0))
	require.NoError(t, os.WriteFile("/proc/sys/net/ipv4/tcp_wmem", []byte("4096 6000000 60000000"), 0))
	require.NoError(t, os.WriteFile("/proc/sys/net/ipv4/tcp_no_metrics_save", []byte("1"), 0))
}

// pump moves packets along one line until its devices are closed.
func pump(line *emulate.Line, from io.Reader, to io.Writer) {
	arrivals := make(chan []byte, 4096)
	go func() {
		defer close(arrivals)
		for {
			packet := make([]byte, mtu)
			n, err := from.Read(packet)
			if err != nil {
				return
			}
			arrivals <- packet[:n]
		}
	}()
	go carry(line, arrivals, to)
}

func carry(line *emulate.Line, arrivals <-chan []byte, to io.Writer) {
	zero := time.Now()
	timer := time.NewTimer(time.Hour)
	var out []*emulate.Packet
	wake := emulate.Never
	for {
		timer.Reset(min(wake-time.Since(zero), time.Hour))
		var in *emulate.Packet
		select {
		case data, ok := <-arrivals:
			if !ok {
				return
			}
			in = &emulate.Packet{Data: data, SizeBytes: len(data)}
		case <-timer.C:
		}
		out, wake = line.Step(time.Since(zero), in, out[:0])
		for _, packet := range out {
			if packet.Lost == emulate.NotLost {
				_, _ = to.Write(packet.Data)
			}
		}
	}
}

// connect opens a connection across the path, with the congestion control set at the sender before the first byte.
func (p *path) connect(t testing.TB, control string) (sender, receiver *net.TCPConn) {
	t.Helper()
	// The receiver dials, as in a run, so that the sender's smoothed RTT is known before the control starts.
	var listener net.Listener
	p.sender.Do(t, func() {
		var err error
		config := net.ListenConfig{Control: StartPlain} // as the agent's data port
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
	actual, err := Set(sender, control)
	require.NoError(t, err)
	require.Equal(t, control, actual)
	return sender, receiver
}

// run sends for a time and returns the sender's records.
func (p *path) run(t *testing.T, source AckSource, control string, lasts time.Duration) []Ack {
	t.Helper()
	sender, receiver := p.connect(t, control)
	acks, tally := record(t, source, sender, func() { sendFor(sender, receiver, lasts) })
	require.Zero(t, tally.Dropped)
	require.NotEmpty(t, acks)
	return acks
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
	require.NoError(t, control(conn, func(fd int) (err error) {
		info, err = unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		return err
	}))
	return info
}

// deliveredBps is the mean rate at which segments arrived between two moments of a flow.
func deliveredBps(acks []Ack, fromS, toS float64) float64 {
	zero := acks[0].TimeNs
	var first, last *Ack
	for i := range acks {
		at := float64(acks[i].TimeNs-zero) / 1e9
		if at >= fromS && first == nil {
			first = &acks[i]
		}
		if at <= toS {
			last = &acks[i]
		}
	}
	if first == nil || last == nil || last.TimeNs <= first.TimeNs {
		return 0
	}
	return float64(last.DeliveredSegments-first.DeliveredSegments) * float64(first.SndMssBytes) * 8e9 / float64(last.TimeNs-first.TimeNs)
}

// exitOf is the index of the first record that shows a finite slow-start threshold, -1 for none.
func exitOf(acks []Ack) int {
	for i := range acks {
		if acks[i].SsthreshSegments < 0x7fffffff {
			return i
		}
	}
	return -1
}
