package settings

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatCannotBeSetIsLeftAndTheRestIsPutBack(t *testing.T) {
	save, wmem := Key{Name: "net.ipv4.tcp_no_metrics_save"}, Key{Name: "net.ipv4.tcp_wmem"}
	host := &FakeHost{Values: map[Key]string{save: "0", wmem: "4096 16384 4194304"}, ReadOnly: map[Key]bool{save: true}}
	keeper := NewKeeper(host, Place{StateDir: t.TempDir(), LockDir: t.TempDir(), BootID: "boot", Namespace: "net"})
	wanted := map[Key]string{save: "1", wmem: "4096 16384 8388608"}
	require.ErrorContains(t, keeper.Apply("run", wanted), "it is read-only")
	require.NoError(t, keeper.ApplyPossible("run", wanted))
	require.Equal(t, map[Key]string{save: "0", wmem: "4096 16384 8388608"}, host.Values)
	outcome, err := keeper.Restore()
	require.NoError(t, err)
	require.True(t, outcome.IsRestored)
	require.Equal(t, "4096 16384 4194304", host.Values[wmem])
	require.Contains(t, keeper.Refused(), save.Name)
	require.NotContains(t, keeper.Refused(), wmem.Name)
}
