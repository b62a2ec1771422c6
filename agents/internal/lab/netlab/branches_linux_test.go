package netlab

import (
	"bytes"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/intcp"
	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/server/linkcontrol"
	"downlink/agents/internal/testing/hosttest"
)

// branchedHops are hops of 5, 12 and 20 ms, with a receiver behind the first and the second, 3 and 1 ms away.
func branchedHops(bps float64) emulate.Profile {
	profile := stillHops(stillHop(bps, 5, 0), stillHop(20e6, 12, 0), stillHop(20e6, 20, 0))
	for i, away := range []float64{3, 1} {
		hop := stillHop(20e6, away, 0)
		profile.Receivers = append(profile.Receivers, emulate.Branch{At: float64(i) / 2, Down: hop.Down, Up: hop.Up})
	}
	return profile
}

func TestAFurtherReceiverIsAsFarAsItsHops(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	lab := startLab(t, Options{Name: testName("branch"), Profile: branchedHops(20e6), Senders: 1})
	hosts := lab.Hosts()
	for _, wire := range []struct {
		from, to string
		rtt      time.Duration
	}{
		{"receiver-2", "sender-1", 16 * ms},
		{"receiver-3", "sender-1", 36 * ms},
		{"sender-1", "receiver-3", 36 * ms},
		{Receiver, "sender-1", 74 * ms},
		{"receiver-2", "receiver-3", 16*ms + 36*ms}, // by the gateway
		{"receiver-3", Receiver, 36*ms + 74*ms},
	} {
		for _, address := range []string{hosts[wire.to].DataHost, hosts[wire.to].DataHost6} {
			rtt := fastest(t, hosts, wire.from, wire.to, address)
			require.GreaterOrEqual(t, rtt, wire.rtt, "from %s to %s", wire.from, wire.to)
			require.Less(t, rtt, wire.rtt+8*ms, "from %s to %s", wire.from, wire.to)
		}
	}
}

func TestAFurtherReceiverGetsItsDataWhileTheLinkIsRestarted(t *testing.T) {
	profile := branchedHops(20e6)
	lab := startLab(t, Options{Name: testName("again"), Profile: profile, Senders: 1})
	hosts := lab.Hosts()
	content := bytes.Repeat([]byte("downlink"), 250_000)
	source := serveOnce(t, hosts["sender-1"].Namespace, hosts["sender-1"].DataHost, func(conn net.Conn) { _, _ = conn.Write(content) })
	began := time.Now()
	conn := dialFrom(t, hosts["receiver-3"].Namespace, source)
	requireWholeOverARestart(t, lab, conn, began, content)
	down, up := lab.Counts()
	for _, counts := range []emulate.Counts{down, up} {
		require.Equal(t, counts.Received+counts.Given, counts.Delivered+counts.Taken+sum(counts.Lost[:])+uint64(counts.Queued))
	}
}

// TestPacketsToFurtherReceiversAreOfNoPort: theirs may have the number of a port at the first one.
func TestPacketsToFurtherReceiversAreOfNoPort(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	profile := branchedHops(20e6)
	profile.Hops[0].Down.Loss.IndependentRatio, profile.Receivers[1].Down.Loss.IndependentRatio = 0.2, 0.2
	lab := startLab(t, Options{Name: testName("ports"), Profile: profile, Senders: 1})
	hosts := lab.Hosts()
	session, err := lab.pump.Restart(time.Now(), 7, nil)
	require.NoError(t, err)
	send := func(name string, datagrams int) {
		host := hosts[name]
		for _, address := range []string{host.DataHost, host.DataHost6} {
			onHost(t, hosts["sender-1"].Namespace, func() error {
				conn, err := net.Dial("udp", net.JoinHostPort(address, "5001"))
				if err != nil {
					return err
				}
				for range datagrams {
					_, _ = conn.Write([]byte("x"))
					time.Sleep(ms)
				}
				return conn.Close()
			})
		}
	}
	send(Receiver, 100)
	send("receiver-3", 200)
	time.Sleep(100 * ms)
	session.Stop()
	lost := map[int]uint64{}
	for _, each := range session.Ended().Lost {
		if each.Way == "down" {
			lost[each.ReceiverPort] += each.Packets
		}
	}
	require.InDelta(t, 0.2*200, lost[5001], 25)
	require.InDelta(t, (1-0.8*0.8)*400, lost[0], 45)
	require.Len(t, lost, 2)
}

