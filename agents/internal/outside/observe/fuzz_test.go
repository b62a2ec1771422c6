package observe_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/outside/observe"
	"downlink/agents/internal/testing/fuzztest"
)

func lines(t require.TestingT, found []observe.Observation) []byte {
	var content bytes.Buffer
	for _, one := range found {
		line, err := json.Marshal(one)
		require.NoError(t, err)
		content.Write(append(line, '\n'))
	}
	return content.Bytes()
}

// FuzzOpen looks for a file of observations that cannot be opened, loses what stands behind a bad line, or gives what cannot be
// sent.
func FuzzOpen(f *testing.F) {
	fuzztest.Add(f, lines(f, some(3)), nil)
	last := lines(f, some(1))
	f.Fuzz(func(t *testing.T, content []byte) {
		folder := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(folder, "waiting.jsonl"), append(append(content, '\n'), last...), 0o600))
		store, err := observe.Open(folder)
		require.NoError(t, err)
		found := store.Next()
		require.NotEmpty(t, found)
		require.Equal(t, some(1)[0], found[len(found)-1])
		_, err = json.Marshal(found)
		require.NoError(t, err)
	})
}
