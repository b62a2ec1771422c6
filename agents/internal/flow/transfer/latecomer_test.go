package transfer

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestNobodyIsWaitedForBeyondTheHardEnd: a receiver that came later could get nothing.
func TestNobodyIsWaitedForBeyondTheHardEnd(t *testing.T) {
	const secret = "dlt_0123456789012345678901234567890123456789012"
	port, err := OpenPort(PortPlan{Address: "127.0.0.1:0", Tickets: map[int]string{1: secret, 2: secret}})
	require.NoError(t, err)
	defer func() { require.NoError(t, port.Close()) }()
	began := time.Now()
	plan := func(flow int) SendPlan {
		return SendPlan{
			Port: port, Flow: flow, Begin: began, Patience: time.Hour, Limits: Limits{Deadline: began.Add(20 * time.Millisecond)},
			AppBytes: new(atomic.Int64), Budget: NewBudget(0),
		}
	}
	for what, flow := range map[string]Carrier{
		"no receiver came":  NewSender(plan(1), Hooks{}),
		"no neighbour came": NewRelay(plan(2), ReceivePlan{}, Hooks{}),
	} {
		_, err := Carry(t.Context(), flow)
		require.ErrorIs(t, err, ErrNoConnection)
		require.ErrorContains(t, err, what+" with the ticket within 20ms")
	}
}
