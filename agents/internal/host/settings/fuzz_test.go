package settings

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/testing/fuzztest"
)

// FuzzReadJournal looks for a journal that makes the agent panic, or that is taken for none.
func FuzzReadJournal(f *testing.F) {
	content, err := json.Marshal(journal{BootID: "b", Namespace: "n", RunID: "r",
		Entries: []entry{{Key: Key{Name: "net.ipv4.tcp_rmem"}, Old: "1", New: "2"}}})
	require.NoError(f, err)
	fuzztest.Add(f, content)
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "journal.json")
		require.NoError(t, os.WriteFile(path, content, 0o600))
		read, err := readJournal(path)
		require.Equal(t, err == nil, read != nil)
		if err == nil {
			_ = read.touchesHost()
		}
	})
}
