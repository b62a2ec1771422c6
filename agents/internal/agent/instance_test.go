package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent"
	"downlink/agents/internal/agent/config"
)

// A restart is another start in the same place; a copied state folder, and another boot, are other places.
func TestStartsHaveNumbersAndCopiesHaveOtherPlaces(t *testing.T) {
	first, second := config.Config{StateDir: t.TempDir()}, config.Config{StateDir: t.TempDir()}
	require.NoError(t, config.SaveIdentity(first.StateDir, config.Identity{AgentID: "a", Secret: "s"}))
	content, err := os.ReadFile(filepath.Join(first.StateDir, "identity.json"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(second.StateDir, "identity.json"), content, 0o600))
	start := func(c config.Config, boot string) (id, seat string) {
		said, err := agent.InstanceOf(c, boot)
		require.NoError(t, err)
		id, seat, found := strings.Cut(said, " ")
		require.True(t, found)
		return id, seat
	}
	id, seat := start(first, "boot")
	again, same := start(first, "boot")
	_, copied := start(second, "boot")
	_, rebooted := start(first, "another boot")
	require.NotEqual(t, id, again)
	require.Equal(t, seat, same)
	require.NotEqual(t, seat, copied)
	require.NotEqual(t, seat, rebooted)
	_, err = agent.InstanceOf(config.Config{StateDir: t.TempDir()}, "boot")
	require.Error(t, err)
}
