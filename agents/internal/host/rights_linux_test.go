package host

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"downlink/agents/internal/testing/hosttest"
)

func TestRightsThatWereTakenAwayAreNamed(t *testing.T) {
	hosttest.NeedRoot(t)
	lacking, err := LackingRights()
	require.NoError(t, err)
	require.Empty(t, lacking)
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var sets [2]unix.CapUserData
		require.NoError(t, unix.Capget(&header, &sets[0]))
		sets[0].Effective &^= 1 << unix.CAP_NET_ADMIN
		require.NoError(t, unix.Capset(&header, &sets[0]))
		lacking, err = LackingRights()
	}()
	<-done
	require.NoError(t, err)
	require.Equal(t, []string{"CAP_NET_ADMIN (network settings and routes)"}, lacking)
}

func TestAFolderThatIsNotThereCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, CanWrite(dir))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	require.ErrorIs(t, CanWrite(filepath.Join(dir, "away")), os.ErrNotExist)
}
