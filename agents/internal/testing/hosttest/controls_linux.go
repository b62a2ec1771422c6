package hosttest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// HoldControls waits until no other test has the kernel's list of congestion controls for itself, and has it until the
// test ends. The list has no namespaces, and packages are tested at the same time: one would see what another registers.
func HoldControls(t testing.TB) {
	t.Helper()
	file, err := os.OpenFile(filepath.Join(os.TempDir(), "downlink-test-controls.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	for {
		if err = unix.Flock(int(file.Fd()), unix.LOCK_EX); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	require.NoError(t, err)
}
