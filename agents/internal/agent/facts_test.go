package agent

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/controls"
	"downlink/agents/internal/hosttest"
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
