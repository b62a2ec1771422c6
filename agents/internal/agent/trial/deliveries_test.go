package trial_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/testing/hosttest"
)

// delays joins both halves of a run's delivery table by their blocks, on one host's clock.
func (w *way) delays(t *testing.T) (arrival, inOrder map[int64]int64) {
	t.Helper()
	sender, receiver := w.rigs[0], w.rigs[w.last()]
	apart := sender.outcome(t).Delivery.ZeroUs - receiver.outcome(t).Delivery.ZeroUs
	left, came := sender.columns(t, 1, protocol.Role(protocol.PointSent)), receiver.columns(t, 1, protocol.Role(protocol.PointDelivered))
	require.IsIncreasing(t, left["elapsed_us"])
	require.IsIncreasing(t, came["elapsed_us"])
	require.IsNonDecreasing(t, came["delivered_at_us"])
	sentAt := map[int64]int64{}
	for i, block := range left["block"] {
		sentAt[block] = left["sent_at_us"][i] + apart
	}
	arrival, inOrder = map[int64]int64{}, map[int64]int64{}
	for i, block := range came["block"] {
		if at, isThere := sentAt[block]; isThere { // clocks are read one after the other, so that the least delay may be a little below 0
			arrival[block], inOrder[block] = came["arrived_at_us"][i]-at, came["delivered_at_us"][i]-at
			require.GreaterOrEqual(t, arrival[block], int64(-20), "block %d arrived before it left", block)
			require.GreaterOrEqual(t, inOrder[block], arrival[block], "block %d was in order before it arrived", block)
		}
	}
	return arrival, inOrder
}

// TestEveryEngineKeepsADeliveryTableOfMessages: each message of an offer has a row at both ends.
func TestEveryEngineKeepsADeliveryTableOfMessages(t *testing.T) {
	hosttest.Measures(t, hosttest.Faults, "needs enough samples of a run of a second")
	forEachEngine(t, func(t *testing.T, e engine) {
		w := newWay(t, e)
		w.stop(protocol.Stop{Seconds: new(0.6)})
		for _, order := range w.orders {
			order.Flows[0].Offer = &protocol.Offer{MessageBytes: 16, EveryMs: 5}
		}
		w.start(t)
		w.await(t)
		sent, received := w.rigs[0].outcome(t), w.rigs[w.last()].outcome(t)
		require.Equal(t, 16, sent.Delivery.BlockBytes)
		require.Equal(t, 16, received.Delivery.BlockBytes)
		require.EqualValues(t, received.AppBytes/16, received.Delivery.Rows)
		arrival, _ := w.delays(t)
		require.GreaterOrEqual(t, len(arrival), 50)
		require.GreaterOrEqual(t, len(arrival), sent.Delivery.Rows*9/10)
		for i := range w.rigs[1:w.last()] {
			require.Nil(t, w.rigs[i+1].outcome(t).Delivery, "a relay keeps none")
		}
	})
}

// TestEveryEngineKeepsADeliveryTableWhereTheRunAsks: of a bulk flow, by blocks of 16 KiB.
func TestEveryEngineKeepsADeliveryTableWhereTheRunAsks(t *testing.T) {
	hosttest.Measures(t, hosttest.Faults, "needs enough samples of a run of a second")
	const size = 20_000_000
	forEachEngine(t, func(t *testing.T, e engine) {
		w := newWay(t, e)
		w.stop(protocol.Stop{Bytes: new(int64(size))})
		w.patient()
		for _, order := range w.orders {
			order.Sampling.Deliveries = true
		}
		w.start(t)
		w.await(t)
		sent, received := w.rigs[0].outcome(t), w.rigs[w.last()].outcome(t)
		require.Equal(t, protocol.EndedStopRule, sent.Ended, sent.Detail)
		require.EqualValues(t, size, received.AppBytes)
		require.Equal(t, 16384, received.Delivery.BlockBytes)
		require.Equal(t, size/16384, received.Delivery.Rows)
		arrival, _ := w.delays(t)
		require.GreaterOrEqual(t, len(arrival), size/16384/10)
		require.Equal(t, len(arrival), sent.Delivery.Rows)
		t.Logf("%s: %d rows, %d without a stamp", e.name, sent.Delivery.Rows, sent.Delivery.DroppedRows)
	})
}

func TestNoDeliveryTableUnlessItIsAskedFor(t *testing.T) {
	forEachEngine(t, func(t *testing.T, e engine) {
		w := newWay(t, e)
		w.stop(protocol.Stop{Bytes: new(int64(200_000))})
		w.start(t)
		w.await(t)
		for _, r := range w.rigs {
			require.Nil(t, r.outcome(t).Delivery)
		}
	})
}
