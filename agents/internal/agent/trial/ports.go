package trial

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"

	"downlink/agents/internal/flow/transfer"
	"downlink/agents/internal/intcp"
	"downlink/agents/internal/intcp/intcpsocket"
	"downlink/agents/internal/server/protocol"
)

// ports are what a run listens on: TCP for tickets, and UDP of the same number for INTCP. Each is nil where no flow needs it.
type ports struct {
	tcp  *transfer.Port
	home *intcpsocket.Home
	// sites are the relays of an emulated link, instead of a home.
	sites *sites
}

func (p *ports) close() {
	if p.sites != nil {
		_ = p.sites.client.Close()
	}
	if p.home != nil {
		_ = p.home.Close()
	}
	if p.tcp != nil {
		_ = p.tcp.Close()
	}
}

// number is that of the data port; 0: there is none.
func (p *ports) number() int {
	switch {
	case p.tcp != nil:
		return p.tcp.Port()
	case p.home != nil:
		return int(p.home.Local().Port())
	case p.sites != nil:
		return int(p.sites.Local().Port())
	}
	return 0
}

// portTries is how often a number is sought that is free over TCP and UDP.
const portTries = 8

func (t *Trial) openPorts(ctx context.Context) (p *ports, err error) {
	if t.env.Config.RelayControl != "" {
		found, err := t.openSites(ctx)
		return &ports{sites: found}, err
	}
	for range portTries {
		p = &ports{}
		if p.tcp, err = t.openPort(); err != nil {
			return nil, err
		}
		if !t.hasINTCP() {
			return p, nil
		}
		number := t.env.Config.DataPort
		if p.tcp != nil {
			number = p.tcp.Port()
		}
		if p.home, err = t.openHome(number); err == nil {
			return p, nil
		}
		p.close()
		if t.env.Config.DataPort != 0 {
			break
		}
	}
	if failure, isFailure := errors.AsType[*Failure](err); isFailure {
		return nil, failure
	}
	return nil, fail(protocol.ReasonPortFailed, "%v", err)
}

func (t *Trial) hasINTCP() bool {
	for _, flow := range t.order.Flows {
		if flow.Transport.Kind == protocol.TransportINTCP {
			return true
		}
	}
	return false
}

// runNumber is what INTCP calls an attempt at a run.
func runNumber(ref protocol.RunRef) uint64 {
	digest := sha256.Sum256(fmt.Appendf(nil, "%s/%d", ref.RunID, ref.Attempt))
	return binary.BigEndian.Uint64(digest[:])
}

func contentName(ref protocol.RunRef, flow int) intcp.Name {
	digest := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%d", ref.RunID, ref.Attempt, flow))
	return intcp.Name(digest[:16])
}

// content is what a flow moves, as both of its ends work it out from the order.
func (t *Trial) content(flow protocol.Flow) intcp.Content {
	unit := intcp.MaxUnitBytes
	if flow.Offer != nil && flow.Offer.MessageBytes < unit {
		unit = flow.Offer.MessageBytes
	}
	length := min(uint64(1)<<40, uint64(unit)*(1<<31-1))
	if t.order.Stop.Bytes != nil {
		length = uint64(*t.order.Stop.Bytes)
	}
	return intcp.Content{Run: runNumber(t.order.RunRef), Name: contentName(t.order.RunRef, contentOf(flow)), Length: length,
		UnitBytes: uint16(unit)}
}

// contentOf is the flow whose content one moves.
func contentOf(flow protocol.Flow) int {
	if flow.Content > 0 {
		return flow.Content
	}
	return flow.Flow
}

// isShared tells whether another flow of the run moves the same content, as far as this agent takes part in it.
func (t *Trial) isShared(flow protocol.Flow) bool {
	return slices.ContainsFunc(t.order.Flows, func(other protocol.Flow) bool {
		return other.Flow != flow.Flow && contentOf(other) == contentOf(flow)
	})
}

// openHome lets INTCP's neighbours downstream reach this agent. The contents that it has are there from now on, and
// nothing of them leaves before its flow's moment.
func (t *Trial) openHome(port int) (*intcpsocket.Home, error) {
	plan, published, err := t.homePlan()
	if err != nil {
		return nil, err
	}
	if len(plan.Serves) > 0 {
		plan.Address = t.listenAddress(port)
	}
	home, err := intcpsocket.Open(plan)
	if err != nil {
		return nil, err
	}
	for _, flow := range published {
		stream, err := streamOf(flow)
		if err == nil {
			err = home.Publish(t.content(flow), stream)
		}
		if err != nil {
			return nil, errors.Join(refuse("flow %d: %v", flow.Flow, err), home.Close())
		}
	}
	return home, nil
}

