package netlab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"downlink/agents/internal/emulate"
	"downlink/agents/internal/hosttest"
	"downlink/agents/internal/pathtrace"
	"downlink/agents/internal/pathtrace/pathtest"
)

const ms = time.Millisecond

// flown are the RTTs of paths of 15 hops that follow each other, 2 s each: without queues what probes must see.
var flown = []time.Duration{104 * ms, 134 * ms, 120 * ms}

// pathProfile is one of these paths, over other satellites each time, at 20 Mb/s without loss.
func pathProfile(t testing.TB, lasting time.Duration) emulate.Profile {
	var paths []pathtest.Lasting
	for i, rtt := range flown {
		path := pathtest.Chain(15, 3*ms, (rtt/2-2*3*ms)/13, 20e6, 0, 0, lasting)
		for j := 0; j < 14; j += 2 { // half of the satellites change each time
			path.Hops[j].To += pathtrace.Node(100 * i)
		}
		paths = append(paths, path)
	}
	return profileOf(t, paths)
}

func profileOf(t testing.TB, paths []pathtest.Lasting) emulate.Profile {
	file := filepath.Join(t.TempDir(), "east-west.dlpath")
	require.NoError(t, os.WriteFile(file, pathtest.Encode(pathtest.Header(), paths), 0o600))
	profile, err := emulate.LoadProfile(file)
	require.NoError(t, err)
	return profile
}

// TestAPacketLostBetweenHopsIsNotLate sends so few packets that nothing else wakes the pump when one of them is lost.
func TestAPacketLostBetweenHopsIsNotLate(t *testing.T) {
	at := upWithout(t, profileOf(t, []pathtest.Lasting{pathtest.Chain(15, 3*ms, 3*ms, 20e6, 0.2, 0, time.Minute)}))
	sent := 0
	found := record(t, at, 1, 2*time.Second, func() {
		if sent++; sent%25 == 0 {
			_, _ = unix.Write(at.gateway, packetTo(5001, 500))
		}
	})
	var lost uint64
	for _, each := range found.ended.Lost {
		lost += each.Packets
	}
	require.Greater(t, lost, uint64(20))
	require.Less(t, found.ended.LateRows, lost/4, "single packets can be late on a busy machine")
}

// TestTheIdleRttOfFifteenHopsIsThatOfTheTrace follows the trace through its changes. On a busy machine probes are late, and
// only the fastest says something. DOWNLINK_PATH_S, the seconds of each path on a quiet machine, asks for the median.
func TestTheIdleRttOfFifteenHopsIsThatOfTheTrace(t *testing.T) {
	hosttest.NeedRoot(t)
	seconds, least, most := 2, -20*time.Microsecond, 5*ms
	if text := os.Getenv("DOWNLINK_PATH_S"); text != "" {
		var err error
		seconds, err = strconv.Atoi(text)
		require.NoError(t, err)
		most = 300 * time.Microsecond
	}
	lasting := time.Duration(seconds) * time.Second
	profile := pathProfile(t, lasting)
	lab, err := Up(Options{Name: testName("path"), Profile: profile, Senders: 1})
	require.NoError(t, err)
	defer func() { require.NoError(t, lab.Close()) }()
	link, err := Find(lab.Name)
	require.NoError(t, err)
	sending := 15 * 2 * 84 * 8 * time.Second / 20e6 // a probe on each hop, there and back
	for round := range flown {
		middle := lab.pump.started.Add(time.Duration(round)*lasting + 300*ms)
		time.Sleep(time.Until(middle))
		idle, err := MeasureIdle(context.Background(), link, max(10, 10*(seconds-1)), 100*ms, time.Second)
		require.NoError(t, err)
		slices.Sort(idle.Rtts)
		require.Greater(t, len(idle.Rtts), 5)
		median := idle.Rtts[len(idle.Rtts)/2]
		want := flown[round] + sending
		fmt.Printf("path %d: RTT from %v, median %v, by the trace %v\n", round, idle.Rtts[0], median, want)
		found := idle.Rtts[0]
		if seconds > 2 {
			found = median
		}
		require.GreaterOrEqual(t, found-want, least)
		require.LessOrEqual(t, found-want, most)
	}
}

func TestALinkThatThisMachineCannotCarryIsRefusedWithWhatItCan(t *testing.T) {
	way := emulate.Direction{Rate: emulate.Rate{ConstantBps: 1e11}, Queue: emulate.Queue{LimitBytes: 1e6}}
	profile := emulate.Profile{Name: "wide", Orbit: "LEO"}
	for range 15 {
		profile.Hops = append(profile.Hops, emulate.Hop{Down: way, Up: way})
	}
	_, err := Up(Options{Name: "wide", Profile: profile, Senders: 1})
	var tooMuch *ErrTooMuch
	require.ErrorAs(t, err, &tooMuch)
	require.Equal(t, 15, tooMuch.Hops)
	require.Greater(t, tooMuch.MostBps, 20e6, "the paper's rate is no question")
	require.Less(t, tooMuch.MostBps, 1e11)
}
