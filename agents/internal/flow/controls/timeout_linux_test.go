package controls

import (
	"slices"
	"testing"
	"time"

	"downlink/agents/internal/flow/acks"
	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/testing/hosttest"

	"github.com/stretchr/testify/require"
)

const (
	leastTimeout = 200 * time.Millisecond // TCP_RTO_MIN of the kernel
	caLoss       = 4                      // TCP_CA_Loss
	noSample     = -1
)

func TestATimeoutIsOnRecordWhenItHappens(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	p := newPath(t, linkBps, 100*time.Millisecond, deepQueue, func(profile *emulate.Profile) {
		profile.Down.Gap = &emulate.Gap{EveryS: 100, OffsetS: 1, LengthMs: 800, IsLossy: true}
	})
	records := p.run(t, openProbe(t), "cubic", 3*time.Second)
	struck := slices.IndexFunc(records, func(ack acks.Ack) bool { return ack.CaState == caLoss })
	require.Positive(t, struck, "the silence of 0.8 s is longer than the timeout")
	silence := time.Duration(records[struck].TimeNs - records[struck-1].TimeNs)
	require.GreaterOrEqual(t, silence, leastTimeout, "the loss is not the doing of the last acknowledgement before it")
	require.EqualValues(t, acks.FromTimer, records[struck].Source)
	require.Equal(t, int32(noSample), records[struck].AckRttUs)
	require.Less(t, records[struck].SsthreshSegments, uint32(0x7fffffff))
}
