package pump

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/testing/hosttest"
)

func TestAThreadThatIsAlwaysBusyRestsForATenthOfTheTime(t *testing.T) {
	var b budget
	const window = 10 * time.Millisecond
	require.InDelta(t, window/9, b.pause(window, window), 10)
	require.InDelta(t, window+window/9, b.began, 10, "the pause is over when the next window begins")
	require.InDelta(t, window/9, b.pause(b.began+window, 2*window), 10, "only the new window counts")
}

func TestAThreadWithinItsShareNeverRests(t *testing.T) {
	var b budget
	require.Zero(t, b.pause(10*time.Millisecond, 9*time.Millisecond))
	require.Positive(t, b.pause(20*time.Millisecond, 18*time.Millisecond+10*time.Microsecond))
	require.Zero(t, b.pause(time.Hour, time.Minute), "idle time counts")
}

// The kernel stops a real-time thread that takes more than 95 % of a core, for 50 ms.
func TestABusyRealTimeThreadLeavesAShareOfItsCore(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	hosttest.NeedRoot(t)
	const lasting = 300 * time.Millisecond
	busy := make(chan time.Duration)
	go func() {
		runtime.LockOSThread() // never unlocked: its priority ends with the thread
		b, began, before := budget{isNeeded: PreferThread()}, time.Now(), threadBusy()
		for time.Since(began) < lasting {
			b.keep(time.Since(began))
		}
		busy <- threadBusy() - before
	}()
	require.Less(t, (<-busy).Seconds()/lasting.Seconds(), 0.93)
}
