package trial

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"downlink/agents/internal/intcp"
	"downlink/agents/internal/server/linkcontrol"
	"downlink/agents/internal/server/protocol"
)

// sites are the relays of an emulated link, for which this agent speaks: orders go to the link, and what its relays see
// comes from there.
type sites struct {
	client *linkcontrol.RelayClient
	rows   map[int]*linkcontrol.RowReader // by flow
}

// openSites lets the link's relays work for this run, before anything waits for this agent.
func (t *Trial) openSites(ctx context.Context) (*sites, error) {
	plan, _, err := t.homePlan()
	if err != nil {
		return nil, err
	}
	asked := linkcontrol.RelayPlan{Run: plan.Run, Options: plan.Options, Policy: plan.Policy, Port: t.env.Config.DataPort}
	hosts := t.askingHosts()
	for _, hop := range plan.Serves {
		served := linkcontrol.RelayHop{Number: hop.Number, Key: hop.Key, Peer: hosts[hop.Number]}
		if !slices.Contains(asked.Serves, served) {
			asked.Serves = append(asked.Serves, served)
		}
	}
	for _, flow := range t.order.Flows {
		if name := t.content(flow).Name; !slices.Contains(asked.Contents, name) {
			asked.Contents = append(asked.Contents, name)
		}
	}
	path := t.env.Config.RelayControl
	client, err := linkcontrol.OpenRelays(ctx, path, asked)
	if err != nil {
		return nil, fail(protocol.ReasonLinkControl,
			"%v (%s, relay_control in this agent's configuration; `downlink-agent link up --relay-control` makes it)", err, path)
	}
	s := &sites{client: client, rows: map[int]*linkcontrol.RowReader{}}
	for _, flow := range t.order.Flows {
		s.rows[flow.Flow] = client.ReadRows(t.content(flow).Name)
	}
	return s, nil
}

// askingHosts are the data hosts of the neighbours downstream, by hop. A link with several receivers knows by them where each
// one is attached; one from before there were several takes no notice.
func (t *Trial) askingHosts() map[uint16]string {
	hosts := map[uint16]string{}
	for _, flow := range t.order.Flows {
		for _, neighbour := range flow.Downstream {
			hosts[uint16(neighbour.Hop)] = neighbour.Host
		}
	}
	return hosts
}

// ask names the neighbour upstream; rows of the sites are wanted from a moment on, unless that is the zero time.
func (s *sites) ask(hop intcp.Hop, peer netip.AddrPort, rowsFrom time.Time) error {
	return s.client.Ask(linkcontrol.RelayHop{Number: hop.Number, Key: hop.Key, Peer: peer.String()}, rowsFrom)
}

// Look looks at a content as the relays told it last.
func (s *sites) Look(content intcp.Content) (intcp.Look, time.Duration) {
	seen := s.client.Seen(content.Name)
	return seen.Look, seen.Now
}

// IsMet tells whether the sender has answered the first relay; all flows of a run have the same one.
func (s *sites) IsMet() bool { return s.client.IsMet() }

// At is a moment of the link's clock.
func (s *sites) At(moment time.Duration) time.Time {
	if moment == 0 {
		return time.Time{}
	}
	return s.client.At(moment)
}

// Local is where both ends of the link reach the relays.
func (s *sites) Local() netip.AddrPort {
	address, _ := netip.ParseAddrPort(s.client.Address) // the zero address, with port 0, where the link said none
	return address
}

// AskingFrom is the same address.
func (s *sites) AskingFrom() netip.AddrPort { return s.Local() }

// Err says that the link has gone.
func (s *sites) Err() error {
	if err := s.client.Err(); err != nil {
		return fail(protocol.ReasonLinkControl, "%v", fmt.Errorf("the relays' control socket: %w", err))
	}
	return nil
}
