package trial

import (
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/server/protocol"
)

func pacedFlow(role protocol.Role, bps int64) protocol.Flow {
	return protocol.Flow{Role: role, Transport: protocol.Transport{Kind: protocol.TransportTCP, PacingRateBps: &bps}}
}

func intcpFlow(role protocol.Role, askers int) protocol.Flow {
	return protocol.Flow{Role: role, Transport: protocol.Transport{Kind: protocol.TransportINTCP},
		Downstream: make([]protocol.Neighbour, askers)}
}

// TestAllThatAHostSendsIsWithinItsOwnersRate whatever carries it: what INTCP may send beside paced flows is what they leave.
func TestAllThatAHostSendsIsWithinItsOwnersRate(t *testing.T) {
	const most = 10_000_000
	for name, example := range map[string]struct {
		flows []protocol.Flow
		each  float64 // of INTCP's
		why   string
	}{
		"INTCP alone":         {[]protocol.Flow{intcpFlow(protocol.RoleSender, 1), intcpFlow(protocol.RoleSender, 1)}, 5e6, ""},
		"beside a paced flow": {[]protocol.Flow{pacedFlow(protocol.RoleSender, 9e6), intcpFlow(protocol.RoleSender, 1)}, 1e6, ""},
		"beside what comes": {[]protocol.Flow{pacedFlow(protocol.RoleReceiver, 9e6), intcpFlow(protocol.RoleReceiver, 0),
			intcpFlow(protocol.RoleRelay, 1)}, 10e6, ""},
		"to several neighbours": {[]protocol.Flow{intcpFlow(protocol.RoleRelay, 4)}, 2.5e6, ""},
		"nothing is left": {[]protocol.Flow{pacedFlow(protocol.RoleSender, most), intcpFlow(protocol.RoleSender, 1)}, 0,
			"leave 0 b/s for INTCP"},
		"hardly anything": {[]protocol.Flow{intcpFlow(protocol.RoleSender, 2), pacedFlow(protocol.RoleSender, most-1)}, 0,
			"leave 1 b/s for INTCP"},
		"paced flows too fast":   {[]protocol.Flow{pacedFlow(protocol.RoleSender, most+1), intcpFlow(protocol.RoleSender, 1)}, 0, "within that"},
		"a receiver asks nobody": {[]protocol.Flow{pacedFlow(protocol.RoleSender, most), intcpFlow(protocol.RoleReceiver, 0)}, most, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tr := &Trial{order: &protocol.Prepare{Flows: example.flows}}
			tr.env.Config.Policy.MaxRateBps = most
			err := checkRates(tr.order, tr.env.Config)
			if example.why != "" {
				require.ErrorContains(t, err, example.why)
				require.ErrorContains(t, err, "max_rate_bps")
				return
			}
			require.NoError(t, err)
			if _, askers := intcpShareBps(tr.order, most); askers > 0 {
				require.InDelta(t, example.each, tr.nodePolicy().MaxRateBps, 0.5)
				require.Equal(t, askers, tr.nodePolicy().RatedFlows)
			}
			require.NoError(t, checkRates(tr.order, config.Config{}), "no limit")
		})
	}
}
