package netlab

import (
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"downlink/agents/internal/intcp"
	"downlink/agents/internal/intcp/intcpsocket"
	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/server/linkcontrol"
	"downlink/agents/internal/testing/hosttest"
)

const relayRun = 9

var (
	relayContent = intcp.Content{Run: relayRun, Name: intcp.Name{4}, Length: 1 << 40, UnitBytes: intcp.MaxUnitBytes}
	relayStream  = intcp.Stream{Seed: 4}
)

// inct is an INTCP flow from the sender to the receiver of a link, over whatever relays.
type flight struct {
	t                testing.TB
	sender, receiver *intcpsocket.Home
	consumer         *intcp.Consumer
}

func keyed(number int) intcp.Hop {
	return intcp.Hop{Run: relayRun, Number: uint16(number), Key: intcp.Key{byte(number), 3}}
}

// open opens a home on a host; hops that it serves and asks over are 0 where it does neither.
func open(t testing.TB, host HostInfo, serves int, asks bool) (home *intcpsocket.Home) {
	plan := intcpsocket.Plan{Run: relayRun, Options: intcp.DefaultOptions(), Policy: intcp.DefaultPolicy(), Asks: asks}
	if serves > 0 {
		plan.Address, plan.Serves = host.DataHost+":0", []intcp.Hop{keyed(serves)}
	}
	require.NoError(t, host.Within(func() (err error) {
		home, err = intcpsocket.Open(plan)
		return err
	}))
	t.Cleanup(func() { _ = home.Close() })
	return home
}

func ask(t testing.TB, home *intcpsocket.Home, number int, peer netip.AddrPort) {
	hop := keyed(number)
	hop.Peer = intcpsocket.AddressOf(peer)
	require.NoError(t, home.Ask(hop))
}

func (f *flight) begin() {
	require.NoError(f.t, f.sender.Publish(relayContent, relayStream))
	require.Eventually(f.t, f.receiver.IsMet, 5*time.Second, time.Millisecond, "the neighbour upstream answers")
	f.sender.Do(func(_ time.Duration, node *intcp.Node) { node.Offer(relayRun, relayContent.Name, relayContent.Length) })
	f.receiver.Do(func(now time.Duration, node *intcp.Node) {
		var err error
		f.consumer, err = node.Consume(now, relayContent, relayStream)
		require.NoError(f.t, err)
	})
}

func (f *flight) counts() (c intcp.ConsumerCounts) {
	f.receiver.Do(func(time.Duration, *intcp.Node) { c = f.consumer.Counts() })
	return c
}

// over is the payload's rate over a time, in bits a second.
func (f *flight) over(lasting time.Duration) float64 {
	before, began := f.counts().InOrderBytes, time.Now()
	time.Sleep(lasting)
	return float64(f.counts().InOrderBytes-before) * 8 / time.Since(began).Seconds()
}

// relayedLink is a link whose sites relay for a run.
type relayedLink struct {
	flight
	lab    *Lab
	relays *linkcontrol.RelayClient
	rows   *linkcontrol.RowReader
	path   string
}

func relayPlan() linkcontrol.RelayPlan {
	return linkcontrol.RelayPlan{
		Run: relayRun, Options: intcp.DefaultOptions(), Policy: intcp.DefaultPolicy(), Contents: []intcp.Name{relayContent.Name},
		Serves: []linkcontrol.RelayHop{{Number: 2, Key: keyed(2).Key}},
	}
}

func relayed(t testing.TB, suffix string, profile emulate.Profile) *relayedLink {
	hosttest.NeedRoot(t)
	l := &relayedLink{path: filepath.Join(t.TempDir(), "relays.sock")}
	l.t = t
	var err error
	l.lab, err = Up(Options{Name: testName(suffix), Profile: profile, Seed: 1, Senders: 1, RelayControl: l.path, LinkControl: l.path +
		".link"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.lab.Close()) })
	l.relays, err = linkcontrol.OpenRelays(t.Context(), l.path, relayPlan())
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.relays.Close() })
	l.rows = l.relays.ReadRows(relayContent.Name)
	hosts := l.lab.Hosts()
	l.sender, l.receiver = open(t, hosts["sender-1"], 1, false), open(t, hosts[Receiver], 0, true)
	require.NoError(t, l.relays.Ask(linkcontrol.RelayHop{Number: 1, Key: keyed(1).Key, Peer: l.sender.Local().String()}, time.Now()))
	address, err := netip.ParseAddrPort(l.relays.Address)
	require.NoError(t, err)
	ask(t, l.receiver, 2, address)
	return l
}

func stillHop(bps, delayMs, lossRatio float64) emulate.Hop {
	way := emulate.Direction{
		Rate: emulate.Rate{ConstantBps: bps}, Queue: emulate.Queue{LimitBytes: 1_500_000}, Delay: emulate.Delay{BaseMs: delayMs},
		Loss: emulate.Loss{IndependentRatio: lossRatio},
	}
	up := way
	up.Loss = emulate.Loss{}
	return emulate.Hop{Down: way, Up: up}
}

func stillHops(hops ...emulate.Hop) emulate.Profile {
	return emulate.Profile{Name: "hops", Orbit: "LEO", Seed: 1, Hops: hops, Facts: emulate.Facts{NominalRateBps: 20e6, BaseRttMs: 60}}
}

