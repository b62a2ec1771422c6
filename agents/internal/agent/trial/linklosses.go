package trial

import (
	"maps"
	"net/netip"
	"slices"

	"downlink/agents/internal/server/protocol"
)

// countedFlows are the flows whose packets the link told apart: by the receiver's port, and in order. It knows no ports of
// flows in which this agent takes no part, such as those to further receivers; and none of one whose packets have ports of
// others on the way, or the port of another flow too, as all over INTCP to one receiver have.
func (l *linkRun) countedFlows(outcomes []protocol.Outcome) (byPort map[int]int, counted []int) {
	byPort, shared := map[int]int{}, []int{}
	for _, outcome := range outcomes {
		address := outcome.LocalAddress
		if outcome.Point == protocol.At(protocol.RoleSender) {
			address = outcome.PeerAddress
		}
		at, err := netip.ParseAddrPort(address)
		if err != nil || l.ended.MixesHops && l.isOverRelays(outcome.Flow) {
			continue
		}
		port := int(at.Port())
		if other, isKnown := byPort[port]; isKnown && other != outcome.Flow {
			shared = append(shared, port)
		}
		byPort[port] = outcome.Flow
	}
	for _, port := range shared {
		delete(byPort, port)
	}
	counted = slices.AppendSeq([]int{}, maps.Values(byPort))
	slices.Sort(counted)
	return byPort, counted
}

func (l *linkRun) isOverRelays(number int) bool {
	return slices.ContainsFunc(l.trial.order.Flows, func(flow protocol.Flow) bool {
		return flow.Flow == number && flow.Upstream != nil && flow.Upstream.Agent != flow.Sender.Agent
	})
}

// losses are those of the flows that are counted, by their numbers; all else that was lost is of no flow.
func (l *linkRun) losses(flows map[int]int) []protocol.LinkLoss {
	type place struct {
		flow       int
		way, cause string
	}
	order, packets := []place{}, map[place]uint64{}
	for _, each := range l.ended.Lost {
		at := place{flows[each.ReceiverPort], each.Way, each.Cause}
		if _, known := packets[at]; !known {
			order = append(order, at)
		}
		packets[at] += each.Packets
	}
	found := make([]protocol.LinkLoss, 0, len(order))
	for _, at := range order {
		loss := protocol.LinkLoss{Way: at.way, Cause: at.cause, Packets: packets[at]}
		if at.flow > 0 {
			loss.Flow = &at.flow
		}
		found = append(found, loss)
	}
	return found
}
