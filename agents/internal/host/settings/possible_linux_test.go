package settings

import (
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/testing/hosttest"
)

// In a plain container /proc/sys is read-only for root as well: the reason states it, and names no right that root has already.
func TestAReadOnlyFileSystemIsNamedAsTheCause(t *testing.T) {
	hosttest.NeedRoot(t)
	save := Key{Name: "net.ipv4.tcp_no_metrics_save"}
	hosttest.WithReadOnlySysctls(t, func() {
		said := LinuxHost{}.WhyNot(save)
		require.Contains(t, said, "read-only")
		require.Contains(t, said, "container")
		require.NotContains(t, said, "CAP_NET_ADMIN")
	})
	require.Empty(t, LinuxHost{}.WhyNot(save), "no mount is left behind")
}
