package pathrelay

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/intcp"
	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/pathtrace"
	"downlink/agents/internal/lab/pathtrace/pathtest"
)

const (
	ms      = time.Millisecond
	testRun = 7
)

var (
	here     = netip.MustParseAddrPort("198.18.1.254:4000")
	sender   = netip.MustParseAddrPort("198.18.1.6:5000")
	receiver = netip.MustParseAddrPort("198.18.1.2:6000")
	content  = intcp.Content{Run: testRun, Name: intcp.Name{1}, Length: 1 << 40, UnitBytes: intcp.MaxUnitBytes}
	stream   = intcp.Stream{Seed: 3}
	key      = func(hop uint16) intcp.Key { return intcp.Key{0: byte(hop), 15: 9} }
)

// flight is both ends of a link with relays at its sites, in virtual time.
type flight struct {
	t       testing.TB
	now     time.Duration
	relays  *Relays
	circuit *emulate.Circuit
	network emulate.Network
	wake    time.Duration
	ends    [2]*end // sender, receiver
	free    []*emulate.Packet
	lost    map[emulate.Cause]int
	wakes   int
	*intcp.Consumer
}

type end struct {
	*intcp.Node
	at   netip.AddrPort
	wake time.Duration
	out  intcp.Outbox
}

func (f *flight) Fresh() *emulate.Packet {
	if n := len(f.free); n > 0 {
		p := f.free[n-1]
		f.free = f.free[:n-1]
		return p
	}
	return &emulate.Packet{Data: make([]byte, 2048)}
}

func (f *flight) Free(p *emulate.Packet) {
	*p = emulate.Packet{Data: p.Data[:cap(p.Data)]}
	f.free = append(f.free, p)
}

func node(t testing.TB, salt uint32, options intcp.Options) *intcp.Node {
	n := intcp.New(intcp.Config{Secret: [16]byte{byte(salt)}, Salt: salt << 24, Policy: intcp.DefaultPolicy()})
	require.NoError(t, n.Begin(testRun, options))
	return n
}

func fly(t testing.TB, profile emulate.Profile, seed uint64, options intcp.Options) *flight {
	f := &flight{t: t, lost: map[emulate.Cause]int{}, network: emulate.New(profile, seed)}
	policy := intcp.DefaultPolicy()
	down, up := intcp.Hop{Run: testRun, Number: 2, Key: key(2)}, intcp.Hop{Run: testRun, Number: 1, Key: key(1)}
	var err error
	f.relays, err = New(Plan{Run: testRun, Options: options, Policy: policy, Here: here, Serves: []intcp.Hop{down}, Secret: [16]byte{5},
		Salt: 77}, f)
	require.NoError(t, err)
	f.circuit = emulate.NewCircuit(profile, f.network, f.relays, 0)
	f.relays.Fly(0, f.circuit.Places)
	f.relays.Watch(content.Name)
	f.ends = [2]*end{{Node: node(t, 1, options), at: sender}, {Node: node(t, 2, options), at: receiver}}
	require.NoError(t, f.ends[0].Serve(up))
	require.NoError(t, f.ends[0].Publish(content, stream, content.Length))
	require.NoError(t, f.relays.Ask(0, up, sender))
	down.Peer = addressOf(here)
	require.NoError(t, f.ends[1].Ask(down))
	f.Consumer, err = f.ends[1].Consume(time.Second, content, stream)
	require.NoError(t, err)
	return f
}

func (f *flight) run(until time.Duration) {
	for f.now < until {
		next := min(until, f.wake, f.ends[0].wake, f.ends[1].wake)
		f.now = max(f.now, next)
		f.wakes++
		require.Less(f.t, f.wakes, 20_000_000, "a storm of timers")
		f.wake = f.circuit.Run(f.now, f.leave)
		for i, e := range f.ends {
			if e.wake <= f.now {
				f.step(i, intcp.Address{}, nil)
			}
		}
	}
}

