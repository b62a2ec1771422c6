package netlab

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/measure"
	"downlink/agents/internal/testing/hosttest"
)

// held says how many of this process's files ask for processors that are awake.
func held(t *testing.T) (n int) {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	for _, file := range files {
		if target, err := os.Readlink(filepath.Join("/proc/self/fd", file.Name())); err == nil && target == "/dev/cpu_dma_latency" {
			n++
		}
	}
	return n
}

func TestProcessorsStayAwakeWhilePacketsFlyAndNotLonger(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	hosttest.NeedRoot(t)
	profile, err := emulate.LoadProfile("terrestrial")
	require.NoError(t, err)
	lab, err := Up(Options{Name: testName("alert"), Profile: profile, Senders: 1})
	require.NoError(t, err)
	defer func() { require.NoError(t, lab.Close()) }()
	link, err := Find(lab.Name)
	require.NoError(t, err)
	for range 2 {
		_, err = measure.Probe(t.Context(), link.Hosts[Receiver], link.Hosts["sender-1"], 2, 10*time.Millisecond, time.Second)
		require.NoError(t, err)
		require.Equal(t, 1, held(t), "packets fly")
		require.Eventually(t, func() bool { return held(t) == 0 }, 20*time.Second, 50*time.Millisecond, "the link is quiet")
	}
}
