package pump

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/pathtrace/pathtest"
)

const ms = time.Millisecond

// along is a profile that flies a trace.
func along(t testing.TB, path pathtest.Lasting) emulate.Profile {
	file := filepath.Join(t.TempDir(), "east-west.dlpath")
	require.NoError(t, os.WriteFile(file, pathtest.Encode(pathtest.Header(), []pathtest.Lasting{path}), 0o600))
	profile, err := emulate.LoadProfile(file)
	require.NoError(t, err)
	return profile
}

// TestAPacketLostBetweenHopsIsNotLate sends so few packets that nothing else wakes the pump when one of them is lost.
func TestAPacketLostBetweenHopsIsNotLate(t *testing.T) {
	at := upWithout(t, along(t, pathtest.Chain(15, 3*ms, 3*ms, 20e6, 0.2, 0, time.Minute)))
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

func TestPacketsOfLinksUpToTwoHundredMegabitLeaveOneByOne(t *testing.T) {
	for bps, isSpaced := range map[float64]bool{200e6: true, 200e6 + 1: false} {
		way := emulate.Direction{Rate: emulate.Rate{ConstantBps: bps}}
		require.Equal(t, isSpaced, leavesOneByOne(emulate.Profile{Down: way, Up: way}), bps)
	}
}