// leave hands what left the link to an end.
func (f *flight) leave(isUp bool, out []*emulate.Packet) {
	type came struct {
		from intcp.Address
		text []byte
	}
	var all []came
	for _, p := range out {
		if p.Lost != emulate.NotLost {
			f.lost[p.Lost]++
		} else if !IsInner(p) {
			require.Equal(f.t, f.now, p.LeftAt, "who comes when the circuit says misses nothing")
			from, payload, isSound := source(p)
			require.True(f.t, isSound, "%x tag %d size %d len %d", p.Data[:40], p.Tag, p.SizeBytes, len(p.Data))
			all = append(all, came{addressOf(from), append([]byte(nil), payload...)})
		}
		f.Free(p)
	}
	to := 1
	if isUp {
		to = 0
	}
	for _, c := range all {
		f.ends[to].Take(f.now+clockBegin, c.from, c.text, &f.ends[to].out)
		f.ends[to].wake = f.now
	}
}

// pack makes a packet of a datagram of this end, which stops at sites.
func (e *end) pack(p *emulate.Packet, d intcp.Datagram) *emulate.Packet {
	p.Data = p.Data[:headerBytes+len(d.Bytes)]
	p.SizeBytes, p.StopsAtSites = len(p.Data), true
	putHeader(p.Data, e.at, addrPort(d.To), 0)
	copy(p.Data[headerBytes:], d.Bytes)
	return p
}

func (f *flight) step(i int, from intcp.Address, text []byte) {
	e := f.ends[i]
	e.wake = e.Step(f.now+clockBegin, from, text, &e.out) - clockBegin
	out := e.out
	e.out = intcp.Outbox{}
	for _, d := range out.Datagrams {
		p := e.pack(f.Fresh(), d)
		require.True(f.t, f.relays.Has(p.Data))
		f.wake = f.circuit.Enter(f.now, i == 1, p, f.leave)
	}
}

// openOfNoRun makes an OPEN of a packet, by a stranger who says to be at an address.
func openOfNoRun(p *emulate.Packet, at netip.AddrPort) *emulate.Packet {
	p.Data = p.Data[:headerBytes+intcp.OpenBytes]
	p.SizeBytes, p.StopsAtSites = len(p.Data), true
	putHeader(p.Data, at, here, 0)
	clear(p.Data[headerBytes:])
	p.Data[headerBytes], p.Data[headerBytes+1] = intcp.Version, 1
	return p
}

// over is the payload's rate over a time, in bits a second.
func (f *flight) over(lasting time.Duration) float64 {
	before := f.Counts().InOrderBytes
	f.run(f.now + lasting)
	return float64(f.Counts().InOrderBytes-before) * 8 / lasting.Seconds()
}

func direction(bps float64, oneWay time.Duration, lossRatio float64) emulate.Direction {
	return emulate.Direction{
		Rate: emulate.Rate{ConstantBps: bps}, Queue: emulate.Queue{LimitBytes: 1_500_000},
		Loss: emulate.Loss{IndependentRatio: lossRatio}, Delay: emulate.Delay{BaseMs: float64(oneWay) / float64(ms)},
	}
}

func hop(bps float64, rtt time.Duration, lossRatio float64) emulate.Hop {
	return emulate.Hop{Down: direction(bps, rtt/2, lossRatio), Up: direction(bps, rtt/2, 0)}
}

func hopsOf(hops ...emulate.Hop) emulate.Profile {
	return emulate.Profile{Name: "hops", Orbit: "LEO", Seed: 1, Hops: hops}
}

// ceiling is the payload's share of a rate.
func ceiling(bps float64) float64 { return bps * 1400 / 1480 }

func TestHopsRepairTheirOwnLossesBetweenTheRoutersOfALink(t *testing.T) {
	f := fly(t, hopsOf(hop(20e6, 20*ms, 0.02), hop(20e6, 40*ms, 0.02), hop(20e6, 20*ms, 0.02)), 1, intcp.DefaultOptions())
	f.run(2 * time.Second)
	rate := f.over(8 * time.Second)
	seen := f.relays.Look(f.now, content.Name)
	t.Logf("%.2f Mb/s, %+v, wakes %d lost %v", rate/1e6, seen, f.wakes, f.lost)
	require.Greater(t, rate, 0.93*0.98*ceiling(20e6))
	require.Equal(t, 2, seen.Sites)
	require.InEpsilon(t, seen.Look.ArrivedBytes, seen.Look.PassedBytes, 0.05)
	require.Greater(t, seen.Hop.Lost, uint64(100))
	require.Less(t, f.Counts().AskedAgainUnits, uint64(20), "hops repair")
	require.Positive(t, f.lost[emulate.RandomLoss])
}

