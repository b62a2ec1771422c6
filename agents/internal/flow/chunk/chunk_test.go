package chunk_test

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"downlink/agents/internal/flow/chunk"
	"downlink/agents/internal/testing/fuzztest"
)

func header(samples int, fields ...string) chunk.Header {
	return chunk.Header{Format: chunk.Format, RunID: "r", Attempt: 1, Flow: 1, Point: "sender", Samples: samples, Fields: fields}
}

func TestDecodeReturnsWhatEncodeGot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples := rapid.IntRange(1, 50).Draw(t, "samples")
		column := rapid.SliceOfN(rapid.Int64(), samples, samples)
		columns := [][]int64{column.Draw(t, "a"), column.Draw(t, "b")}
		packed, err := chunk.Encode(header(samples, "a", "b"), columns)
		require.NoError(t, err)
		got, back, err := chunk.Decode(packed)
		require.NoError(t, err)
		require.Equal(t, header(samples, "a", "b"), got)
		require.Equal(t, columns, back)
	})
}

func TestColumnsAreDeltasInLittleEndian(t *testing.T) {
	packed, err := chunk.Encode(header(3, "elapsed_us"), [][]int64{{10, 15, 12}})
	require.NoError(t, err)
	decoder, err := zstd.NewReader(nil)
	require.NoError(t, err)
	defer decoder.Close()
	plain, err := decoder.DecodeAll(packed, nil)
	require.NoError(t, err)
	tail := plain[len(plain)-24:]
	require.Equal(t, uint64(10), binary.LittleEndian.Uint64(tail))
	require.Equal(t, uint64(5), binary.LittleEndian.Uint64(tail[8:]))
	require.Equal(t, ^uint64(2), binary.LittleEndian.Uint64(tail[16:]), "minus three in two's complement")
}

func TestEncodeRefusesWhatTheFormatDoesNotAllow(t *testing.T) {
	_, err := chunk.Encode(header(0, "a"), [][]int64{{}})
	require.Error(t, err)
	_, err = chunk.Encode(header(2, "a"), [][]int64{{1}})
	require.Error(t, err)
	_, err = chunk.Encode(header(chunk.MaxSamples+1, "a"), [][]int64{make([]int64, chunk.MaxSamples+1)})
	require.Error(t, err)
}

func FuzzDecodeNeverPanics(f *testing.F) {
	packed, err := chunk.Encode(header(2, "a"), [][]int64{{1, 2}})
	if err != nil {
		f.Fatal(err)
	}
	fuzztest.Add(f, packed)
	f.Fuzz(func(_ *testing.T, data []byte) { _, _, _ = chunk.Decode(data) })
}

// fullChunk is as large as one of a flow with 30 fields.
func fullChunk() (chunk.Header, [][]int64) {
	const fields = 30
	names, columns := make([]string, fields), make([][]int64, fields)
	for i := range columns {
		names[i], columns[i] = string(rune('a'+i)), make([]int64, chunk.MaxSamples)
		for j := range columns[i] {
			columns[i][j] = int64(j*i + j%7)
		}
	}
	return header(chunk.MaxSamples, names...), columns
}

func TestPackingAllocatesLittleMoreThanTheChunk(t *testing.T) {
	const rounds, mostBytes = 10, 4 << 20
	head, columns := fullChunk()
	_, err := chunk.Encode(head, columns)
	require.NoError(t, err)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range rounds {
		_, err := chunk.Encode(head, columns)
		require.NoError(t, err)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)/rounds, uint64(mostBytes), "the columns alone are 1.2 MB")
}

func TestFlowsPackAtTheSameTimeAndGetTheSameBytes(t *testing.T) {
	head, columns := fullChunk()
	want, err := chunk.Encode(head, columns)
	require.NoError(t, err)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			got, err := chunk.Encode(head, columns)
			if err != nil || !bytes.Equal(want, got) {
				t.Error("a chunk was packed differently", err)
			}
		})
	}
	group.Wait()
}
