package observe_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/outside/observe"
	"downlink/agents/internal/testing/hosttest"
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

// TestWhatNobodyTakesIsBounded on the disk too, whose file is not rewritten each time.
func TestWhatNobodyTakesIsBounded(t *testing.T) {
	hosttest.Verify(t, hosttest.Faults, "writes a hundred thousand values")
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

// TestALongDamagedLineHidesNothingBehindIt: a power cut may leave kilobytes of zeros in a file.
func TestALongDamagedLineHidesNothingBehindIt(t *testing.T) {
	folder := t.TempDir()
	content := append(append(make([]byte, 1<<20), '\n'), lines(t, some(2))...)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "waiting.jsonl"), content, 0o600))
	store, err := observe.Open(folder)
	require.NoError(t, err)
	require.Equal(t, some(2), store.Next())
}

// TestWhatCannotBeSentIsNotKept: with it no call could be written, and all that waits would wait for ever.
func TestWhatCannotBeSentIsNotKept(t *testing.T) {
	store, err := observe.Open(t.TempDir())
	require.NoError(t, err)
	odd := some(3)
	odd[0].Value, odd[1].At = math.Inf(1), time.Date(12_000, 1, 1, 0, 0, 0, 0, time.UTC)
	require.NoError(t, store.Add(odd))
	require.Equal(t, odd[2:], store.Next())
	require.Equal(t, 2, store.Dropped())
}
