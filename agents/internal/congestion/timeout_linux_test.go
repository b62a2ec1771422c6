package congestion

import (
	"slices"
	"testing"
	"time"

	"downlink/agents/internal/emulate"

	"github.com/stretchr/testify/require"
)

// leastTimeout is TCP_RTO_MIN of the kernel.
const leastTimeout = 200 * time.Millisecond

func TestATimeoutIsOnRecordWhenItHappens(t *testing.T) {
	p := newPath(t, linkBps, 100*time.Millisecond, deepQueue, func(profile *emulate.Profile) {
		profile.Down.Gap = &emulate.Gap{EveryS: 100, OffsetS: 1, LengthMs: 800, IsLossy: true}
	})
	acks := p.run(t, openProbe(t), "cubic", 3*time.Second)
	struck := slices.IndexFunc(acks, func(ack Ack) bool { return ack.CaState == caLoss })
	require.Positive(t, struck, "the silence of 0.8 s is longer than the timeout")
	silence := time.Duration(acks[struck].TimeNs - acks[struck-1].TimeNs)
	require.GreaterOrEqual(t, silence, leastTimeout, "the loss is not the doing of the last acknowledgement before it")
	require.EqualValues(t, SourceTimer, acks[struck].Source)
	require.Equal(t, int32(noRTT), acks[struck].AckRttUs)
	require.Less(t, acks[struck].SsthreshSegments, uint32(0x7fffffff))
}
