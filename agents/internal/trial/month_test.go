package trial_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/protocol"
	"downlink/agents/internal/volume"
)

// allowMonth gives a rig so many bytes a month, of which some are used.
func (b *rig) allowMonth(t *testing.T, most, used int64) *volume.Ledger {
	t.Helper()
	ledger := volume.Open(t.TempDir(), most, 1)
	settle, err := ledger.Meter(time.Now(), func() int64 { return used })
	require.NoError(t, err)
	require.NoError(t, settle())
	b.env.Config.Policy.MonthlyBytes, b.env.Volume = most, ledger
	return ledger
}

func TestAReceiversMonthStopsTheTransferAndKeepsWhatWasMeasured(t *testing.T) {
	const left = 1 << 20
	b, order := newRig(t), makeOrder(protocol.RoleReceiver)
	ledger := b.allowMonth(t, 50e6, 50e6-left)
	order.Stop.Seconds = new(9.0)
	receiving, ended := b.begin(t.Context(), order)
	<-b.ready
	receiving.Go(makeGo(newFlood(t).address))
	require.NoError(t, <-ended)
	outcome := b.outcome(t)
	require.Equal(t, protocol.EndedOverBudget, outcome.Ended)
	require.Equal(t, int64(left+1), outcome.AppBytes)
	require.Contains(t, *outcome.Detail, "(monthly_bytes) allows 50000000 bytes per month, and 1048576 bytes were left")
	rest, err := ledger.Left(time.Now())
	require.NoError(t, err)
	require.Zero(t, rest)
	b.requireRestored(t)
}

func TestASendersMonthStopsAllItsFlows(t *testing.T) {
	const left = 1 << 20
	sender, receiver := newRig(t), newRig(t)
	ledger := sender.allowMonth(t, 50e6, 50e6-left)
	sent, received := makeOrder(protocol.RoleSender), makeOrder(protocol.RoleReceiver)
	for _, order := range []*protocol.Prepare{sent, received} {
		order.Stop.Seconds = new(9.0)
		addFlow(order)
	}
	runBoth(t, sender, receiver, sent, received)
	moved := int64(0)
	for _, outcome := range sender.finished(t).Flows {
		require.Equal(t, protocol.EndedOverBudget, outcome.Ended)
		moved += outcome.AppBytes
	}
	require.Equal(t, int64(left), moved)
	rest, err := ledger.Left(time.Now())
	require.NoError(t, err)
	require.Zero(t, rest)
}

func TestARunOfMoreBytesThanTheMonthHasLeftIsRefused(t *testing.T) {
	for _, c := range []struct {
		asked  int64
		refuse bool
	}{{501, true}, {500, false}} {
		b, order := newRig(t), makeOrder(protocol.RoleReceiver)
		b.allowMonth(t, 50e6, 50e6-1000)
		order.Stop = protocol.Stop{Bytes: new(c.asked)}
		addFlow(order)
		if !c.refuse {
			source := newFlood(t)
			receiving, ended := b.begin(t.Context(), order)
			<-b.ready
			start := makeGo(source.address)
			start.Peers[2] = source.address
			receiving.Go(start)
			require.NoError(t, <-ended)
			continue
		}
		_, ended := b.begin(t.Context(), order)
		require.NoError(t, <-ended)
		require.Equal(t, protocol.ReasonOverBudget, b.failure(t).Reason)
		require.Contains(t, b.failure(t).Detail, "2 flows of 501 bytes; this host's policy (monthly_bytes)")
		require.NotContains(t, b.kinds(), protocol.KindReady)
	}
}
