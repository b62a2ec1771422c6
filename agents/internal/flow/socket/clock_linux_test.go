package socket

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestStampsFollowTheWallClock: readings that were held up do not count, and a clock that was set is followed.
func TestStampsFollowTheWallClock(t *testing.T) {
	var c wallClock
	c.base = time.Now()
	for _, step := range []struct{ past, further, want time.Duration }{
		{0, 30 * time.Microsecond, 30 * time.Microsecond}, // the first reading was held up
		{10 * time.Millisecond, 0, 0},
		{20 * time.Millisecond, 4 * time.Millisecond, 0}, // held up
		{1500 * time.Millisecond, 0, 0},
		{1600 * time.Millisecond, -time.Hour, -time.Hour}, // set forward: known at once
		{3000 * time.Millisecond, time.Hour, -time.Hour},  // set back: known after two windows
		{4100 * time.Millisecond, time.Hour, time.Hour},
	} {
		c.take(step.past, step.further)
		require.Equal(t, step.want, min(c.least, c.before), "%v", step)
	}
}
