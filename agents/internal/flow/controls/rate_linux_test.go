package controls

import (
	"path/filepath"
	"testing"
	"time"

	"downlink/agents/internal/flow/acks"
	"downlink/agents/internal/flow/chunk"
	"downlink/agents/internal/flow/socket"
	"downlink/agents/internal/flow/tcpinfo"
	"downlink/agents/internal/server/spool"
	"downlink/agents/internal/testing/hosttest"

	"github.com/stretchr/testify/require"
)

// A path faster than the satellite links, with an acknowledgement for every second packet: records must keep up without a drop.
func TestNoRecordIsLostOnAFastPath(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	p := fastPath(t)
	loaded := load(t, "dl_cubic_nohs", nil)
	sender, receiver := p.connect(t, "dl_cubic_nohs")
	require.NoError(t, socket.LimitPacing(sender, 1_000_000_000))
	records, tally := record(t, loaded, sender, func() {
		sendFor(sender, receiver, time.Second)
		// A reset ends the flow at once: what the socket's buffer holds would be acknowledged while the records are counted.
		require.NoError(t, sender.SetLinger(0))
		require.NoError(t, sender.Close())
	})
	require.Zero(t, tally.Dropped)
	require.EqualValues(t, tally.Acks, len(records))
	require.Greater(t, deliveredBps(records, 0.2, 1), 144e6)
	for i := 1; i < len(records); i++ {
		require.Equal(t, records[i-1].Acks+1, records[i].Acks, "numbers tell a gap")
	}
}

// A disk that stands still for two seconds holds up the spool, and neither the ring's reader nor the kernel. On a busy machine
// it stands still for longer, until half of the records are more than the ring alone can hold.
func TestADiskThatStallsForTwoSecondsLosesNoRecord(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	p := fastPath(t)
	loaded := load(t, "dl_cubic_nohs", nil)
	held := acks.RingBytes(1e9) / 168
	hosttest.OnStallingDisk(t, func(dir string, stall func(time.Duration)) {
		for lasts := 4 * time.Second; ; lasts *= 2 {
			stored := recordOverStall(t, p, loaded, filepath.Join(dir, lasts.String()), lasts, stall)
			if stored >= 2*held {
				return
			}
			require.Less(t, lasts, 16*time.Second, "this machine is too busy: %d records would have waited in the ring", stored)
		}
	})
}

// recordOverStall records into a spool whose disk stands still for half of the time, and counts what it has in the end.
func recordOverStall(t *testing.T, p *path, loaded *Loaded, dir string, lasts time.Duration, stall func(time.Duration)) (stored int) {
	t.Helper()
	chunks, err := spool.Open(dir, 0)
	require.NoError(t, err)
	stalled := make(chan struct{})
	time.AfterFunc(lasts/4, func() { stall(lasts / 2); close(stalled) })
	cost := recordAtFullSpeed(t, p, loaded, lasts, func(block tcpinfo.Block) error { return store(chunks, block) })
	<-stalled
	require.Zero(t, cost.dropped)
	for _, key := range chunks.Keys("bench", 0) {
		packed, err := chunks.Get(key)
		require.NoError(t, err)
		header, _, err := chunk.Decode(packed)
		require.NoError(t, err)
		stored += header.Samples
	}
	require.Equal(t, cost.records, stored)
	return stored
}
