package volume_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent/volume"
	"downlink/agents/internal/testing/fuzztest"
)

// FuzzLedger looks for a count of bytes that makes the agent panic, or allows more than the owner does.
func FuzzLedger(f *testing.F) {
	const most = 1000
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	fuzztest.Add(f, []byte(`{"from": "2026-03-01", "bytes": 400}`), []byte(`{"from": "2026-02-01", "bytes": 400}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		folder := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(folder, "volume.json"), content, 0o600))
		ledger := volume.Open(folder, most, 1)
		left, err := ledger.Left(now)
		require.True(t, left >= 0 && left <= most)
		require.Equal(t, err != nil || left == 0, ledger.UsedUp(now) != "")
	})
}
