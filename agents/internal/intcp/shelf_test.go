package intcp

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNodesShareWhatIsAlikeAndKeepWhatIsNot(t *testing.T) {
	shelf := NewShelf()
	caches := []*cache{{limitBytes: 1 << 20, shelf: shelf}, {limitBytes: 1 << 20, shelf: shelf}}
	holdings := []*holding{}
	for _, c := range caches {
		holdings = append(holdings, newHolding(c, Content{Run: 1, Name: testName, UnitBytes: 1400}))
	}
	right, wrong := bytes.Repeat([]byte{1}, 1400), bytes.Repeat([]byte{2}, 1400)
	for _, h := range holdings {
		require.True(t, h.write(0, right))
		require.False(t, h.write(0, right), "it is there")
		require.False(t, h.has(1), "what another node has is not here")
	}
	require.Len(t, shelf.slots, 1)
	require.True(t, holdings[0].write(1, wrong))
	require.True(t, holdings[1].write(1, right))
	require.True(t, holdings[1].write(2, right))
	for i, want := range [][]byte{wrong, right} {
		got, isThere := holdings[i].read(1, 1400)
		require.True(t, isThere)
		require.Equal(t, want, got)
		got, isThere = holdings[i].read(0, 1400)
		require.True(t, isThere)
		require.Equal(t, right, got)
		require.Equal(t, blockUnits*1400, caches[i].usedBytes, "each cache counts what it holds")
	}
	require.False(t, holdings[0].has(2))
	some := shelf.slots[shelfKey{1, testName, 0, blockUnits * 1400}].bytes
	holdings[1].wipe()
	require.Len(t, shelf.slots, 1, "one still has it")
	holdings[0].wipe()
	require.Empty(t, shelf.slots)
	require.Equal(t, make([]byte, len(some)), some, "the last one wipes it")
}
