package trial_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent/volume"
	"downlink/agents/internal/server/protocol"
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
			b.receiveFlood(t, order)
			continue
		}
		_, ended := b.begin(t.Context(), order)
		require.NoError(t, <-ended)
		require.Equal(t, protocol.ReasonOverBudget, b.failure(t).Reason)
		require.Contains(t, b.failure(t).Detail, "2 flows of 501 bytes; this host's policy (monthly_bytes)")
		require.NotContains(t, b.kinds(), protocol.KindReady)
	}
}

// leave limits both ends of a run of two flows by what a budget of the server leaves.
func leave(bytes int64, of protocol.BudgetOf) (sent, received *protocol.Prepare) {
	sent, received = makeOrder(protocol.RoleSender), makeOrder(protocol.RoleReceiver)
	for _, order := range []*protocol.Prepare{sent, received} {
		order.Stop.Seconds, order.Budget = new(9.0), &protocol.Budget{Bytes: bytes, Of: of}
		addFlow(order)
	}
	return sent, received
}

func TestWhatTheServerLeavesStopsAllFlows(t *testing.T) {
	const left = 1 << 20
	for of, limit := range map[protocol.BudgetOf]string{
		protocol.BudgetOfCampaign: "the campaign has a limit (limits.bytes)", protocol.BudgetOfLink: "the link has an allowance per month",
		"newer": "the server has a budget",
	} {
		t.Run(string(of), func(t *testing.T) {
			sender, receiver := newRig(t), newRig(t)
			sent, received := leave(left, of)
			runBoth(t, sender, receiver, sent, received)
			moved := int64(0)
			for _, outcome := range sender.finished(t).Flows {
				require.Equal(t, protocol.EndedOverBudget, outcome.Ended)
				require.Contains(t, *outcome.Detail, limit+", and 1048576 bytes were left for this run")
				moved += outcome.AppBytes
			}
			require.LessOrEqual(t, moved, int64(left))
			require.Greater(t, moved, int64(left-2*(128<<10)), "what a flow was granted and did not write is given back")
			sender.requireRestored(t)
			receiver.requireRestored(t)
		})
	}
}

// Several senders know of their own flows alone; the receiver counts them all.
func TestAReceiverHoldsTheServersBudgetWhereItsSendersDoNot(t *testing.T) {
	const left = 1 << 20
	b, order := newRig(t), makeOrder(protocol.RoleReceiver)
	order.Stop.Seconds, order.Budget = new(9.0), &protocol.Budget{Bytes: left, Of: protocol.BudgetOfLink}
	addFlow(order)
	receiving, ended := b.begin(t.Context(), order)
	<-b.ready
	first, second := newFlood(t), newFlood(t)
	start := makeGo(first.address)
	start.Peers[2] = second.address
	receiving.Go(start)
	require.NoError(t, <-ended)
	moved := int64(0)
	for _, outcome := range b.finished(t).Flows {
		require.Equal(t, protocol.EndedOverBudget, outcome.Ended)
		moved += outcome.AppBytes
	}
	require.Greater(t, moved, int64(left))
	require.LessOrEqual(t, moved, int64(left+2*(128<<10)), "each flow reads at most one buffer more")
}

func TestTheLeastOfOwnerMonthAndServerCounts(t *testing.T) {
	for name, c := range map[string]struct {
		most, month, server int64
		refused             bool
		want                string
	}{
		"the owner's for one run": {1 << 20, 0, 2 << 20, true, "max_bytes"},
		"the owner's month":       {0, 1 << 20, 2 << 20, false, "monthly_bytes"},
		"the server's":            {3 << 20, 2 << 20, 1 << 20, false, "limits.bytes"},
		"the server's nothing":    {3 << 20, 2 << 20, 0, false, "limits.bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			sender, receiver := newRig(t), newRig(t)
			sent, received := leave(c.server, protocol.BudgetOfCampaign)
			received.Budget = nil
			sender.env.Config.Policy.MaxBytes = c.most
			if c.month > 0 {
				sender.allowMonth(t, 50e6, 50e6-c.month)
			}
			runBoth(t, sender, receiver, sent, received)
			if c.refused {
				require.Equal(t, protocol.ReasonPolicyRefused, sender.failure(t).Reason)
				require.Contains(t, sender.failure(t).Detail, c.want)
				return
			}
			for _, outcome := range sender.finished(t).Flows {
				require.Equal(t, protocol.EndedOverBudget, outcome.Ended)
				require.Contains(t, *outcome.Detail, c.want)
			}
		})
	}
}
