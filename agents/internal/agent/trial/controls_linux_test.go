package trial_test

import (
	"context"
	"net"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent/trial"
	"downlink/agents/internal/flow/controls"
	"downlink/agents/internal/flow/socket"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/testing/hosttest"
)

const ownControl = "dl_hybla"

func newOwnControlRig(t *testing.T) (*rig, *protocol.Prepare) {
	t.Helper()
	hosttest.NeedRoot(t)
	b, order := newRig(t), makeOrder(protocol.RoleSender)
	b.env.Controls = &controls.Library{}
	order.Flows[0].Transport.CC, order.Flows[0].Transport.Options = ownControl, map[string]any{"rtt0_ms": 50.0}
	return b, order
}

func isOffered(t *testing.T, name string) bool {
	t.Helper()
	names, err := socket.AvailableControls()
	require.NoError(t, err)
	return slices.Contains(names, name)
}

func TestAControlOfTheAgentsOwnIsLoadedForTheRunAlone(t *testing.T) {
	hosttest.HoldControls(t)
	sender, order := newOwnControlRig(t)
	receiver := newRig(t)
	sending, sent := sender.begin(t.Context(), order)
	receiving, received := receiver.begin(t.Context(), makeOrder(protocol.RoleReceiver))
	start := makeGo(*(<-sender.ready).DataAddress)
	require.True(t, isOffered(t, ownControl), "a ready sender has its control")
	sending.Go(start)
	receiving.Go(start)
	require.NoError(t, <-sent)
	require.NoError(t, <-received)
	require.Equal(t, ownControl, sender.outcome(t).ActualCC)
	require.False(t, isOffered(t, ownControl))
}

func TestNoControlStaysRegisteredAfterARunThatIsBrokenOff(t *testing.T) {
	hosttest.HoldControls(t)
	for _, cause := range []error{&trial.Aborted{Reason: "cancelled"}, trial.ErrStopping, trial.ErrLost} {
		b, order := newOwnControlRig(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		_, ended := b.begin(ctx, order)
		select {
		case <-b.ready:
		case err := <-ended:
			require.FailNow(t, "the run ended before it was ready", "%v, %+v", err, b.failure(t))
		}
		cancel(cause)
		require.NoError(t, <-ended)
		require.False(t, isOffered(t, ownControl), cause)
	}
}

func TestNoControlStaysRegisteredAfterAFailureBeforeTheStart(t *testing.T) {
	hosttest.HoldControls(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	b, order := newOwnControlRig(t)
	b.env.Config.DataPort = taken.Addr().(*net.TCPAddr).Port
	_, ended := b.begin(t.Context(), order)
	require.NoError(t, <-ended)
	require.Equal(t, protocol.ReasonPortFailed, b.failure(t).Reason)
	require.False(t, isOffered(t, ownControl))
}

func TestAControlThatCannotBeLoadedFailsTheRunBeforeDataMoves(t *testing.T) {
	hosttest.HoldControls(t)
	for options, says := range map[string]string{"rtt0_ms": "from 1 to 10000", "speed": "it has rtt0_ms"} {
		b, order := newOwnControlRig(t)
		order.Flows[0].Transport.Options = map[string]any{options: "fast"}
		_, ended := b.begin(t.Context(), order)
		require.NoError(t, <-ended)
		require.Equal(t, protocol.ReasonCCUnavailable, b.failure(t).Reason)
		require.Contains(t, b.failure(t).Detail, says)
	}
}
