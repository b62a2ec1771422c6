package transfer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPatienceGrowsWithTheRoundTripTime(t *testing.T) {
	near, far := Limits{BaseRTT: time.Millisecond}, Limits{BaseRTT: 1200 * time.Millisecond}
	require.Greater(t, far.StallLimit(), near.StallLimit())
	require.GreaterOrEqual(t, far.DrainLimit(), 10*far.BaseRTT)
	require.GreaterOrEqual(t, far.DialLimit(), 4*far.BaseRTT)
}

func TestASlowPacedSocketHoldsLittleThatWasNotSent(t *testing.T) {
	for rate, want := range map[int64]int{1e6: 32 << 10, 10e6: 143_750, 144e6: 2_070_000, 1e9: 2 << 20} {
		require.Equal(t, want, UnsentBytes(&rate))
	}
	require.Equal(t, 2<<20, UnsentBytes(nil), "without a rate all of it may be needed")
}
