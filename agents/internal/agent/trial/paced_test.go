package trial_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/server/protocol"
)

// At 1 Mb/s a socket that may hold 2 MiB would show one step, at its beginning.
func TestASlowPacedSendersBytesMoveInSmallSteps(t *testing.T) {
	t.Parallel()
	sender, receiver := newRig(t), newRig(t)
	orders := []*protocol.Prepare{makeOrder(protocol.RoleSender), makeOrder(protocol.RoleReceiver)}
	for _, order := range orders {
		order.Stop.Seconds, order.Flows[0].Transport.PacingRateBps = new(2.0), new(int64(1e6))
	}
	runBoth(t, sender, receiver, orders[0], orders[1])
	header, columns := sender.firstChunk(t)
	written := columns[slices.Index(header.Fields, "app_bytes")]
	steps := len(slices.Compact(slices.Clone(written)))
	require.Greater(t, steps, 5)
	require.Less(t, sender.outcome(t).AppBytes, int64(1<<20), "little more than the 250 kB that the rate carries")
}
