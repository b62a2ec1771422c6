package controls

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"downlink/agents/internal/bpf"
	"downlink/agents/internal/flow/acks"
	"downlink/agents/internal/flow/socket"
	"downlink/agents/internal/testing/hosttest"

	"github.com/stretchr/testify/require"
)

func TestALibraryLoadsWhatARunAsksForAndReleasesIt(t *testing.T) {
	hosttest.NeedRoot(t)
	var library Library
	t.Cleanup(func() { _ = library.Release() })
	require.NoError(t, library.Check("cubic", nil))
	require.NoError(t, library.Check("dl_cubic_search", map[string]any{"version": 4}))
	requireOffered(t, "dl_cubic_search", true)
	sender, receiver := hosttest.Connect(t)
	actual, err := library.Set(sender, "dl_cubic_search", map[string]any{"version": "4.0"})
	require.NoError(t, err)
	require.Equal(t, "dl_cubic_search", actual)
	source, err := library.Acks("dl_cubic_search")
	require.NoError(t, err)
	records, _ := record(t, source, sender, func() { hosttest.Send(t, sender, receiver, 1_000_000) })
	require.EqualValues(t, acks.FromControl, records[0].Source)
	require.NoError(t, library.Release())
	requireOffered(t, "dl_cubic_search", false)
}

func TestALibraryRefusesTwoSetsOfOptions(t *testing.T) {
	hosttest.NeedRoot(t)
	var library Library
	t.Cleanup(func() { _ = library.Release() })
	require.NoError(t, library.Check("dl_hybla", nil))
	require.NoError(t, library.Check("dl_hybla", map[string]any{"rtt0_ms": 25}), "the default, spelt out")
	require.ErrorIs(t, library.Check("dl_hybla", map[string]any{"rtt0_ms": 50}), socket.ErrUnavailable)
	require.ErrorIs(t, library.Check("cubic", map[string]any{"beta": 1}), socket.ErrUnavailable)
}

func TestControlsOfTheKernelAreRecordedByTheProbe(t *testing.T) {
	hosttest.NeedRoot(t)
	var library Library
	t.Cleanup(func() { _ = library.Release() })
	source, err := library.Acks("cubic")
	require.NoError(t, err)
	sender, receiver := hosttest.Connect(t)
	records, _ := record(t, source, sender, func() { hosttest.Send(t, sender, receiver, 1_000_000) })
	require.EqualValues(t, acks.FromProbe, records[0].Source)
	require.NoError(t, library.Release())
}

func TestThisHostHasEveryCapability(t *testing.T) {
	hosttest.NeedRoot(t)
	for _, capability := range Capabilities() {
		require.True(t, capability.Able, capability.Reason)
	}
	require.NoError(t, CanRecordAcks())
}

const nobody = 65534

// The test binary again, as a user without privilege.
func unprivileged(t *testing.T, mode, name string) string {
	t.Helper()
	hosttest.NeedRoot(t)
	// Its folder may be closed to others: an open file is run instead of a path.
	file, err := os.Open(os.Args[0])
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	command := exec.Command("/proc/self/fd/3")
	command.ExtraFiles = []*os.File{file}
	command.Dir = "/"
	command.Env = []string{mode + "=" + name}
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	output, _ := command.CombinedOutput()
	return string(output)
}

func TestAnAgentWithoutPrivilegeUsesAControlThatAnotherProgramHolds(t *testing.T) {
	load(t, "dl_cubic_nohs", nil)
	require.Equal(t, "selected\n", unprivileged(t, selectControlEnv, "dl_cubic_nohs"))
}

func TestLoadingWithoutPrivilegeSaysSo(t *testing.T) {
	output := unprivileged(t, holdControlEnv, "dl_cubic_nohs")
	require.Contains(t, output, bpf.ErrNoPrivilege.Error())
	require.Contains(t, output, "CAP_BPF")
	requireOffered(t, "dl_cubic_nohs", false)
}

func selectControl(name string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	library := &Library{}
	if actual, err := library.Set(conn.(*net.TCPConn), name, nil); err != nil || actual != name {
		return fmt.Errorf("uses %q: %w", actual, err)
	}
	for _, capability := range Capabilities() {
		if capability.Name == name && !capability.Able {
			return errors.New(capability.Reason)
		}
	}
	return library.Release()
}
