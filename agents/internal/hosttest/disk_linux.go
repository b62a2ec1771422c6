package hosttest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// OnSmallDisk calls a function with a folder on a disk of so many bytes. The disk is mounted for the function's thread
// alone and vanishes with it, even when the test is killed.
func OnSmallDisk(t testing.TB, bytes int, call func(dir string)) {
	t.Helper()
	NeedRoot(t)
	dir := t.TempDir()
	onThread(t, func() {
		require.NoError(t, unix.Unshare(unix.CLONE_FS|unix.CLONE_NEWNS))
		require.NoError(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
		require.NoError(t, unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", bytes)))
		call(dir)
	})
}
