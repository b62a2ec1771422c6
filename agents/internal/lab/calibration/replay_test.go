package calibration

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/lab/tcpmodel"
)

// clocked is a flow whose window of 20 segments of 1,000 bytes is always full: an acknowledgement each 40 ms, each of a
// segment that went 800 ms before.
func clocked(n int) (acks []tcpmodel.Ack) {
	for k := range int64(n) {
		acks = append(acks, tcpmodel.Ack{
			At: time.Duration(k) * 40 * time.Millisecond, Bytes: 1000 * (k + 1), SentBytes: 1000 * (k + 20), Rtt: 800 * time.Millisecond,
		})
	}
	return acks
}

func TestAHoleOfALogIsFilledByWhenTheFlowSent(t *testing.T) {
	whole := clocked(100)
	require.Equal(t, whole, FillHoles(slices.Delete(clocked(100), 50, 65), 1000))
	require.Equal(t, whole, FillHoles(whole, 1000), "there is none")

	silent := slices.Delete(clocked(100), 50, 65)
	for i := range silent {
		silent[i].SentBytes = 0
	}
	require.Equal(t, silent, FillHoles(silent, 1000), "a log that does not say what was sent")
}

// A flow over a profile, taken for a recorded one: over the same return channel its acknowledgements wait as they did, over
// others they do not.
func TestARecordedDemandWaitsAsItDidOverTheSameChannelAlone(t *testing.T) {
	profile := load(t, "geo-viasat")
	demand := DemandOf(Begin(profile, 30*mb))
	require.Less(t, waitError(demand.Waits(profile)), 3.0)
	for name, change := range map[string]func(*Candidate){
		"grants later":       func(c *Candidate) { c.GrantDelayFrames *= 2 },
		"requests over less": func(c *Candidate) { c.RequestFrames /= 3 },
		"a hold":             func(c *Candidate) { c.HoldS = 5 },
	} {
		other := candidateOf(profile)
		change(&other)
		require.Greater(t, waitError(demand.Waits(other.With(profile))), 20.0, name)
	}
}
