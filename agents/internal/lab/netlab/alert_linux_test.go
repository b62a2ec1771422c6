package netlab

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/testing/hosttest"
)

// held says how many of this process's files ask for processors that are awake.
func held(t *testing.T) (n int) {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	for _, file := range files {
		if target, err := os.Readlink(filepath.Join("/proc/self/fd", file.Name())); err == nil && target == latencyFile {
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
		_, err = MeasureIdle(context.Background(), link, 2, 10*time.Millisecond, time.Second)
		require.NoError(t, err)
		require.Equal(t, 1, held(t), "packets fly")
		require.Eventually(t, func() bool { return held(t) == 0 }, 10*quietAfter, 50*time.Millisecond, "the link is quiet")
	}
}

func TestAPumpThatStopsLetsProcessorsSleep(t *testing.T) {
	var alert alertness
	alert.carry(time.Second)
	_, isHeld := alert.rest(2 * time.Second)
	require.Equal(t, held(t) == 1, isHeld, "without root the file cannot be had")
	alert.close()
	require.Zero(t, held(t))
	_, isHeld = alert.rest(2 * time.Second)
	require.False(t, isHeld)
}

func TestALinkWithoutThePrivilegeAsksOnce(t *testing.T) {
	alert := alertness{fails: true}
	alert.carry(time.Second)
	_, isHeld := alert.rest(time.Second)
	require.False(t, isHeld)
	require.Zero(t, held(t))
}
