package trial

import (
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/server/linkcontrol"
	"downlink/agents/internal/server/protocol"
)

func receivedAt(flow int, address string) protocol.Outcome {
	return protocol.Outcome{Flow: flow, Point: protocol.At(protocol.RoleReceiver), LocalAddress: address, PeerAddress: "198.18.1.6:9"}
}

func flowBy(number int, upstream string) protocol.Flow {
	flow := protocol.Flow{Flow: number, Sender: protocol.Peer{Agent: "sender"}}
	if upstream != "" {
		flow.Upstream = &protocol.Neighbour{Peer: protocol.Peer{Agent: upstream}}
	}
	return flow
}

// TestLossesAreOfAFlowOrOfNobody: never of another flow, and a flow of which nothing is known is not named.
func TestLossesAreOfAFlowOrOfNobody(t *testing.T) {
	lost := func(port int, packets uint64) linkcontrol.Lost {
		return linkcontrol.Lost{Way: "down", Cause: "random_loss", ReceiverPort: port, Packets: packets}
	}
	of := func(flow int, packets uint64) protocol.LinkLoss {
		loss := protocol.LinkLoss{Way: "down", Cause: "random_loss", Packets: packets}
		if flow > 0 {
			loss.Flow = &flow
		}
		return loss
	}
	here := []protocol.Outcome{receivedAt(1, "198.18.1.2:4001"), receivedAt(3, "198.18.1.2:4003")}
	for name, example := range map[string]struct {
		flows    []protocol.Flow
		outcomes []protocol.Outcome
		ended    linkcontrol.Ended
		counted  []int
		losses   []protocol.LinkLoss
	}{
		"to another receiver": {
			[]protocol.Flow{flowBy(1, ""), flowBy(3, "")}, here,
			linkcontrol.Ended{Lost: []linkcontrol.Lost{lost(4001, 5), lost(0, 7), lost(4002, 2)}},
			[]int{1, 3}, []protocol.LinkLoss{of(1, 5), of(0, 9)},
		},
		"over relays of one receiver": {
			[]protocol.Flow{flowBy(1, "relays"), flowBy(3, "")}, here,
			linkcontrol.Ended{Lost: []linkcontrol.Lost{lost(4001, 5)}}, []int{1, 3}, []protocol.LinkLoss{of(1, 5)},
		},
		"over relays of several": {
			[]protocol.Flow{flowBy(1, "relays"), flowBy(3, "sender")}, here,
			linkcontrol.Ended{Lost: []linkcontrol.Lost{lost(4001, 5), lost(4003, 1), lost(0, 7)}, MixesHops: true},
			[]int{3}, []protocol.LinkLoss{of(0, 12), of(3, 1)},
		},
		"two with one port": {
			[]protocol.Flow{flowBy(1, "relays"), flowBy(2, "relays")},
			[]protocol.Outcome{receivedAt(1, "198.18.1.2:4001"), receivedAt(2, "198.18.1.2:4001")},
			linkcontrol.Ended{Lost: []linkcontrol.Lost{lost(4001, 5)}}, []int{}, []protocol.LinkLoss{of(0, 5)},
		},
		"never connected": {
			[]protocol.Flow{flowBy(1, "")}, []protocol.Outcome{receivedAt(1, "")},
			linkcontrol.Ended{}, []int{}, []protocol.LinkLoss{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := &linkRun{trial: &Trial{order: &protocol.Prepare{Flows: example.flows}}, ended: example.ended}
			byPort, counted := l.countedFlows(example.outcomes)
			require.Equal(t, example.counted, counted)
			require.Equal(t, example.losses, l.losses(byPort))
		})
	}
}
