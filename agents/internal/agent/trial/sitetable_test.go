package trial

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestAFlowWaitsForTheLastRowsOfItsSites, but hardly for a link that tells none.
func TestAFlowWaitsForTheLastRowsOfItsSites(t *testing.T) {
	const end = 2050 * time.Millisecond
	require.False(t, isTold(2_000_000, end, 0))
	require.False(t, isTold(2_000_000, end, lastRowsLimit))
	require.True(t, isTold(2_000_000, end, lastRowsLimit+1))
	require.True(t, isTold(2_100_000, end, 0))
	require.False(t, isTold(-1, end, firstRowsLimit))
	require.True(t, isTold(-1, end, firstRowsLimit+1))
}
