package controls

import (
	"testing"
	"time"

	"downlink/agents/internal/flow/acks"

	"github.com/stretchr/testify/require"
)

// What dl_cubic_best decides over a path in virtual time. That the kernel decides as the replay is shown over real paths, by
// TestBestSetsTheThresholdOfItsReplay: there a busy machine holds packets up, and spacing is not the link's.

const (
	mssBytes    = 1448
	packetBytes = 1500
)

// BEST reads the link's rate from the gaps between acknowledgements, where packets leave the link one by one.
func TestBestReadsTheLinksRateFromTrueSpacing(t *testing.T) {
	for _, mbps := range []float64{5, 20, 144, 500} {
		records := slowStart(mbps*1e6, nil)
		truth := mbps * mssBytes / packetBytes
		// BEST counts in whole Mb/s and reads whole microseconds.
		require.InDelta(t, truth, bestMbps(t, records, bestOptions{0, 4, 7}), max(1, 0.03*truth), "a link of %v Mb/s", mbps)
	}
}

// A return channel with frames of 40 ms lets acknowledgements go in bunches: each alone shows the bunch's line rate,
// merged ones the link's.
func TestMergedAcknowledgementsShowTheLinksRateThroughAFramedReturnChannel(t *testing.T) {
	const mbps = 20
	records := slowStart(mbps*1e6, func(at time.Duration) time.Duration { return at.Truncate(40*time.Millisecond) + 40*time.Millisecond })
	truth := mbps * float64(mssBytes) / packetBytes
	require.InEpsilon(t, truth, bestMbps(t, records, bestOptions{20_000, 7, 20}), 0.1)
	require.Greater(t, bestMbps(t, records, bestOptions{0, 7, 20}), 10*truth)
}

// bestMbps is the rate that BEST's threshold stands for.
func bestMbps(t *testing.T, records []acks.Ack, options bestOptions) float64 {
	t.Helper()
	decided, segments := replayBest(records, options)
	require.NotEqual(t, noExit, decided, "no decision")
	return float64(segments) * mssBytes * 8 / float64(records[decided].AckRttUs)
}

// slowStart is what a sender in slow start records behind a constant link with 100 ms of idle RTT and an endless queue. The
// receiver acknowledges every second packet; held says when its acknowledgement comes. Those of one moment follow each other
// by 2 us, a line rate of 12 Gb/s.
func slowStart(bps float64, held func(time.Duration) time.Duration) (records []acks.Ack) {
	const idleRTT, pairGap = 100 * time.Millisecond, 2 * time.Microsecond
	type pair struct{ sent, acked time.Duration }
	var flying []pair
	var isFree, latest time.Duration // the link from then on; the latest acknowledgement
	send := func(now time.Duration, pairs int) {
		for range pairs {
			isFree = max(isFree, now) + time.Duration(2*packetBytes*8e9/bps)
			acked := isFree + idleRTT
			if held != nil {
				acked = held(acked)
			}
			latest = max(latest+pairGap, acked)
			flying = append(flying, pair{now, latest})
		}
	}
	send(0, 5)
	for len(records) < 20_000 {
		first, count := flying[0], uint32(len(records)+1)
		flying = flying[1:]
		send(first.acked, 2)
		records = append(records, acks.Ack{
			TimeNs: uint64(first.acked), AckRttUs: int32((first.acked - first.sent).Microseconds()), SndMssBytes: mssBytes,
			SndUna: count * 2 * mssBytes, SndNxt: (count + uint32(len(flying))) * 2 * mssBytes,
			AckedBytes: uint64(count) * 2 * mssBytes, CwndSegments: 2 * uint32(len(flying)),
		})
	}
	return records
}
