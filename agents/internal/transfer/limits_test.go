package transfer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPatienceGrowsWithTheRoundTripTime(t *testing.T) {
	near, far := Limits{BaseRTT: time.Millisecond}, Limits{BaseRTT: 1200 * time.Millisecond}
	require.Greater(t, far.stallLimit(), near.stallLimit())
	require.GreaterOrEqual(t, far.drainLimit(), 10*far.BaseRTT)
	require.GreaterOrEqual(t, far.DialLimit(), 4*far.BaseRTT)
}