// pathOf is a profile of one path, each of whose paths lasts for a while.
func pathOf(t testing.TB, paths ...pathtest.Lasting) emulate.Profile {
	file := filepath.Join(t.TempDir(), "test.dlpath")
	require.NoError(t, os.WriteFile(file, pathtest.Encode(pathtest.Header(), paths), 0o600))
	profile, err := emulate.LoadProfile(file)
	require.NoError(t, err)
	return profile
}

// by is a path over satellites, whose last hop leads to the last station; changed hops carry nothing for 20 ms.
func by(lasting time.Duration, lossRatio float64, satellites ...pathtrace.Node) pathtest.Lasting {
	path := pathtest.Lasting{For: lasting}
	for _, to := range append(satellites, -2) {
		hop := pathtest.Still(to, 4*ms, 20e6, lossRatio, lasting)
		hop.Gap = 20 * ms
		path.Hops = append(path.Hops, hop)
	}
	return path
}

func TestRelaysFollowAPathThatChanges(t *testing.T) {
	const each = 2 * time.Second
	for name, paths := range map[string][]pathtest.Lasting{
		"a satellite in the middle": {by(3*each, 0, 1, 2, 3), by(each, 0, 1, 4, 3), by(each, 0, 1, 2, 3), by(each, 0, 1, 4, 3)},
		"the first":                 {by(3*each, 0, 1, 2, 3), by(each, 0, 4, 2, 3), by(each, 0, 1, 2, 3), by(each, 0, 4, 2, 3)},
		"the last":                  {by(3*each, 0, 1, 2, 3), by(each, 0, 1, 2, 4), by(each, 0, 1, 2, 3), by(each, 0, 1, 2, 4)},
		"longer and shorter":        {by(3*each, 0, 1, 2, 3), by(each, 0, 1, 2, 5, 3), by(each, 0, 1, 3), by(each, 0, 1, 2, 3)},
		"bent pipes":                {by(3*each, 0, 1), by(each, 0, 2), by(each, 0, 1), by(each, 0, 2)},
		"all others":                {by(3*each, 0, 1, 2), by(each, 0, 3, 4), by(each, 0, 5, 6), by(each, 0, 1, 2)},
		"an outage":                 {by(3*each, 0, 1, 2, 3), {For: each / 2}, by(each, 0, 1, 2, 3), by(each+each/2, 0, 4, 2, 3)},
	} {
		t.Run(name, func(t *testing.T) {
			f := fly(t, pathOf(t, paths...), 1, intcp.DefaultOptions())
			f.run(3 * time.Second)
			before := f.over(3 * time.Second)
			during := f.over(3 * each)
			seen := f.relays.Look(f.now, content.Name)
			t.Logf("%.2f then %.2f Mb/s, lost %v, again %d, timeouts %d, astray %d, %d wakes",
				before/1e6, during/1e6, f.lost, f.Counts().AskedAgainUnits, f.Counts().Timeouts, f.relays.astray, f.wakes)
			require.Greater(t, before, 0.95*ceiling(20e6))
			require.Greater(t, during, 0.6*ceiling(20e6))
			require.InEpsilon(t, seen.Look.ArrivedBytes, seen.Look.PassedBytes, 0.1)
			state, _ := f.State()
			require.Empty(t, state)

			alone := intcp.DefaultOptions()
			alone.SharesCache = false
			f = fly(t, pathOf(t, paths...), 1, alone)
			f.run(6 * time.Second)
			require.InEpsilon(t, during, f.over(3*each), 0.02, "a cache that is shared does nothing for one flow")
		})
	}
}
