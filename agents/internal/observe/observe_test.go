package observe_test

import (
	"bytes"
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
	require.NoError(t, store.Done())
	again, err := observe.Open(folder)
	require.NoError(t, err)
	require.Equal(t, some(observe.MostAtOnce + 1)[observe.MostAtOnce:], again.Next())
}

// TestWhatNobodyTakesIsBounded on the disk too, whose file is not written anew each time.
func TestWhatNobodyTakesIsBounded(t *testing.T) {
	folder := t.TempDir()
	store, err := observe.Open(folder)
	require.NoError(t, err)
	path := filepath.Join(folder, "waiting.jsonl")
	lines := func() int {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		return bytes.Count(content, []byte("\n"))
	}
	file := func() os.FileInfo {
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info
	}
	const more = observe.MostAtOnce / 2
	require.NoError(t, store.Add(some(observe.MostHeld)))
	require.Equal(t, observe.MostHeld, lines())
	sent, files := store.Next(), 1
	require.Len(t, sent, observe.MostAtOnce)
	before := file()
	for range 4 {
		require.NoError(t, store.Add(some(more)))
		require.LessOrEqual(t, lines(), observe.MostHeld)
		if after := file(); !os.SameFile(before, after) {
			before = after
			files++
		}
	}
	require.LessOrEqual(t, files, 3, "once for some values")
	require.Equal(t, observe.MostHeld+4*more, lines()+store.Dropped())
	left := lines()
	require.NoError(t, store.Done())
	require.Equal(t, left, lines(), "what was being sent has been dropped, and nothing else is")
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