// TestReceiversOfALinkShareItsRelaysCaches: three of them ask for one content, and the first hop carries it once.
func TestReceiversOfALinkShareItsRelaysCaches(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	path := t.TempDir() + "/relays.sock"
	profile := branchedHops(10e6)
	profile.Hops[1].Down.Loss.IndependentRatio = 0.01
	lab := startLab(t, Options{Name: testName("crowd"), Profile: profile, Senders: 1, RelayControl: path, LinkControl: path + ".link"})
	hosts := lab.Hosts()
	session, err := lab.pump.Restart(time.Now(), 7, nil)
	require.NoError(t, err)
	plan := relayPlan()
	names := []string{Receiver, "receiver-2", "receiver-3"}
	plan.Serves = nil
	for i, name := range names {
		plan.Serves = append(plan.Serves, linkcontrol.RelayHop{Number: uint16(2 + i), Key: keyed(2 + i).Key, Peer: hosts[name].DataHost})
	}
	relays, err := linkcontrol.OpenRelays(t.Context(), path, plan)
	require.NoError(t, err)
	t.Cleanup(func() { _ = relays.Close() })
	address, err := netip.ParseAddrPort(relays.Address)
	require.NoError(t, err)
	sender := open(t, hosts["sender-1"], 1, false)
	require.NoError(t, relays.Ask(linkcontrol.RelayHop{Number: 1, Key: keyed(1).Key, Peer: sender.Local().String()}, time.Now()))
	require.NoError(t, sender.Publish(relayContent, relayStream))
	sender.Do(func(_ time.Duration, node *intcp.Node) { node.Offer(relayRun, relayContent.Name, relayContent.Length) })
	var flights []*flight
	for i, name := range names {
		f := &flight{t: t, sender: sender, receiver: open(t, hosts[name], 0, true)}
		ask(t, f.receiver, 2+i, address)
		require.Eventually(t, f.receiver.IsMet, 5*time.Second, time.Millisecond, "the relay answers %s", name)
		f.receiver.Do(func(now time.Duration, node *intcp.Node) {
			f.consumer, err = node.Consume(now, relayContent, relayStream)
		})
		require.NoError(t, err)
		flights = append(flights, f)
	}
	time.Sleep(2 * time.Second)
	arrived := uint64(0)
	for i, f := range flights {
		got := f.counts().ArrivedBytes
		t.Logf("%s: %.2f Mb/s", names[i], float64(got)*8/2e6)
		require.Greater(t, got, uint64(0.6*2*10e6/8))
		arrived += got
	}
	sent, _ := sender.Look(relayContent)
	require.Less(t, float64(sent.SentBytes), 0.5*float64(arrived), "three receivers cost the first hop one")
	seen := relays.Seen(relayContent.Name)
	require.Equal(t, 3, seen.Look.Readers)
	require.Equal(t, 2, seen.Sites)
	session.Stop()
	ended := session.Ended()
	require.True(t, ended.MixesHops)
	require.NotEmpty(t, ended.Lost)
	for _, lost := range ended.Lost {
		require.Zero(t, lost.ReceiverPort, "for whom a packet between sites is, nobody knows")
	}

	require.NoError(t, relays.Close())
	time.Sleep(120 * ms) // longer than relays take their leave
	require.Less(t, fastest(t, hosts, "receiver-2", "sender-1", hosts["sender-1"].DataHost), 40*ms, "the link passes packets on without them")
}

func TestRoutersOfALinkWithFurtherReceiversAreNoHosts(t *testing.T) {
	_, err := Up(Options{Name: testName("both"), Profile: branchedHops(20e6), Senders: 1, HasRouters: true})
	require.ErrorContains(t, err, "cannot be hosts")
}
