package netlab

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"downlink/agents/internal/flow/controls"
	"downlink/agents/internal/flow/socket"
	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/measure"
	"downlink/agents/internal/lab/pathtrace"
	"downlink/agents/internal/lab/pathtrace/pathtest"
	"downlink/agents/internal/lab/pump"
	"downlink/agents/internal/testing/hosttest"
)

const ms = time.Millisecond

// flown are the RTTs in the middle of paths of 15 hops that follow each other, without queues.
var flown = []time.Duration{104 * ms, 134 * ms, 120 * ms, 96 * ms}

// movingPaths is these paths, over other satellites each time, at 20 Mb/s without loss. Each hop becomes longer and shorter all
// the time, by up to a share of its length.
func movingPaths(lasting time.Duration, share float64) (paths []pathtest.Lasting) {
	for i, rtt := range flown {
		path := pathtest.Chain(15, 3*ms, (rtt/2-2*3*ms)/13, 20e6, 0, 0, lasting)
		for j := range path.Hops {
			if j < 14 && j%2 == 0 { // half of the satellites change each time
				path.Hops[j].To += pathtrace.Node(100 * i)
			}
			path.Hops[j].Knots = moving(path.Hops[j].Knots[0], lasting, j, share)
		}
		paths = append(paths, path)
	}
	return paths
}

// moving has a knot each second, and goes in another direction after each. Hops do alike, so that their sum moves too.
func moving(still pathtrace.Knot, lasting time.Duration, number int, share float64) (knots []pathtrace.Knot) {
	for at := time.Duration(0); at <= lasting; at += time.Second {
		knot := still
		knot.At = at
		knot.Delay += time.Duration(share / 2 * float64(still.Delay) * float64((number%2+3*int(at/time.Second))%5-2))
		knots = append(knots, knot)
	}
	return knots
}

func profileOf(t testing.TB, paths []pathtest.Lasting) emulate.Profile {
	return profileIn(t, pathtest.Encode(pathtest.Header(), paths))
}

func profileIn(t testing.TB, packed []byte) emulate.Profile {
	file := filepath.Join(t.TempDir(), "east-west.dlpath")
	require.NoError(t, os.WriteFile(file, packed, 0o600))
	profile, err := emulate.LoadProfile(file)
	require.NoError(t, err)
	return profile
}

// trip is what the pump saw of a probe: when it came and left, by the emulation's own reckoning, on the way up and then down.
type trip struct{ enteredUp, leftUp, enteredDown, leftDown time.Duration }

func (p trip) emulated() time.Duration { return p.leftUp - p.enteredUp + p.leftDown - p.enteredDown }

// trips notes each probe. How late the pump lets a packet go is the machine's doing and does not count here.
func trips(t *testing.T, p *pump.Pump) map[uint64]*trip {
	noted, late := map[uint64]*trip{}, time.Duration(0)
	require.NoError(t, p.Note(func(passage pump.Passage) {
		if len(passage.Packet) < 28+measure.ProbeBytes || passage.Packet[9] != unix.IPPROTO_UDP {
			return
		}
		key, at := binary.BigEndian.Uint64(passage.Packet[28:]), passage.At.Sub(p.Began())
		if noted[key] == nil {
			noted[key] = &trip{}
		}
		switch each := noted[key]; {
		case passage.From == emulate.Receiver && passage.HasLeft:
			each.leftUp = at - late
		case passage.From == emulate.Receiver:
			each.enteredUp = at
		case passage.HasLeft:
			each.leftDown = at - late
		default:
			each.enteredDown = at
		}
	}, func(d time.Duration) { late = d }))
	return noted
}

// tracedWay is how long the trace says that a probe takes, and whether all of it is within one path.
func tracedWay(trace *pathtrace.Trace, from time.Duration, isUp bool) (took time.Duration, isWithin bool) {
	path := trace.Paths[trace.At(from)]
	hops := slices.Clone(path.Hops)
	if isUp {
		slices.Reverse(hops)
	}
	at := from
	for _, hop := range hops {
		at += (28 + measure.ProbeBytes) * 8 * time.Second / 20e6
		at += hop.Delay(at)
	}
	return at - from, at < path.End
}

