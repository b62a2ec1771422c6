package settings_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/host/settings"
	"downlink/agents/internal/testing/hosttest"
)

func newKeeper(t *testing.T) *settings.Keeper {
	t.Helper()
	bootID, err := settings.BootID()
	require.NoError(t, err)
	namespace, err := settings.Namespace()
	require.NoError(t, err)
	dir := t.TempDir()
	return settings.NewKeeper(settings.LinuxHost{}, settings.Place{StateDir: dir, LockDir: filepath.Join(dir, "lock"), BootID: bootID,
		Namespace: namespace})
}

func TestSysctlsOfANamespaceAreChangedAndPutBack(t *testing.T) {
	ns := hosttest.NewNamespace(t)
	ns.Do(t, func() {
		k := newKeeper(t)
		before := k.Snapshot("")
		require.NoError(t, k.Apply("run", map[settings.Key]string{
			{Name: "net.ipv4.tcp_rmem"}:            "4096 131072 12345678",
			{Name: "net.ipv4.tcp_no_metrics_save"}: "1",
			{Name: "net.ipv4.tcp_ecn"}:             "0",
		}))
		require.Equal(t, "4096 131072 12345678", k.Snapshot("")["net.ipv4.tcp_rmem"])
		outcome, err := k.Restore()
		require.NoError(t, err)
		require.True(t, outcome.IsRestored)
		require.Equal(t, before, k.Snapshot(""))
	})
}

// The smallest step of the least used parameter: other programs of this kernel see it for a moment.
func TestAModuleParameterIsChangedAndPutBack(t *testing.T) {
	hosttest.NeedRoot(t)
	const path = "/sys/module/tcp_cubic/parameters/hystart_low_window"
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.WriteFile(path, before, 0) })
	k := newKeeper(t)
	require.NoError(t, k.Apply("run", map[settings.Key]string{{Name: "tcp_cubic.hystart_low_window"}: "17"}))
	during, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "17", strings.TrimSpace(string(during)))
	_, err = k.Restore()
	require.NoError(t, err)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
}

func TestASettingThatTheNamespaceLacksIsRefused(t *testing.T) {
	ns := hosttest.NewNamespace(t)
	ns.Do(t, func() {
		err := newKeeper(t).Apply("run", map[settings.Key]string{{Name: "net.core.default_qdisc"}: "pfifo_fast"})
		require.ErrorIs(t, err, settings.ErrRefused)
	})
}

func TestARouteGetsItsWindowAndLosesItAgain(t *testing.T) {
	for _, example := range []struct{ name, peer, near string }{
		{"IPv4", "198.51.100.2", "198.51.100.1/24"},
		{"IPv6", "2001:db8::2", "2001:db8::1/64"},
	} {
		t.Run(example.name, func(t *testing.T) {
			a, b := hosttest.NewNamespace(t), hosttest.NewNamespace(t)
			hosttest.Join(t, a, b, []string{example.near}, nil)
			a.Do(t, func() { requireRouteWindows(t, example.peer) })
		})
	}
}

func requireRouteWindows(t *testing.T, peer string) {
	t.Helper()
	awaitCarrier(t)
	before := routes(t)
	k := newKeeper(t)
	require.Equal(t, "0", k.Snapshot(peer)[settings.RouteInitCwnd])
	require.NoError(t, k.Apply("run", map[settings.Key]string{
		{Name: settings.RouteInitCwnd, Peer: peer}: "20",
		{Name: settings.RouteInitRwnd, Peer: peer}: "30",
	}))
	require.Contains(t, routes(t), "initcwnd 20 initrwnd 30")
	require.Equal(t, "20", k.Snapshot(peer)[settings.RouteInitCwnd])
	outcome, err := k.Restore()
	require.NoError(t, err)
	require.True(t, outcome.IsRestored)
	require.Equal(t, before, routes(t), "the host's own routes were never touched")
}

// awaitCarrier waits for the last of what the kernel does to the routes of a link that comes up.
func awaitCarrier(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for all := routes(t); strings.Contains(all, "linkdown") || !strings.Contains(all, "fe80::"); all = routes(t) {
		require.True(t, time.Now().Before(deadline), all)
		time.Sleep(time.Millisecond)
	}
}

func routes(t *testing.T) string {
	t.Helper()
	all := ""
	for _, family := range []string{"-4", "-6"} {
		out, err := exec.Command("ip", family, "route").Output()
		require.NoError(t, err)
		all += string(out)
	}
	return all
}
