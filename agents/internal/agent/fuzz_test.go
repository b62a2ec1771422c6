package agent

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/testing/fuzztest"
)

// FuzzMark looks for a marker of a run that makes the agent panic, or that is taken for none.
func FuzzMark(f *testing.F) {
	fuzztest.Add(f, []byte(`{"run_id": "0b5f2a1c-7d4e-4f6a-9b8c-1d2e3f4a5b6c", "attempt": 1, "phase": "begun"}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		m := marker{filepath.Join(t.TempDir(), "run.json")}
		require.NoError(t, os.WriteFile(m.path, content, 0o600))
		left, err := m.read()
		require.Equal(t, err == nil, left != nil)
	})
}
