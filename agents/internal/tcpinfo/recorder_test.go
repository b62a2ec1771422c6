package tcpinfo

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARecorderMakesBlocksOfRowsAndKeepsTheRest(t *testing.T) {
	var sizes, sequences []int
	recorder := NewRecorder([]string{FieldElapsed, "rtt_us"}, 2, func(block Block) error {
		sizes, sequences = append(sizes, len(block.Columns[1])), append(sequences, block.Sequence)
		return nil
	})
	for _, elapsedUs := range []int64{100, 300, 1_000_100} {
		recorder.Row[0], recorder.Row[1] = elapsedUs, 7
		require.NoError(t, recorder.Add())
	}
	stats, err := recorder.Close()
	require.NoError(t, err)
	require.Equal(t, []int{2, 1}, sizes)
	require.Equal(t, []int{0, 1}, sequences)
	require.Equal(t, Stats{Samples: 3, Blocks: 2, FirstUs: 100, LastUs: 1_000_100, LongestGapUs: 999_800, AchievedRateHz: 2}, stats)
}

func TestARecorderPassesTheSinksErrorOn(t *testing.T) {
	full := errors.New("full")
	recorder := NewRecorder([]string{FieldElapsed}, 1, func(Block) error { return full })
	require.ErrorIs(t, recorder.Add(), full)
}
