package trial

import (
	"net"
	"net/netip"

	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/flow/tcpinfo"
	"downlink/agents/internal/server/protocol"
)

// neighbours are the agents with which this one exchanges a flow's packets.
func neighbours(flow protocol.Flow) (peers []protocol.Peer) {
	if flow.Upstream == nil && len(flow.Downstream) == 0 {
		return flow.Peers()
	}
	if flow.Upstream != nil {
		peers = append(peers, flow.Upstream.Peer)
	}
	for i := range flow.Downstream {
		peers = append(peers, flow.Downstream[i].Peer)
	}
	return peers
}

// upstream is whom this agent asks for a flow's data.
func upstream(flow protocol.Flow) protocol.Peer {
	if flow.Upstream != nil {
		return flow.Upstream.Peer
	}
	return flow.Sender
}

// downstream are those who ask this agent.
func downstream(flow protocol.Flow) (peers []protocol.Peer) {
	if len(flow.Downstream) == 0 {
		return flow.Receivers
	}
	for i := range flow.Downstream {
		peers = append(peers, flow.Downstream[i].Peer)
	}
	return peers
}

// isAsked tells whether others dial this agent.
func (t *Trial) isAsked() bool {
	for _, flow := range t.order.Flows {
		if flow.Role != protocol.RoleReceiver {
			return true
		}
	}
	return false
}

// checkRelays holds a relay's flows against what its owner allows.
func checkRelays(order *protocol.Prepare, c config.Config) error {
	passed := 0
	for _, flow := range order.Flows {
		kind := flow.Transport.Kind
		isOverRelays := kind == protocol.TransportSplit || kind == protocol.TransportINTCP
		switch {
		case flow.Role == protocol.RoleRelay && kind == protocol.TransportSplit && c.RelayControl != "":
			return refuse("flow %d is split TCP, and the relays of an emulated link carry INTCP alone; let agents on hosts of their own relay it",
				flow.Flow)
		case !isOverRelays && flow.Role == protocol.RoleRelay:
			return refuse("flow %d makes this agent a relay of %s, which needs none", flow.Flow, kind)
		case !isOverRelays:
			continue
		case flow.Role != protocol.RoleSender && flow.Upstream == nil:
			return refuse("flow %d names no neighbour upstream", flow.Flow)
		case flow.Role != protocol.RoleReceiver && len(flow.Downstream) == 0:
			return refuse("flow %d names no neighbour downstream", flow.Flow)
		}
		if flow.Role == protocol.RoleRelay {
			passed++
			if err := checkRelayed(flow, c); err != nil {
				return err
			}
		}
	}
	if most := c.Policy.RelayFlows; most > 0 && passed > most {
		return refuse("the run has %d flows over this relay and its policy (relay_flows) allows %d", passed, most)
	}
	return nil
}

func checkRelayed(flow protocol.Flow, c config.Config) error {
	if flow.Place < 1 || flow.Place > mostHops {
		return refuse("flow %d has this relay at place %d, and 1 to %d are possible", flow.Flow, flow.Place, mostHops)
	}
	if options, err := intcpOptions(flow.Transport.Options); flow.Transport.Kind == protocol.TransportINTCP && err == nil {
		if most := c.Policy.RelayBufferBytes; most > 0 && int64(options.MostWaiting()) > most {
			return refuse("flow %d asks for a buffer of %d bytes and this relay's policy (relay_buffer_bytes) allows %d",
				flow.Flow, options.MostWaiting(), most)
		}
	}
	for _, peer := range neighbours(flow) {
		host, err := netip.ParseAddr(peer.Host)
		if err != nil {
			continue // a name, which is judged when it is dialled
		}
		if err := refuseNeighbour(host.Unmap(), c.Policy); err != nil {
			return refuse("flow %d: %s: %v; the agent of a host behind a NAT needs the NAT's own address as its data_host",
				flow.Flow, peer.Agent, err)
		}
	}
	return nil
}

// refuseNeighbour keeps a relay from reaching into networks that the Internet does not reach.
func refuseNeighbour(host netip.Addr, policy config.Policy) error {
	if err := refuseAny(host); err != nil {
		return err
	}
	if !policy.RelayPrivate && !isPublic(host) {
		return refuse("%s is not an address of the public Internet (a private, shared or loopback one, perhaps inside IPv6); "+
			"this host's policy (relay_private) does not let it relay there", host)
	}
	return nil
}

// refuseSender keeps a receiver from being steered into its own network, where the owner does not measure there.
func (t *Trial) refuseSender(host netip.Addr) error {
	if err := refuseAny(host); err != nil {
		return err
	}
	for _, face := range faces(host) {
		if face.IsLoopback() && !isLoopback(t.env.Config.DataHost) {
			return refuse("%s is not an address of another host", host)
		}
	}
	if t.env.Config.Policy.PublicOnly && !isPublic(host) {
		return refuse("%s is not an address of the public Internet (a private, shared or loopback one, perhaps inside IPv6); "+
			"this host's policy (public_only) does not let it dial there", host)
	}
	return nil
}

// mayDial is what holds for a flow's neighbour upstream, by the address that its name was resolved to.
func (t *Trial) mayDial(flow protocol.Flow) func(netip.Addr) error {
	if flow.Role == protocol.RoleRelay {
		return func(host netip.Addr) error { return refuseNeighbour(host, t.env.Config.Policy) }
	}
	return t.refuseSender
}

// relayExtra are the columns of a split flow's relay beside those of its sending connection.
func (f *flowRun) relayExtra(down *net.TCPConn) tcpinfo.Extra {
	return tcpinfo.Extra{Fields: tcpinfo.RelayFields, Read: func(row []int64) {
		up, isOpen := f.upstreamConn()
		if !isOpen {
			return
		}
		in, errIn := tcpinfo.Look(up)
		out, errOut := tcpinfo.Look(down)
		if errIn == nil && errOut == nil {
			row[0], row[1] = in.ReceivedBytes, max(0, in.ReceivedBytes-out.FirstSentBytes)
		}
	}}
}

func (f *flowRun) upstreamConn() (*net.TCPConn, bool) {
	if f.relay == nil || f.relay.Upstream() == nil {
		return nil, false
	}
	return f.relay.Upstream(), true
}

// askedCC is the control that was ordered for what this agent does of the flow.
func (f *flowRun) askedCC() string {
	if f.flow.Role == protocol.RoleRelay && f.flow.Transport.Kind == protocol.TransportSplit {
		return f.flow.Transport.RelayCC
	}
	return f.flow.Transport.Name()
}

// end is whose fields of TCP_INFO are recorded: a relay's of the connection on which it sends.
func (f *flowRun) end() tcpinfo.Ends {
	if f.flow.Role == protocol.RoleReceiver {
		return tcpinfo.EndsReceiver
	}
	return tcpinfo.EndsSender
}
