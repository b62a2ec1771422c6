package hosttest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// OnSmallDisk calls a function with a folder on a disk of so many bytes. The disk is mounted for the function's thread
// alone and vanishes with it, even when the test is killed.
func OnSmallDisk(t testing.TB, bytes int, call func(dir string)) {
	t.Helper()
	dir := t.TempDir()
	withOwnMounts(t, func() {
		require.NoError(t, unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", bytes)))
		call(dir)
	})
}

// withOwnMounts calls a function on a thread whose mounts are its own.
func withOwnMounts(t testing.TB, call func()) {
	t.Helper()
	NeedRoot(t)
	onThread(t, func() {
		require.NoError(t, unix.Unshare(unix.CLONE_FS|unix.CLONE_NEWNS))
		require.NoError(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
		call()
	})
}

// FIFREEZE and FITHAW of linux/fs.h.
const (
	freezeDisk = 0xc0045877
	thawDisk   = 0xc0045878
)

// OnStallingDisk calls a function with a folder on an ext4 disk in a file, and with a way to let the disk stand still: who
// writes waits meanwhile, as on a disk that has lost its connection. The folder is good for every thread of the process.
func OnStallingDisk(t testing.TB, call func(dir string, stall func(time.Duration))) {
	t.Helper()
	image, dir := filepath.Join(t.TempDir(), "image"), t.TempDir()
	withOwnMounts(t, func() {
		require.NoError(t, os.WriteFile(image, nil, 0o600))
		require.NoError(t, os.Truncate(image, 256<<20))
		for _, command := range []*exec.Cmd{exec.Command("mkfs.ext4", "-q", "-F", image), exec.Command("mount", "-o", "loop", image, dir)} {
			output, err := command.CombinedOutput()
			require.NoError(t, err, "%s", output)
		}
		disk, err := os.Open(dir)
		require.NoError(t, err)
		defer func() { _ = disk.Close() }()
		call(fmt.Sprintf("/proc/self/fd/%d", disk.Fd()), func(lasts time.Duration) {
			require.NoError(t, unix.IoctlSetInt(int(disk.Fd()), freezeDisk, 0))
			defer func() { require.NoError(t, unix.IoctlSetInt(int(disk.Fd()), thawDisk, 0)) }()
			time.Sleep(lasts)
		})
	})
}

// WithReadOnlySysctls runs a call where /proc/sys is read-only, as in a plain container. The mount is the calling thread's own.
func WithReadOnlySysctls(t testing.TB, call func()) {
	t.Helper()
	withOwnMounts(t, func() {
		require.NoError(t, unix.Mount("/proc/sys", "/proc/sys", "", unix.MS_BIND, ""))
		require.NoError(t, unix.Mount("", "/proc/sys", "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
		call()
	})
}
