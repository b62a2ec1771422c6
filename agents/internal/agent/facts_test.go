package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/controls"
	"downlink/agents/internal/hosttest"
	"downlink/agents/internal/protocol"
)

func TestControlsHereAreTheKernelsAndTheAgentsOwn(t *testing.T) {
	hosttest.NeedRoot(t)
	names, unavailable, err := controlsHere()
	require.NoError(t, err)
	require.Empty(t, unavailable)
	require.Subset(t, names, append(controls.Names(), "cubic", "reno"))
	require.IsIncreasing(t, names, "sorted, each once")
}

func TestAReasonIsASentenceAndNotAVerifiersLog(t *testing.T) {
	require.Equal(t, "load dl_x: rejected", firstWords("load dl_x: rejected\n0: R1=ctx()"))
	require.Len(t, firstWords(strings.Repeat("a", 2000)), maxReasonBytes)
	require.Equal(t, strings.Repeat("a", 499), firstWords(strings.Repeat("a", 499)+"é"))
}

func TestAFillingDiskIsNewsWhenHalfOfWhatWasFreeIsGone(t *testing.T) {
	free := int64(150 << 20)
	keeper := factsKeeper{read: func() *protocol.Host { return &protocol.Host{SpoolFreeBytes: free} }}
	now := time.Now()
	look := func() *protocol.Host {
		now = now.Add(factsInterval)
		facts := keeper.news(now, protocol.StatusIdle)
		keeper.told(facts)
		return facts
	}
	require.NotNil(t, look())
	free -= 10 << 20
	require.Nil(t, look(), "a run's samples are no news")
	free /= 2
	require.NotNil(t, look())
	free = 0
	require.NotNil(t, look())
}
