package netlab

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"downlink/agents/internal/intcp"
	"downlink/agents/internal/intcp/intcpsocket"
	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/pump"
	"downlink/agents/internal/testing/hosttest"
)

// relayEnv makes this test binary relay INTCP between two sockets, as a relay's agent does, instead of running tests.
const relayEnv = "NETLAB_TEST_RELAY"

// promptEnv says that the process runs before others, like the pump: the machine's load is no part of what is compared.
const promptEnv = "NETLAB_TEST_PROMPT"

// relayOrder is what such a process is told.
type relayOrder struct {
	Address, Upstream string
	Asks, Serves      int
}

// relaySaw is what it saw of the content.
type relaySaw struct {
	Look intcp.Look
	Hop  intcp.HopCounts
}

// relayUntilAsked relays, and answers each line with what it has seen until its input ends.
func relayUntilAsked(text string) error {
	if os.Getenv(promptEnv) == "" { // all threads of the program begin with the priority of this one
		runtime.LockOSThread()
		pump.PreferThread()
		return unix.Exec("/proc/self/exe", os.Args, append(os.Environ(), promptEnv+"=1"))
	}
	var order relayOrder
	if err := json.Unmarshal([]byte(text), &order); err != nil {
		return err
	}
	plan := intcpsocket.Plan{
		Run: relayRun, Options: intcp.DefaultOptions(), Policy: intcp.DefaultPolicy(), Asks: true,
		Address: order.Address, Serves: []intcp.Hop{keyed(order.Serves)},
	}
	home, err := intcpsocket.Open(plan)
	if err != nil {
		return err
	}
	upstream, err := netip.ParseAddrPort(order.Upstream)
	if err != nil {
		return err
	}
	hop := keyed(order.Asks)
	hop.Peer = intcpsocket.AddressOf(upstream)
	if err := home.Ask(hop); err != nil {
		return err
	}
	fmt.Println("up")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var saw relaySaw
		home.Do(func(now time.Duration, node *intcp.Node) {
			saw = relaySaw{node.Look(now, relayRun, relayContent.Name), node.HopCounts(relayRun)}
		})
		if err := json.NewEncoder(os.Stdout).Encode(saw); err != nil {
			return err
		}
	}
	return home.Close()
}

type relayProcess struct {
	t   testing.TB
	in  io.WriteCloser
	out *json.Decoder
}

func startRelay(t testing.TB, ns *hosttest.Namespace, order relayOrder) *relayProcess {
	text, err := json.Marshal(order)
	require.NoError(t, err)
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), relayEnv+"="+string(text))
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	require.NoError(t, err)
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	ns.Start(t, command)
	t.Cleanup(func() {
		_ = in.Close()
		require.NoError(t, command.Wait())
	})
	line := make([]byte, 3)
	_, err = io.ReadFull(output, line)
	require.NoError(t, err)
	require.Equal(t, "up\n", string(line))
	return &relayProcess{t, in, json.NewDecoder(output)}
}

func (r *relayProcess) saw() (saw relaySaw) {
	_, err := io.WriteString(r.in, "\n")
	require.NoError(r.t, err)
	require.NoError(r.t, r.out.Decode(&saw))
	return saw
}

// joined puts an emulated link of one hop between two namespaces, and gives the addresses of both.
func joined(t testing.TB, number int, hop emulate.Hop, above, below *hosttest.Namespace) (upper, lower netip.Addr) {
	address := func(last int) netip.Prefix { return netip.MustParsePrefix(fmt.Sprintf("10.99.%d.%d/30", number, last)) }
	device := func(ns *hosttest.Namespace, name string, at netip.Prefix) (made pump.Device) {
		ns.Do(t, func() {
			var err error
			made, err = pump.OpenDevice(name)
			require.NoError(t, err)
			require.NoError(t, raise(name, at, netip.Prefix{}))
		})
		t.Cleanup(made.Close)
		return made
	}
	up, low := device(above, "below", address(1)), device(below, "above", address(2))
	profile := emulate.Profile{Name: "hop", Orbit: "LEO", Seed: uint64(number), Down: hop.Down, Up: hop.Up}
	carrying, err := pump.Start(pump.Options{
		Profile: profile, Seed: profile.Seed, Gateway: up, Receiver: pump.Host{Device: low}, IsSpaced: true,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, carrying.Stop()) })
	return address(1).Addr(), address(2).Addr()
}

// inProcesses is a flow over hops with a relay process, in a namespace of its own, between each two of them.
func inProcesses(t testing.TB, hops ...emulate.Hop) (f *flight, relays []*relayProcess) {
	spaces := make([]*hosttest.Namespace, len(hops)+1)
	for i := range spaces {
		spaces[i] = hosttest.NewNamespace(t)
	}
	home := func(ns *hosttest.Namespace, host string, serves int, asks bool) (made *intcpsocket.Home) {
		plan := intcpsocket.Plan{Run: relayRun, Options: intcp.DefaultOptions(), Policy: intcp.DefaultPolicy(), Asks: asks}
		if serves > 0 {
			plan.Address, plan.Serves = host, []intcp.Hop{keyed(serves)}
		}
		ns.Do(t, func() {
			var err error
			made, err = intcpsocket.Open(plan)
			require.NoError(t, err)
		})
		t.Cleanup(func() { _ = made.Close() })
		return made
	}
	// A pump that waits keeps one of the program's processors: a link for each hop needs as many, and both ends some.
	before := runtime.GOMAXPROCS(len(hops) + 4)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	f = &flight{t: t}
	upstream := ""
	for i, hop := range hops {
		upper, _ := joined(t, i+1, hop, spaces[i], spaces[i+1])
		at := netip.AddrPortFrom(upper, 7000).String()
		if i == 0 {
			f.sender = home(spaces[0], at, 1, false)
		} else {
			relays = append(relays, startRelay(t, spaces[i], relayOrder{Address: at, Upstream: upstream, Asks: i, Serves: i + 1}))
		}
		upstream = at
	}
	f.receiver = home(spaces[len(hops)], "", 0, true)
	ask(t, f.receiver, len(hops), netip.MustParseAddrPort(upstream))
	return f, relays
}

