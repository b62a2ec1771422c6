package tcpinfo

import (
	"errors"
	"testing"
	"time"

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
		recorder.Add()
	}
	stats, err := recorder.Close()
	require.NoError(t, err)
	require.Equal(t, []int{2, 1}, sizes)
	require.Equal(t, []int{0, 1}, sequences)
	require.Equal(t, Stats{Samples: 3, Blocks: 2, FirstUs: 100, LastUs: 1_000_100, LongestGapUs: 999_800, AchievedRateHz: 2}, stats)
}

func TestARecorderPassesTheSinksErrorOn(t *testing.T) {
	full, calls := errors.New("full"), 0
	recorder := NewRecorder([]string{FieldElapsed}, 1, func(Block) error { calls++; return full })
	recorder.Add()
	recorder.Add()
	_, err := recorder.Close()
	require.ErrorIs(t, err, full)
	require.Equal(t, 1, calls, "after the first error nothing is given to it")
}

func TestARecorderGoesOnWhileTheDiskIsSlow(t *testing.T) {
	var sequences []int
	isReady := make(chan struct{})
	recorder := NewRecorder([]string{FieldElapsed}, 1, func(block Block) error {
		<-isReady
		sequences = append(sequences, block.Sequence)
		return nil
	})
	for i := range waitingBlocks {
		recorder.Row[0] = int64(i)
		recorder.Add()
	}
	close(isReady)
	stats, err := recorder.Close()
	require.NoError(t, err)
	require.Equal(t, waitingBlocks, stats.Blocks)
	require.Len(t, sequences, waitingBlocks)
	require.IsIncreasing(t, sequences)
}

func TestABlockThatIsUsedAgainHoldsNothingOfBefore(t *testing.T) {
	const rounds, samples = 200, 5
	written, want, got := make(chan struct{}, 2*rounds), []int64{}, []int64{}
	r := NewRecorder([]string{"elapsed_us"}, samples, func(block Block) error {
		got = append(got, block.Columns[0]...)
		written <- struct{}{}
		return nil
	})
	for round := range int64(rounds) {
		for i := range int64(samples) {
			r.Row[0] = round*samples + i
			want = append(want, r.Row[0])
			r.Add()
		}
		select {
		case <-written: // from here on the block is free for others
		case <-time.After(time.Minute):
			require.Fail(t, "a full block did not reach the sink")
		}
	}
	_, err := r.Close()
	require.NoError(t, err)
	require.Equal(t, want, got)
}
