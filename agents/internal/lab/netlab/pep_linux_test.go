package netlab

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/testing/hosttest"
)

func withPep(t *testing.T, change func(*emulate.Pep)) emulate.Profile {
	t.Helper()
	profile := terrestrial(t)
	profile.Pep = &emulate.Pep{
		Satellite: emulate.Segment{Cc: "bbr"}, Terrestrial: emulate.Segment{Cc: "reno"},
		MostConnections: 8, BufferBytes: 4_000_000, DeadAfterS: 60,
	}
	if change != nil {
		change(profile.Pep)
	}
	return profile
}

func pepLab(t *testing.T, suffix string, change func(*emulate.Pep)) (*Lab, map[string]HostInfo) {
	t.Helper()
	lab := startLab(t, Options{Name: testName(suffix), Profile: withPep(t, change), Senders: 2})
	return lab, lab.Hosts()
}

// accepted serves one connection on a sender and dials it from the receiver.
func accepted(t *testing.T, hosts map[string]HostInfo) (receiver, sender *net.TCPConn) {
	t.Helper()
	listener := listenOn(t, hosts["sender-1"].Namespace, net.JoinHostPort(hosts["sender-1"].DataHost, "0"))
	receiver = dialFrom(t, hosts[Receiver].Namespace, listener.Addr().String()).(*net.TCPConn)
	conn, err := listener.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	for _, each := range []net.Conn{receiver, conn} {
		require.NoError(t, each.SetDeadline(time.Now().Add(20*time.Second)))
	}
	return receiver, conn.(*net.TCPConn)
}

func requireAlive(t *testing.T, from, to *net.TCPConn) {
	t.Helper()
	_, err := from.Write([]byte("x"))
	require.NoError(t, err)
	_, err = io.ReadFull(to, make([]byte, 1))
	require.NoError(t, err)
}

func TestBytesPassAProxyUnchangedInBothFamilies(t *testing.T) {
	_, hosts := pepLab(t, "pep", nil)
	content := bytes.Repeat([]byte("downlink"), 250_000)
	download(t, hosts, "sender-1", hosts["sender-1"].DataHost, content)
	download(t, hosts, "sender-2", hosts["sender-2"].DataHost6, content)
}

func TestBothEndsSeeEachOthersAddressThroughAProxy(t *testing.T) {
	_, hosts := pepLab(t, "pepaddr", nil)
	receiver, sender := accepted(t, hosts)
	require.Equal(t, receiver.LocalAddr().String(), sender.RemoteAddr().String())
	require.Equal(t, receiver.RemoteAddr().String(), sender.LocalAddr().String())
}

func TestEachSegmentHasItsOwnControl(t *testing.T) {
	_, hosts := pepLab(t, "pepcc", nil)
	receiver, sender := accepted(t, hosts)
	requireAlive(t, sender, receiver)
	var found []string
	output := socketsOf(t, "dl-"+testName("pepcc")+"-gw", "-Htin", "state", "established")
	for line := range strings.SplitSeq(output, "\n") {
		if control := regexp.MustCompile(`^\s+(?:.* )?(bbr|reno|cubic) `).FindStringSubmatch(line); control != nil {
			found[len(found)-1] += " by " + control[1]
		} else if fields := strings.Fields(line); len(fields) > 3 {
			found = append(found, "to "+fields[3])
		}
	}
	require.ElementsMatch(t, []string{
		"to " + receiver.LocalAddr().String() + " by bbr",
		"to " + sender.LocalAddr().String() + " by reno",
	}, found)
}

// socketsOf lists the TCP sockets of a namespace as the kernel tells them.
func socketsOf(t *testing.T, namespace string, options ...string) string {
	t.Helper()
	command := exec.Command("ss", options...)
	var output bytes.Buffer
	command.Stdout = &output
	onHost(t, namespace, command.Run)
	return output.String()
}

func TestAProxyPassesTheEndOfOneDirectionOn(t *testing.T) {
	_, hosts := pepLab(t, "pepfin", nil)
	receiver, sender := accepted(t, hosts)
	go func() {
		text, _ := io.ReadAll(sender) // until the receiver's end has come through
		sum := sha256.Sum256(text)
		_, _ = sender.Write(append(sum[:], text...))
		_ = sender.Close()
	}()
	text := bytes.Repeat([]byte("half-closed"), 100_000)
	_, err := receiver.Write(text)
	require.NoError(t, err)
	require.NoError(t, receiver.CloseWrite())
	answer, err := io.ReadAll(receiver)
	require.NoError(t, err)
	sum := sha256.Sum256(text)
	require.True(t, bytes.Equal(append(sum[:], text...), answer), "the answer came after the end, and whole")
}

func TestAProxyPassesAResetOn(t *testing.T) {
	_, hosts := pepLab(t, "peprst", nil)
	for _, bySender := range []bool{true, false} {
		receiver, sender := accepted(t, hosts)
		requireAlive(t, sender, receiver)
		breaking, other := sender, receiver
		if !bySender {
			breaking, other = receiver, sender
		}
		require.NoError(t, breaking.SetLinger(0))
		require.NoError(t, breaking.Close())
		_, err := other.Read(make([]byte, 1))
		require.ErrorIs(t, err, unix.ECONNRESET)
	}
}

func TestAServerThatRefusesResetsTheClientOfAProxy(t *testing.T) {
	lab, hosts := pepLab(t, "pepno", nil)
	conn := dialFrom(t, hosts[Receiver].Namespace, net.JoinHostPort(hosts["sender-1"].DataHost, "9"))
	require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	_, err := conn.Read(make([]byte, 1))
	require.ErrorIs(t, err, unix.ECONNRESET)
	require.Equal(t, uint64(1), lab.proxy.Failed())
}