// TestTheIdleRttOfFifteenHopsIsThatOfTheTrace follows the trace through its changes, while its hops move. In each second, also
// the first one after a change, the median of what probes meet is that of the trace. What a busy machine adds counts for the
// fastest probe only. DOWNLINK_PATH_S, the seconds of each path on a quiet machine, asks for the median of that, too.
func TestTheIdleRttOfFifteenHopsIsThatOfTheTrace(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	hosttest.NeedRoot(t)
	const within, spacing = 300 * time.Microsecond, 50 * ms
	seconds := 5
	if text := os.Getenv("DOWNLINK_PATH_S"); text != "" {
		var err error
		seconds, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	lasting := time.Duration(seconds) * time.Second
	packed := pathtest.Encode(pathtest.Header(), movingPaths(lasting, 0.1))
	trace, err := pathtrace.Decode(packed)
	require.NoError(t, err)
	lab := startLab(t, Options{Name: testName("path"), Profile: profileIn(t, packed), Senders: 1})
	link, err := Find(lab.Name)
	require.NoError(t, err)
	noted := trips(t, lab.pump)
	idle, err := measure.Probe(t.Context(), link.Hosts[Receiver], link.Hosts["sender-1"],
		int((time.Duration(len(flown))*lasting-time.Second)/spacing), spacing, time.Second)
	require.NoError(t, err)
	require.NoError(t, lab.pump.Note(nil, nil))

	beside, rtts := map[int][]time.Duration{}, []time.Duration{}
	for _, each := range noted {
		if each.leftDown == 0 {
			continue // it was on its way to a satellite that left, or at the end
		}
		up, isUpWithin := tracedWay(trace, each.enteredUp, true)
		down, isDownWithin := tracedWay(trace, each.enteredDown, false)
		rtts = append(rtts, each.emulated())
		if isUpWithin && isDownWithin {
			second := int(each.enteredUp / time.Second)
			beside[second] = append(beside[second], each.emulated()-up-down)
		}
	}
	seen, most := 0, time.Duration(0)
	for second, apart := range beside {
		if len(apart) < 5 { // whoever probes got too little of the machine
			continue
		}
		seen++
		median := medianTime(apart)
		most = max(most, median.Abs())
		require.LessOrEqual(t, median.Abs(), within, "second %d: %v", second, apart)
	}
	added := medianTime(idle.Rtts) - medianTime(rtts)
	t.Logf("%d probes of %d in %d seconds, medians at most %v from the trace; the machine adds %v in the median",
		len(rtts), idle.Sent, seen, most, added)
	require.Greater(t, seen, len(flown)*seconds*3/4)
	require.InDelta(t, float64(slices.Min(rtts)), float64(slices.Min(idle.Rtts)), float64(5*ms), "the fastest")
	if os.Getenv("DOWNLINK_PATH_S") != "" {
		require.LessOrEqual(t, added, within)
	}
}

func medianTime(times []time.Duration) time.Duration {
	times = slices.Sorted(slices.Values(times))
	return times[len(times)/2]
}

// TestRealTCPFillsAPathThatMoves: Cubic and BBR of this kernel, and the agents' own Hybla, over a loss-free path of 15 hops of
// 20 Mb/s. BBR follows each acknowledgement that a busy machine lets wait; DOWNLINK_PATH_S, for so many seconds on a quiet one,
// asks as much of it as of the others.
func TestRealTCPFillsAPathThatMoves(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	hosttest.NeedRoot(t)
	const exact, tries = 0.95, 3
	wanted, lasting := map[string]float64{"cubic": exact, "bbr": 0.85, "dl_hybla": exact}, 7*time.Second
	if seconds, err := strconv.Atoi(os.Getenv("DOWNLINK_PATH_S")); err == nil {
		wanted["bbr"], lasting = exact, time.Duration(seconds)*time.Second
	}
	for name, share := range wanted {
		t.Run(name, func(t *testing.T) {
			if strings.HasPrefix(name, "dl_") {
				loadForTest(t, name)
			}
			filled := 0.0
			for try := 0; filled < share && try < tries; try++ {
				filled = filledBy(t, name, lasting)
				t.Logf("%.1f %% of 20 Mb/s", 100*filled)
			}
			require.GreaterOrEqual(t, filled, share)
		})
	}
}

// loadForTest has one of the agents' own controls in the kernel's list until the test ends.
func loadForTest(t *testing.T, name string) {
	t.Helper()
	hosttest.HoldControls(t)
	loaded, err := controls.Load(name, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, loaded.Close()) })
}

// filledBy is which share of one of the moving paths a flow of a congestion control fills, by what the link lets out.
func filledBy(t *testing.T, name string, lasting time.Duration) float64 {
	const begins = 4 * time.Second
	path := movingPaths(begins+lasting+5*time.Second, 0.01)[0]
	lab, err := Up(Options{Name: testName("fill"), Profile: profileOf(t, []pathtest.Lasting{path}), Senders: 1})
	require.NoError(t, err)
	defer func() { require.NoError(t, lab.Close()) }()
	link, err := Find(lab.Name)
	require.NoError(t, err)
	require.NoError(t, GrantBuffers(link, 16<<20))
	chosen := make(chan error, 1)
	address := serveOnce(t, link.Hosts["sender-1"].Namespace, link.Hosts["sender-1"].DataHost, func(conn net.Conn) {
		_, err := socket.SetControl(conn.(*net.TCPConn), name)
		chosen <- err
		pour(conn)
	})
	conn := dialFrom(t, link.Hosts[Receiver].Namespace, address)
	require.NoError(t, <-chosen)
	go func() { _, _ = io.Copy(io.Discard, conn) }()
	time.Sleep(begins)
	delivered := func() uint64 { return lab.pump.Counts(emulate.Gateway, emulate.Receiver).DeliveredBytes }
	before, from := delivered(), time.Now()
	time.Sleep(lasting)
	share := float64(delivered()-before) * 8 / time.Since(from).Seconds() / 20e6
	require.NoError(t, conn.Close())
	return share
}

// pour fills a connection until it ends.
func pour(conn net.Conn) {
	for block := make([]byte, 128<<10); ; {
		if _, err := conn.Write(block); err != nil {
			return
		}
	}
}

func TestALinkThatThisMachineCannotCarryIsRefusedWithWhatItCan(t *testing.T) {
	way := emulate.Direction{Rate: emulate.Rate{ConstantBps: 1e11}, Queue: emulate.Queue{LimitBytes: 1e6}}
	profile := emulate.Profile{Name: "wide", Orbit: "LEO"}
	for range 15 {
		profile.Hops = append(profile.Hops, emulate.Hop{Down: way, Up: way})
	}
	_, err := Up(Options{Name: "wide", Profile: profile, Senders: 1})
	var tooMuch *pump.ErrTooMuch
	require.ErrorAs(t, err, &tooMuch)
	require.Equal(t, 15, tooMuch.Hops)
	require.Greater(t, tooMuch.MostBps, 20e6, "the paper's rate is no question")
	require.Less(t, tooMuch.MostBps, 1e11)
}