// carried is what there was of a flow: the payload's rate, packets lost on hops, and repairs by hops.
type carried struct{ bps, lost, repaired float64 }

func (c carried) String() string {
	return fmt.Sprintf("%.2f Mb/s, %.0f lost, %.0f repaired", c.bps/1e6, c.lost, c.repaired)
}

// measured carries for a while, after a second.
func measured(f *flight, lasting time.Duration, look func() (lost, repaired uint64)) (c carried) {
	f.begin()
	f.over(time.Second)
	all := func() (uint64, uint64) {
		lost, repaired := look()
		f.receiver.Do(func(_ time.Duration, node *intcp.Node) { lost += node.HopCounts(relayRun).Lost })
		f.sender.Do(func(now time.Duration, node *intcp.Node) {
			repaired += node.Look(now, relayRun, relayContent.Name).Again
		})
		return lost, repaired
	}
	lost, repaired := all()
	c.bps = f.over(lasting)
	lostAfter, repairedAfter := all()
	return carried{c.bps, float64(lostAfter - lost), float64(repairedAfter - repaired)}
}

// relayForm is how the two homes are compared. Among the tests, whose machine may be busy, one of a few short tries has to
// show that both do the same; `make relay-homes` compares medians of longer ones, as exactly as is wanted.
type relayForm struct {
	rounds, tries int
	lasting       time.Duration
	rates, counts float64 // by how much they may be apart
}

var (
	shortForm = relayForm{rounds: 1, tries: 3, lasting: 4 * time.Second, rates: 0.25, counts: 0.35}
	exactForm = relayForm{rounds: 3, tries: 1, rates: 0.03, counts: 0.05}
)

func chosenForm() relayForm {
	s, err := strconv.Atoi(os.Getenv("RELAY_SECONDS"))
	if err != nil {
		return shortForm
	}
	form := exactForm
	form.lasting = time.Duration(s) * time.Second
	return form
}

// relayHops are four with three relays between them.
func relayHops() (hops []emulate.Hop) {
	for range 4 {
		hops = append(hops, stillHop(20e6, 10, 0.03))
	}
	return hops
}

// atSites has the relays at the link's sites.
func atSites(t *testing.T, lasting time.Duration) carried {
	l := relayed(t, "sites", stillHops(relayHops()...))
	found := measured(&l.flight, lasting, func() (uint64, uint64) {
		seen := l.relays.Seen(relayContent.Name)
		require.Equal(t, 3, seen.Sites)
		return seen.Hop.Lost, seen.Look.Again
	})
	require.NoError(t, l.receiver.Close())
	require.NoError(t, l.relays.Close())
	require.NoError(t, l.lab.Close())
	return found
}

// byProcesses has each relay in a process, in a namespace of its own.
func byProcesses(t *testing.T, lasting time.Duration) (found carried) {
	t.Run("processes", func(t *testing.T) { // what it sets up ends before the next round
		f, relays := inProcesses(t, relayHops()...)
		require.Len(t, relays, 3)
		found = measured(f, lasting, func() (lost, repaired uint64) {
			for _, each := range relays {
				saw := each.saw()
				lost, repaired = lost+saw.Hop.Lost, repaired+saw.Look.Again
			}
			return lost, repaired
		})
	})
	return found
}

func medianOf(all []carried, of func(carried) float64) float64 {
	var list []float64
	for _, each := range all {
		list = append(list, of(each))
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// TestTheLinksSitesRelayAsProcessesDo carries the same four hops with their relays at the link's sites, and with three relay
// processes in namespaces. Losses are drawn by the time on the link, so that both have as many, and not the same ones.
func TestTheLinksSitesRelayAsProcessesDo(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	hosttest.NeedRoot(t)
	form := chosenForm()
	for try := 1; ; try++ {
		if far := form.compare(t); len(far) == 0 {
			return
		} else if try == form.tries {
			t.Fatal(far)
		}
	}
}

// compare says what is too far apart.
func (f relayForm) compare(t *testing.T) (far []string) {
	var sites, processes []carried
	for range f.rounds {
		site, process := atSites(t, f.lasting), byProcesses(t, f.lasting)
		sites, processes = append(sites, site), append(processes, process)
		t.Logf("%v each: at sites %s; by processes %s", f.lasting, site, process)
	}
	for _, each := range []struct {
		name string
		of   func(carried) float64
		most float64
	}{
		{"throughput", func(c carried) float64 { return c.bps }, f.rates},
		{"losses of hops", func(c carried) float64 { return c.lost }, f.counts},
		{"repairs by hops", func(c carried) float64 { return c.repaired }, f.counts},
	} {
		site, process := medianOf(sites, each.of), medianOf(processes, each.of)
		text := fmt.Sprintf("%s, processes beside sites: %+.2f %%, at most %.0f %% apart", each.name, 100*(process/site-1), 100*each.most)
		t.Log(text)
		if !(math.Abs(process/site-1) <= each.most) {
			far = append(far, text)
		}
	}
	return far
}