// homePlan says what the run's node is for, and which of its flows begin there.
func (t *Trial) homePlan() (plan intcpsocket.Plan, published []protocol.Flow, err error) {
	plan = intcpsocket.Plan{Run: runNumber(t.order.RunRef), Policy: t.nodePolicy()}
	for _, flow := range t.order.Flows {
		if flow.Transport.Kind != protocol.TransportINTCP {
			continue
		}
		if plan.Options, err = intcpOptions(flow.Transport.Options); err != nil {
			return plan, nil, refuse("flow %d: %v", flow.Flow, err)
		}
		plan.Asks = plan.Asks || flow.Upstream != nil
		if flow.Role == protocol.RoleSender {
			published = append(published, flow)
		}
		for _, neighbour := range flow.Downstream {
			hop, err := hopOf(plan.Run, neighbour)
			if err != nil {
				return plan, nil, refuse("flow %d: %v", flow.Flow, err)
			}
			plan.Serves = append(plan.Serves, hop)
		}
	}
	return plan, published, nil
}

func (t *Trial) nodePolicy() intcp.Policy {
	policy, owner := intcp.DefaultPolicy(), t.env.Config.Policy
	if owner.RelayFlows > 0 {
		policy.MaxFlows = owner.RelayFlows
	}
	if owner.RelayCacheBytes > 0 {
		policy.MaxCacheBytes = int(owner.RelayCacheBytes)
	}
	if owner.MaxRateBps > 0 { // of all flows together
		each, askers := intcpShareBps(t.order, owner.MaxRateBps)
		policy.MaxRateBps, policy.RatedFlows = min(policy.MaxRateBps, float64(each)), askers
	}
	return policy
}

// askUpstream tries the neighbour upstream as soon as its address is known: it has until the run's zero, and some time.
func (t *Trial) askUpstream(p *ports, peers map[int]string) error {
	if p.home == nil && p.sites == nil {
		return nil
	}
	for _, flow := range t.order.Flows {
		if flow.Transport.Kind != protocol.TransportINTCP || flow.Upstream == nil {
			continue
		}
		hop, err := hopOf(runNumber(t.order.RunRef), *flow.Upstream)
		if err != nil {
			return refuse("flow %d: %v", flow.Flow, err)
		}
		peer, err := t.resolve(flow, peers[flow.Flow])
		if err != nil {
			return err
		}
		if p.sites != nil {
			return p.sites.ask(hop, peer, t.rowsFrom())
		}
		hop.Peer = intcpsocket.AddressOf(peer)
		if err := p.home.Ask(hop); err != nil {
			return err
		}
		return nil // all flows of a run have the same neighbour
	}
	return nil
}

// resolve is a neighbour's address, which this agent may send to.
func (t *Trial) resolve(flow protocol.Flow, peer string) (netip.AddrPort, error) {
	resolved, err := net.ResolveUDPAddr("udp", peer)
	if err != nil {
		return netip.AddrPort{}, fail(protocol.ReasonRelayUnreachable, "%s: %v", describe(flow), err)
	}
	address := resolved.AddrPort()
	host := address.Addr().Unmap()
	if host.IsUnspecified() || host.IsMulticast() || host.IsLoopback() && !isLoopback(t.env.Config.DataHost) {
		return netip.AddrPort{}, refuse("%s: %s is not an address of another host", describe(flow), host)
	}
	if err := t.mayDial(flow)(host); err != nil {
		return netip.AddrPort{}, err
	}
	return address, nil
}

func hopOf(run uint64, neighbour protocol.Neighbour) (hop intcp.Hop, err error) {
	key, err := hex.DecodeString(neighbour.Key)
	if err != nil || len(key) != len(hop.Key) {
		return hop, fmt.Errorf("the key of hop %d is not %d hexadecimal digits", neighbour.Hop, 2*len(hop.Key))
	}
	if neighbour.Hop < 1 || neighbour.Hop > mostHops+1 {
		return hop, fmt.Errorf("hop %d is not from 1 to %d", neighbour.Hop, mostHops+1)
	}
	return intcp.Hop{Run: run, Number: uint16(neighbour.Hop), Key: intcp.Key(key)}, nil
}

// mostHops bounds the relays of a way.
const mostHops = 64

func streamOf(flow protocol.Flow) (intcp.Stream, error) {
	seed, err := strconv.ParseUint(flow.ContentSeed, 16, 64)
	if err != nil || len(flow.ContentSeed) != 16 {
		return intcp.Stream{}, errors.New("content_seed is not 16 hexadecimal digits")
	}
	return intcp.Stream{Seed: seed}, nil
}
