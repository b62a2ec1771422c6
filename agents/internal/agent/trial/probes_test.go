package trial_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/flow/chunk"
	"downlink/agents/internal/flow/transfer"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/server/spool"
)

const probeEveryMs = 20

// addProbes adds a probe flow beside the order's first.
func addProbes(order *protocol.Prepare) {
	addFlow(order)
	added := &order.Flows[len(order.Flows)-1]
	added.Ticket = "dlt_1f2e3d4c5b_RtYuIoPAsDfGhJkLZxCvBnMqWeEdXsQa"
	added.Transport = protocol.Transport{Kind: protocol.TransportProbe, EveryMs: probeEveryMs}
}

// columns are those of a flow's first chunk, by name.
func (b *rig) columns(t *testing.T, flow int, role protocol.Role) map[string][]int64 {
	t.Helper()
	packed, err := b.env.Spool.Get(spool.Key{RunID: ref.RunID, Attempt: ref.Attempt, Flow: flow, Point: string(role)})
	require.NoError(t, err)
	header, columns, err := chunk.Decode(packed)
	require.NoError(t, err)
	named := map[string][]int64{}
	for i, name := range header.Fields {
		named[name] = columns[i]
	}
	return named
}

func TestAProbeFlowRunsBesideAFlowOverTCP(t *testing.T) {
	sender, receiver := newRig(t), newRig(t)
	sent, received := makeOrder(protocol.RoleSender), makeOrder(protocol.RoleReceiver)
	addProbes(sent)
	addProbes(received)
	runBoth(t, sender, receiver, sent, received)

	outcome, rows := sender.finished(t).Flows[1], sender.columns(t, 2, protocol.RoleSender)
	require.Equal(t, protocol.EndedStopRule, outcome.Ended)
	require.Equal(t, "probe", outcome.AskedCC)
	require.Nil(t, outcome.HystartExits)
	probes := len(rows["elapsed_us"])
	require.LessOrEqual(t, probes, 300/probeEveryMs+1)
	require.GreaterOrEqual(t, probes, 3, "a busy machine leaves some out")
	require.Equal(t, outcome.AppBytes, int64(probes*transfer.ProbeBytes))
	require.IsIncreasing(t, rows["elapsed_us"])
	for i, rtt := range rows["probe_rtt_us"] {
		require.Equal(t, int64(i+1), rows["probe_number"][i])
		require.GreaterOrEqual(t, rtt, int64(0), "no probe is lost on loopback")
		require.Less(t, rtt, int64(200_000))
	}
	require.Equal(t, rows["probe_number"], receiver.columns(t, 2, protocol.RoleReceiver)["probe_number"])
	require.Equal(t, protocol.EndedStopRule, receiver.finished(t).Flows[1].Ended)
}

func TestProbesThatAnOwnerDoesNotAllowAreRefused(t *testing.T) {
	for name, example := range map[string]struct {
		alter func(o *protocol.Prepare, p *config.Policy)
		want  string
	}{
		"too often":       {func(o *protocol.Prepare, _ *config.Policy) { o.Flows[1].Transport.EveryMs = 19 }, "every 19ms"},
		"too rarely":      {func(o *protocol.Prepare, _ *config.Policy) { o.Flows[1].Transport.EveryMs = 1001 }, "every 1.001s"},
		"without a pause": {func(o *protocol.Prepare, _ *config.Policy) { o.Flows[1].Transport.EveryMs = 0 }, "every 0s"},
		"until bytes": {func(o *protocol.Prepare, _ *config.Policy) {
			o.Stop = protocol.Stop{Bytes: new(int64(1000))}
		}, "stop rule in seconds"},
		"twice": {func(o *protocol.Prepare, _ *config.Policy) { addProbes(o) }, "second probe flow"},
		"faster than the owner's rate": {func(o *protocol.Prepare, p *config.Policy) {
			p.MaxRateBps = 36_000
			o.Flows = o.Flows[1:]
		}, "max_rate_bps"},
	} {
		t.Run(name, func(t *testing.T) {
			b, order := newRig(t), makeOrder(protocol.RoleSender)
			addProbes(order)
			example.alter(order, &b.env.Config.Policy)
			b.requireRefused(t, order, example.want)
		})
	}
}
