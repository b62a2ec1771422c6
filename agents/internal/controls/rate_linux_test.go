package controls

import (
	"path/filepath"
	"testing"
	"time"

	"downlink/agents/internal/acks"
	"downlink/agents/internal/chunk"
	"downlink/agents/internal/hosttest"
	"downlink/agents/internal/socket"
	"downlink/agents/internal/spool"
	"downlink/agents/internal/tcpinfo"

	"github.com/stretchr/testify/require"
)

// A path faster than the satellite links, with an acknowledgement for every second packet: records must keep up without a drop.
func TestNoRecordIsLostOnAFastPath(t *testing.T) {
	p := fastPath(t)
	loaded := load(t, "dl_cubic_nohs", nil)
	sender, receiver := p.connect(t, "dl_cubic_nohs")
	require.NoError(t, socket.LimitPacing(sender, 1_000_000_000))
	records, tally := record(t, loaded, sender, func() { sendFor(sender, receiver, time.Second) })
	require.Zero(t, tally.Dropped)
	require.EqualValues(t, tally.Acks, len(records))
	require.Greater(t, deliveredBps(records, 0.2, 1), 144e6)
	for i := 1; i < len(records); i++ {
		require.Equal(t, records[i-1].Acks+1, records[i].Acks, "numbers tell a gap")
	}
}

// A disk that stands still for two seconds holds up the spool, and neither the ring's reader nor the kernel.
func TestADiskThatStallsForTwoSecondsLosesNoRecord(t *testing.T) {
	p := fastPath(t)
	loaded := load(t, "dl_cubic_nohs", nil)
	hosttest.OnStallingDisk(t, func(dir string, stall func(time.Duration)) {
		chunks, err := spool.Open(filepath.Join(dir, "spool"), 0)
		require.NoError(t, err)
		stalled := make(chan struct{})
		time.AfterFunc(time.Second, func() { stall(2 * time.Second); close(stalled) })
		cost := recordAtFullSpeed(t, p, loaded, 4*time.Second, func(block tcpinfo.Block) error { return store(chunks, block) })
		<-stalled
		require.Zero(t, cost.dropped)
		stored := 0
		for _, key := range chunks.Keys("bench", 0) {
			packed, err := chunks.Get(key)
			require.NoError(t, err)
			header, _, err := chunk.Decode(packed)
			require.NoError(t, err)
			stored += header.Samples
		}
		require.Equal(t, cost.records, stored)
		if held := acks.RingBytes(1e9) / 168; stored < held {
			t.Skipf("this machine was too busy: %d records would have waited in the ring", stored)
		}
	})
}
