package host

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/hosttest"
)

func TestFactsAreThoseOfTheRunningSystem(t *testing.T) {
	facts := Read()
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	require.NoError(t, err)
	require.Equal(t, strings.TrimSpace(string(release)), facts.Kernel)
	require.Positive(t, facts.CPUs)
	require.NotEmpty(t, facts.OS)
	require.NotEmpty(t, facts.Hostname)
}

func TestThePathIsTheInterfaceThatHasTheAddress(t *testing.T) {
	near, far := hosttest.NewNamespace(t), hosttest.NewNamespace(t)
	hosttest.Join(t, near, far, []string{"198.51.100.1/24"}, nil)
	near.Do(t, func() {
		path := ReadPath("198.51.100.1", "")
		require.Equal(t, "data", path.Interface)
		require.Equal(t, "noqueue", path.Qdisc)
		require.Contains(t, path.Offloads, "gso")
		require.Equal(t, path, ReadPath("203.0.113.1", "198.51.100.2"), "behind a NAT the route to the peer tells")
		require.Empty(t, ReadPath("203.0.113.1", "").Interface)
		require.True(t, HasAddress("198.51.100.1"))
		require.False(t, HasAddress("198.51.100.2"))
		address, err := AddressTowards("198.51.100.2:8000")
		require.NoError(t, err)
		require.Equal(t, "198.51.100.1", address)
	})
}

func TestFreeBytesOfAFolder(t *testing.T) {
	free, err := FreeBytes(t.TempDir())
	require.NoError(t, err)
	require.Positive(t, free)
	_, err = FreeBytes("/nonexistent")
	require.Error(t, err)
}