func TestAPeerThatDiesEndsBothConnectionsOfAProxy(t *testing.T) {
	for _, dead := range []string{"sender-1", Receiver} {
		_, hosts := pepLab(t, "pepdead"+dead[:1], func(p *emulate.Pep) { p.DeadAfterS = 1 })
		receiver, sender := accepted(t, hosts)
		requireAlive(t, sender, receiver)
		onHost(t, hosts[dead].Namespace, func() error {
			device, err := netlink.LinkByName("data")
			require.NoError(t, err)
			return netlink.LinkSetDown(device)
		})
		alive := receiver
		if dead == Receiver {
			alive = sender
		}
		_, err := alive.Read(make([]byte, 1))
		require.ErrorIs(t, err, unix.ECONNRESET, "when %s is dead", dead)
	}
}

func TestAProxyHasABoundedNumberOfConnections(t *testing.T) {
	lab, hosts := pepLab(t, "pepmax", func(p *emulate.Pep) { p.MostConnections = 2 })
	first, firstSender := accepted(t, hosts)
	second, secondSender := accepted(t, hosts)
	listener := listenOn(t, hosts["sender-1"].Namespace, net.JoinHostPort(hosts["sender-1"].DataHost, "0"))
	third := dialFrom(t, hosts[Receiver].Namespace, listener.Addr().String())
	require.NoError(t, third.SetDeadline(time.Now().Add(10*time.Second)))
	_, err := third.Read(make([]byte, 1))
	require.ErrorIs(t, err, unix.ECONNRESET)
	require.Equal(t, uint64(1), lab.proxy.Refused())
	requireAlive(t, secondSender, second)

	require.NoError(t, first.Close())
	_, err = firstSender.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, firstSender.Close())
	require.True(t, waitFor(5*time.Second, func() bool {
		conn := dialFrom(t, hosts[Receiver].Namespace, listener.Addr().String())
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(300*time.Millisecond)))
		_, err := conn.Read(make([]byte, 1))
		return os.IsTimeout(err) // it is open, and nobody has written
	}), "there is room again")
}

// A receiver that does not read stops the sender, once the buffers in between are full.
func TestAProxyKeepsNoMoreThanItsBuffers(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	_, hosts := pepLab(t, "pepbuf", func(p *emulate.Pep) { p.BufferBytes = 200_000 })
	receiver, sender := accepted(t, hosts)
	require.NoError(t, receiver.SetReadBuffer(65536))
	require.NoError(t, sender.SetWriteBuffer(65536))
	require.NoError(t, sender.SetWriteDeadline(time.Now().Add(3*time.Second)))
	const room = 4_000_000
	written, err := sender.Write(make([]byte, 10*room))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.Less(t, written, room)
}

func TestAProxyListensOnTheGatewaysLoopbackAlone(t *testing.T) {
	_, hosts := pepLab(t, "peplis", nil)
	require.Empty(t, socketsOf(t, hosts[Receiver].Namespace, "-Htln"))
	require.Empty(t, socketsOf(t, hosts["sender-1"].Namespace, "-Htln"))
	gatewayListens := strings.Fields(socketsOf(t, "dl-"+testName("peplis")+"-gw", "-Htln"))
	for i := 3; i < len(gatewayListens); i += 5 {
		require.Regexp(t, `^(127\.0\.0\.1|\[::1\]):`, gatewayListens[i])
	}
	mine, err := exec.Command("ss", "-Htlnp").Output()
	require.NoError(t, err)
	require.NotContains(t, string(mine), fmt.Sprintf("pid=%d,", os.Getpid()))
}

func TestAControlThatTheKernelLacksIsNamed(t *testing.T) {
	hosttest.NeedRoot(t)
	name := testName("pepbad")
	_, err := Up(Options{Name: name, Profile: withPep(t, func(p *emulate.Pep) { p.Satellite.Cc = "warp" }), Senders: 1})
	require.ErrorContains(t, err, `congestion control "warp" is not to be had in this kernel`)
	require.Empty(t, traces(t, name))
}

// With a proxy the sender's own start-up is over within the short segment. What crosses the satellite begins with the
// window that the proxy was given.
func TestCubicStartsSoonerBehindAProxy(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	profile := benchProfile(40e6, 100)
	plain := startLab(t, Options{Name: testName("slow"), Profile: profile, Senders: 1})
	profile.Pep = &emulate.Pep{
		Satellite: emulate.Segment{Cc: "cubic", InitialWindowSegments: 200}, Terrestrial: emulate.Segment{Cc: "cubic"},
		MostConnections: 8, BufferBytes: 4_000_000, DeadAfterS: 60,
	}
	proxied := startLab(t, Options{Name: testName("fast"), Profile: profile, Senders: 1})
	content := make([]byte, 600_000)
	took := map[*Lab]time.Duration{}
	for _, lab := range []*Lab{plain, proxied} {
		hosts := lab.Hosts()
		onHost(t, hosts[Receiver].Namespace, func() error { // the receiver's first window is not what limits the start
			return os.WriteFile("/proc/sys/net/ipv4/tcp_rmem", []byte("4096 4000000 4000000"), 0)
		})
		took[lab] = download(t, hosts, "sender-1", hosts["sender-1"].DataHost, content)
	}
	t.Logf("600 kB took %v without and %v with a proxy", took[plain], took[proxied])
	require.Greater(t, took[plain].Seconds(), 1.5*took[proxied].Seconds())
}