func TestRelaysAtTheSitesOfALinkRepairEachHop(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	l := relayed(t, "relay", stillHops(stillHop(20e6, 10, 0.01), stillHop(20e6, 10, 0.01), stillHop(20e6, 10, 0.01)))
	l.begin()
	l.over(500 * time.Millisecond)
	rate := l.over(2 * time.Second)
	seen := l.relays.Seen(relayContent.Name)
	t.Logf("%.2f Mb/s; %+v", rate/1e6, seen)
	require.Greater(t, rate, 0.5*18.9e6, "without repairs on the hops there would be a tenth")
	require.Equal(t, 2, seen.Sites)
	require.Greater(t, seen.Hop.Lost, uint64(20))
	require.Greater(t, seen.Look.Again, uint64(10))
	require.Less(t, l.counts().AskedAgainUnits, uint64(10), "hops repair their own losses")
	l.requireRows(seen)
	_, err := linkcontrol.OpenRelays(t.Context(), l.path, relayPlan())
	require.ErrorIs(t, err, linkcontrol.ErrBusy)

	client, err := linkcontrol.Open(t.Context(), l.path+".link")
	require.NoError(t, err)
	started, err := client.Restart(time.Now(), 5, nil)
	require.NoError(t, err)
	require.Greater(t, l.over(time.Second), 0.4*18.9e6, "relays go on over the link's next course")
	require.NoError(t, client.Stop())
	ended, err := client.Rows(len(started.Fields), time.Second, func([]int64) error { return nil })
	require.NoError(t, err)
	require.False(t, ended.MixesHops)
	downLost := uint64(0)
	for _, lost := range ended.Lost {
		require.EqualValues(t, l.receiver.AskingFrom().Port(), lost.ReceiverPort, "of all hops, also where the relays are the packets' end")
		if lost.Way == "down" {
			downLost += lost.Packets
		}
	}
	require.Greater(t, downLost, uint64(20), "of 1 % at each hop in a second")
	require.NoError(t, client.Close())

	require.NoError(t, l.relays.Close())
	require.Eventually(t, func() bool {
		state := ""
		l.receiver.Do(func(time.Duration, *intcp.Node) { state, _ = l.consumer.State() })
		return state == "refused: ended"
	}, time.Second, time.Millisecond)
	again, err := linkcontrol.OpenRelays(t.Context(), l.path, relayPlan())
	require.NoError(t, err, "the next run finds the relays free")
	require.NoError(t, again.Close())
}

// requireRows: rows of both sites come each 100 ms, and add up to what was seen of both together before them.
func (l *relayedLink) requireRows(seen linkcontrol.RelaySeen) {
	var rows []linkcontrol.SiteRow
	first := int64(-1)
	require.Eventually(l.t, func() bool {
		more, untilUs, dropped := l.rows.Take()
		rows = append(rows, more...)
		require.Zero(l.t, dropped)
		if first < 0 {
			first = untilUs
		}
		return untilUs > first
	}, time.Second, time.Millisecond)
	require.GreaterOrEqual(l.t, len(rows), 2*24, "of 2.5 s")
	lost, repaired := uint64(0), uint64(0)
	for i, row := range rows {
		require.Equal(l.t, i%2+1, row.Place)
		require.EqualValues(l.t, row.Place-1, row.ElapsedUs%linkcontrol.RowsEvery.Microseconds())
		require.EqualValues(l.t, -1000-row.Place, row.Node)
		lost += row.LostPackets
		repaired += row.RepairedBytes
	}
	require.GreaterOrEqual(l.t, lost, seen.Hop.Lost)
	require.Less(l.t, lost, seen.Hop.Lost*3/2)
	require.GreaterOrEqual(l.t, repaired, seen.Look.AgainBytes)
}

// TestALinkWhosePumpHasEndedIsTakenDownDuringARun: with sessions at both sockets, one of them begun when nothing moved any more.
func TestALinkWhosePumpHasEndedIsTakenDownDuringARun(t *testing.T) {
	hosttest.NeedRoot(t)
	name, path := testName("dead"), filepath.Join(t.TempDir(), "relays.sock")
	hops := stillHops(stillHop(20e6, 10, 0), stillHop(20e6, 10, 0))
	lab, err := Up(Options{Name: name, Profile: hops, Seed: 1, Senders: 1, RelayControl: path, LinkControl: path + ".link"})
	require.NoError(t, err)
	relays, err := linkcontrol.OpenRelays(t.Context(), path, relayPlan())
	require.NoError(t, err)
	client, err := linkcontrol.Open(t.Context(), path+".link")
	require.NoError(t, err)
	onHost(t, lab.Hosts()[Receiver].Namespace, func() error {
		device, err := netlink.LinkByName("data")
		require.NoError(t, err)
		return netlink.LinkDel(device)
	})
	<-lab.Ended()
	require.Eventually(t, func() bool { return relays.Err() != nil }, 5*time.Second, time.Millisecond, "the run hears of it")
	_, err = client.Restart(time.Now().Add(time.Second), 5, nil)
	require.ErrorContains(t, err, "the link is going down")
	closed := make(chan error)
	go func() { closed <- lab.Close() }()
	select {
	case err := <-closed:
		require.ErrorIs(t, err, unix.EBADFD)
	case <-time.After(10 * time.Second):
		t.Fatal("the link does not go down")
	}
	require.Empty(t, traces(t, name), "everything is gone")
	require.NoError(t, relays.Close())
	require.NoError(t, client.Close())
}

func TestALinkOfOneHopHasNoPlaceToRelayAt(t *testing.T) {
	hosttest.NeedRoot(t)
	profile, err := emulate.LoadProfile("terrestrial")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "relays.sock")
	lab := startLab(t, Options{Name: testName("onehop"), Profile: profile, Senders: 1, RelayControl: path})
	require.NotContains(t, lab.Hosts(), Relays)
	_, err = linkcontrol.OpenRelays(t.Context(), path, relayPlan())
	require.ErrorContains(t, err, "reach the relays' control socket")
}
