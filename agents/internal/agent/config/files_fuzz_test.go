package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/testing/fuzztest"
)

// FuzzHeed looks for an owner's policy that makes the agent panic, or that is taken and cannot be carried out.
func FuzzHeed(f *testing.F) {
	fuzztest.Add(f, []byte("max_seconds: 60\nmax_bytes: 1000\nreset_day: 3\nhold_days: 2.5\nsettings: [tcp_rmem]\nquiet_hours: "+
		"[weekdays 18:00-23:00]\n"), nil)
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "policy.yaml")
		require.NoError(t, os.WriteFile(path, content, 0o600))
		own := config.Default()
		own.Server, own.Name, own.DataHost = "https://downlink.example", "dish", "192.0.2.1"
		if err := own.Heed(path); err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		require.True(t, own.Policy.MaxSeconds >= 0 && own.Policy.HoldDays >= 0, "a number that is none passes every comparison")
	})
}

// FuzzLoadIdentity looks for an identity that makes the agent panic.
func FuzzLoadIdentity(f *testing.F) {
	fuzztest.Add(f, []byte(`{"agent_id": "0b5f2a1c-7d4e-4f6a-9b8c-1d2e3f4a5b6c", "secret": "dla_x"}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		folder := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(folder, "identity.json"), content, 0o600))
		_, _ = config.LoadIdentity(folder)
	})
}
