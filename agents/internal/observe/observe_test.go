package observe_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/observe"
)

func some(count int) []observe.Observation {
	found := make([]observe.Observation, count)
	for i := range found {
		found[i] = observe.Observation{Quantity: "dish.snr", Unit: "dB", Source: "dish", At: time.Unix(int64(i), 0).UTC(), Value: float64(i)}
	}
	return found
}

func TestWhatWaitsSurvivesARestartAndGoesInPortions(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "observations")
	store, err := observe.Open(folder)
	require.NoError(t, err)
	require.NoError(t, store.Add(some(observe.MostAtOnce+1)))
	first := store.Next()
	require.Len(t, first, observe.MostAtOnce)
	require.NoError(t, store.Done(len(first)))
	again, err := observe.Open(folder)
	require.NoError(t, err)
	require.Equal(t, some(observe.MostAtOnce + 1)[observe.MostAtOnce:], again.Next())
}

func TestALineThatACrashCutOffCostsThatLineAlone(t *testing.T) {
	folder := t.TempDir()
	store, err := observe.Open(folder)
	require.NoError(t, err)
	require.NoError(t, store.Add(some(2)))
	path := filepath.Join(folder, "waiting.jsonl")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, content[:len(content)-5], 0o600))
	again, err := observe.Open(folder)
	require.NoError(t, err)
	require.Equal(t, some(1), again.Next())
}
