package trial

import (
	"maps"
	"net"

	"downlink/agents/internal/host/settings"
	"downlink/agents/internal/server/protocol"
)

// The host's settings during a run.

// apply sets what the order wants; where it lets this host leave what it cannot set, the record shows what was in force.
func (t *Trial) apply(wanted map[settings.Key]string) error {
	if !t.order.LeavesUnset {
		return t.env.Keeper.Apply(t.order.RunID, wanted)
	}
	maps.DeleteFunc(wanted, func(key settings.Key, _ string) bool { return !t.env.Config.Policy.AllowsSetting(key.Name) })
	return t.env.Keeper.ApplyPossible(t.order.RunID, wanted)
}

// wanted are the settings by key: a route setting once for every peer.
func (t *Trial) wanted() (map[settings.Key]string, error) {
	wanted := map[settings.Key]string{}
	for name, value := range t.order.Settings {
		if name != settings.RouteInitCwnd && name != settings.RouteInitRwnd {
			wanted[settings.Key{Name: name}] = value
			continue
		}
		for _, peer := range t.peers() {
			if net.ParseIP(peer.Host) == nil {
				return nil, fail(protocol.ReasonSettingRefused, "%s needs the address of %s; set that agent's data_host to an IP address",
					name, peer.Agent)
			}
			wanted[settings.Key{Name: name, Peer: peer.Host}] = value
		}
	}
	return wanted, nil
}

// peers are those of all flows, in their order.
func (t *Trial) peers() (peers []protocol.Peer) {
	for _, flow := range t.order.Flows {
		peers = append(peers, neighbours(flow)...)
	}
	return peers
}

func (t *Trial) peerHost() string {
	for _, peer := range t.peers() {
		return peer.Host
	}
	return ""
}

func (t *Trial) snapshot() map[string]string { return t.env.Keeper.Snapshot(t.peerHost()) }
