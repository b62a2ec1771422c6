package trial

import (
	"net"

	"downlink/agents/internal/host"
	"downlink/agents/internal/server/protocol"
)

// wayBetween is how a connection's packets leave this host now; nil where it has no addresses, or no route.
func wayBetween(local, peer string) *protocol.Way {
	own, _, ownErr := net.SplitHostPort(local)
	other, _, otherErr := net.SplitHostPort(peer)
	if ownErr != nil || otherErr != nil {
		return nil
	}
	return wayTo(own, other)
}

func wayTo(local, peer string) *protocol.Way {
	way, known := host.WayTo(local, peer)
	if !known {
		return nil
	}
	return &protocol.Way{Source: way.Source, Interface: way.Interface, NextHop: way.NextHop}
}
