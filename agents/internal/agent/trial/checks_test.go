package trial

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/flow/tcpinfo"
	"downlink/agents/internal/flow/transfer"
	"downlink/agents/internal/server/protocol"
)

func TestAThinTraceIsToldFromAGoodOne(t *testing.T) {
	begin := time.Now()
	result := transfer.Result{FirstByte: begin, LastByte: begin.Add(10 * time.Second)}
	for _, example := range []struct {
		name  string
		stats tcpinfo.Stats
		want  protocol.Reason
	}{
		{"every sample", tcpinfo.Stats{Samples: 2000}, ""},
		{"a fifth", tcpinfo.Stats{Samples: 400}, ""},
		{"less than a fifth", tcpinfo.Stats{Samples: 399}, protocol.ReasonThinTrace},
		{"a pause of two seconds", tcpinfo.Stats{Samples: 1600, LongestGapUs: 2_000_000}, ""},
		{"a longer pause", tcpinfo.Stats{Samples: 1600, LongestGapUs: 2_000_001}, protocol.ReasonThinTrace},
		{"none", tcpinfo.Stats{}, protocol.ReasonNoSamples},
	} {
		t.Run(example.name, func(t *testing.T) {
			err := checkTrace(1, example.stats, 5*time.Millisecond, result)
			if example.want == "" {
				require.NoError(t, err)
				return
			}
			require.Equal(t, example.want, asFailure(err).Reason)
		})
	}
}

func TestTheDiskMustHoldTheWholeRun(t *testing.T) {
	order := &protocol.Prepare{Sampling: protocol.Sampling{SenderMs: 5, ReceiverMs: 10}, Flows: []protocol.Flow{
		{Role: protocol.RoleSender}, {Role: protocol.RoleReceiver},
	}}
	// 100 s at 200 Hz and at 100 Hz.
	needed := int64(30_000*sampleBytes + diskReserveBytes)
	require.NoError(t, checkDisk(order, 100*time.Second, needed))
	require.Error(t, checkDisk(order, 100*time.Second, needed-1))
}

func TestEveryErrorHasAReason(t *testing.T) {
	require.Equal(t, protocol.ReasonInternal, asFailure(errors.New("surprise")).Reason)
	require.Equal(t, protocol.ReasonAgentRestarted, asFailure(ErrStopping).Reason)
}
