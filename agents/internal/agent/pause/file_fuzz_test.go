package pause_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent/pause"
	"downlink/agents/internal/testing/fuzztest"
)

// FuzzRead looks for a pause file that makes the agent panic, or that says nothing and lets it work.
func FuzzRead(f *testing.F) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, each := range []pause.Pause{{Until: now.Add(time.Hour), Why: "maintenance", EndsRun: true}, {}} {
		content, err := json.Marshal(each)
		require.NoError(f, err)
		fuzztest.Add(f, content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		folder := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(folder, "pause.json"), content, 0o600))
		read := pause.Read(folder, now)
		if !json.Valid(content) {
			require.NotNil(t, read, "in doubt the host rests")
		}
		if read != nil {
			require.NotEmpty(t, read.Sentence())
		}
	})
}
