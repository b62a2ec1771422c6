package netlab

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"downlink/agents/internal/testing/hosttest"

	"github.com/stretchr/testify/require"
)

// wires are the RTTs of hops of 5, 12 and 20 ms between every two hosts of a link whose routers are hosts.
var wires = []struct {
	from, to string
	rtt      time.Duration
}{
	{"router-1", "sender-1", 10 * ms},
	{"router-2", "sender-1", 34 * ms},
	{Receiver, "sender-1", 74 * ms},
	{"router-2", "router-1", 24 * ms},
	{"router-1", "router-2", 24 * ms},
	{Receiver, "router-1", 64 * ms},
	{Receiver, "router-2", 40 * ms},
	{"sender-1", "router-2", 34 * ms},
}

// fastest is the least time of several handshakes of TCP: on a busy machine the others are late.
func fastest(t *testing.T, hosts map[string]HostInfo, from, to, address string) (least time.Duration) {
	listener := listenOn(t, hosts[to].Namespace, net.JoinHostPort(address, "0"))
	least = time.Hour
	for range 6 {
		began := time.Now()
		dialFrom(t, hosts[from].Namespace, listener.Addr().String())
		least = min(least, time.Since(began))
	}
	return least
}

func TestARouterThatIsAHostIsAsFarAsItsHops(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	profile := stillHops(stillHop(20e6, 5, 0), stillHop(20e6, 12, 0), stillHop(20e6, 20, 0))
	lab := startLab(t, Options{Name: testName("far"), Profile: profile, Senders: 1, HasRouters: true})
	hosts := lab.Hosts()
	for _, wire := range wires {
		for _, address := range []string{hosts[wire.to].DataHost, hosts[wire.to].DataHost6} {
			rtt := fastest(t, hosts, wire.from, wire.to, address)
			require.GreaterOrEqual(t, rtt, wire.rtt, "from %s to %s", wire.from, wire.to)
			require.Less(t, rtt, wire.rtt+8*ms, "from %s to %s", wire.from, wire.to)
		}
	}
}

func TestAConnectionIsSplitAtARouterWhileTheLinkIsRestarted(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	profile := stillHops(stillHop(20e6, 5, 0), stillHop(20e6, 20, 0))
	lab := startLab(t, Options{Name: testName("split"), Profile: profile, Senders: 1, HasRouters: true})
	hosts := lab.Hosts()
	content := bytes.Repeat([]byte("downlink"), 250_000)
	source := serveOnce(t, hosts["sender-1"].Namespace, hosts["sender-1"].DataHost, func(conn net.Conn) { _, _ = conn.Write(content) })
	began := time.Now()
	onward := dialFrom(t, hosts["router-1"].Namespace, source)
	relay := serveOnce(t, hosts["router-1"].Namespace, hosts["router-1"].DataHost, func(conn net.Conn) { _, _ = io.Copy(conn, onward) })
	conn := dialFrom(t, hosts[Receiver].Namespace, relay)
	requireWholeOverARestart(t, lab, conn, began, content)

	down, up := lab.Counts()
	require.Greater(t, down.TakenBytes, uint64(len(content)), "the first hop's data left the link at the router")
	require.Greater(t, down.GivenBytes, uint64(len(content)), "and went on from there")
	for _, counts := range []struct{ in, out uint64 }{
		{down.Received + down.Given, down.Delivered + down.Taken + sum(down.Lost[:]) + uint64(down.Queued)},
		{up.Received + up.Given, up.Delivered + up.Taken + sum(up.Lost[:]) + uint64(up.Queued)},
	} {
		require.Equal(t, counts.in, counts.out)
	}
}

func sum(counts []uint64) (total uint64) {
	for _, count := range counts {
		total += count
	}
	return total
}

func TestALinkOfOneHopHasNoRouterToBeAHost(t *testing.T) {
	_, err := Up(Options{Name: testName("none"), Profile: terrestrial(t), Senders: 1, HasRouters: true})
	require.ErrorContains(t, err, "profile terrestrial has 0 routers between hops")
}

// requireWholeOverARestart reads 16 Mbit over a link of 20 Mb/s, which is restarted meanwhile.
func requireWholeOverARestart(t *testing.T, lab *Lab, conn net.Conn, began time.Time, content []byte) {
	t.Helper()
	session, err := lab.pump.Restart(time.Now().Add(200*ms), 7, nil)
	require.NoError(t, err)
	require.NoError(t, conn.SetReadDeadline(began.Add(20*time.Second)))
	got, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.Equal(t, content, got)
	require.Greater(t, time.Since(began), 800*ms, "16 Mbit take that long at 20 Mb/s")
	session.Stop()
}
