package pump

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
