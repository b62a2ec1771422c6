package trial

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/flow/transfer"
	"downlink/agents/internal/server/protocol"
)

// hasty is a flow whose run is broken off while it hears of an end.
type hasty struct {
	transfer.Carrier
	hears    transfer.Ended
	breakOff func()
}

func (h *hasty) Open(context.Context) error      { return nil }
func (h *hasty) Sample(context.Context)          {}
func (h *hasty) Run(context.Context, func())     { h.breakOff() }
func (h *hasty) Close() (transfer.Result, error) { return transfer.Result{Ended: h.hears}, nil }

func TestAFlowOfARunThatWasBrokenOffIsAbortedWhicheverEndIsHeardFirst(t *testing.T) {
	const kind protocol.TransportKind = "hasty"
	defer delete(transports, kind)
	for hears, want := range map[transfer.Ended]protocol.Ended{
		transfer.EndedPeerClosed: protocol.EndedAborted,
		transfer.EndedAborted:    protocol.EndedAborted,
		transfer.EndedStopRule:   protocol.EndedStopRule,
		transfer.EndedLinkLost:   protocol.EndedLinkLost,
	} {
		cause := &Aborted{Reason: "cancelled"}
		ctx, cancel := context.WithCancelCause(t.Context())
		transports[kind] = func(*flowRun, *ports, string) transfer.Carrier {
			return &hasty{hears: hears, breakOff: func() { cancel(cause) }}
		}
		flow := protocol.Flow{Flow: 1, Role: protocol.RoleReceiver, Transport: protocol.Transport{Kind: kind}}
		tr := &Trial{order: &protocol.Prepare{Flows: []protocol.Flow{flow}}}
		run := &flowRun{trial: tr, flow: flow, appBytes: tr.counter(flow), breakOff: cancel}
		outcome, err := run.carryOut(ctx, nil, "")
		require.ErrorIs(t, err, cause)
		require.Equal(t, want, outcome.Ended, "it heard %s", hears)
	}
}
