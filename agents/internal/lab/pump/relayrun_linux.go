package pump

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"downlink/agents/internal/intcp"
	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/linkserver"
	"downlink/agents/internal/lab/pathrelay"
	"downlink/agents/internal/server/linkcontrol"
)

// What the relays of a link say and do at their control socket.

// DescribeSites names the link.
func (p *Pump) DescribeSites() linkcontrol.Sites {
	profile := p.options.Profile
	return linkcontrol.Sites{Link: p.options.Name, Profile: profile.Name, Most: profile.MostHops() - 1}
}

// relaySession is one run.
type relaySession struct {
	pump    *Pump
	relays  *relaying
	address netip.AddrPort
	ending  sync.Once
}

// Relay lets the link's sites relay for a run.
func (p *Pump) Relay(plan linkcontrol.RelayPlan) (linkserver.RelaySession, error) {
	if p.options.Profile.MostHops() < 2 {
		return nil, fmt.Errorf("the link's profile %s has one hop, and so no place between two hops to relay at: "+
			"use a profile with hops or a path", p.options.Profile.Name)
	}
	if len(plan.Contents) > mostContents {
		return nil, fmt.Errorf("a run has at most %d flows over the relays of a link", mostContents)
	}
	var random [22]byte
	_, _ = rand.Read(random[:]) // never fails (crypto/rand)
	port := uint16(plan.Port)
	if port == 0 {
		port = firstPort + binary.BigEndian.Uint16(random[20:])%(1<<16-firstPort)
	}
	s := &relaySession{pump: p, address: netip.AddrPortFrom(p.options.RelayHost, port)}
	made := pathrelay.Plan{
		Run: plan.Run, Options: plan.Options, Policy: plan.Policy, Here: s.address, Secret: [16]byte(random[:16]),
		Salt: binary.BigEndian.Uint32(random[16:]), Receivers: p.options.Profile.Receivers, Branches: map[uint16]int{},
	}
	if p.branches != nil {
		made.Hosts = p.branches.numbers
	}
	for _, hop := range plan.Serves {
		made.Serves = append(made.Serves, intcp.Hop{Run: plan.Run, Number: hop.Number, Key: hop.Key})
		if branch := p.branchOf(hop.Peer); branch > 0 {
			made.Branches[hop.Number] = branch
		}
	}
	relays, err := pathrelay.New(made, p)
	if err != nil {
		return nil, err
	}
	for _, name := range plan.Contents {
		relays.Watch(name)
	}
	s.relays = &relaying{Relays: relays, sitting: sitting{owner: relays, profile: p.options.Profile}, contents: plan.Contents,
		news: make(chan linkcontrol.RelayNews, mostNews)}
	if downErr := p.do(func() { err = p.relay(s.relays) }); downErr != nil {
		return nil, downErr
	}
	return s, err
}

// branchOf is the further receiver at an address, from 1; 0: none is.
func (p *Pump) branchOf(host string) int {
	address, err := netip.ParseAddr(host)
	if err != nil || p.branches == nil {
		return 0
	}
	return p.branches.numbers[address.Unmap()]
}

// Address is where neighbours reach the relays.
func (s *relaySession) Address() string { return s.address.String() }

// Ask names the neighbour upstream.
func (s *relaySession) Ask(hop linkcontrol.RelayHop) error {
	peer, err := netip.ParseAddrPort(hop.Peer)
	if err != nil || !peer.Addr().Unmap().Is4() {
		return fmt.Errorf("the relays of a link speak IPv4 alone, and %q is no such address with a port", hop.Peer)
	}
	peer = netip.AddrPortFrom(peer.Addr().Unmap(), peer.Port())
	downErr := s.pump.do(func() {
		err = s.relays.Ask(s.pump.now(), intcp.Hop{Run: s.relays.Run(), Number: hop.Number, Key: hop.Key}, peer)
		s.relays.wake = s.pump.now()
	})
	return errors.Join(downErr, err)
}

// Measure asks for rows of the sites from a moment on.
func (s *relaySession) Measure(from time.Time) {
	_ = s.pump.do(func() {
		if now := s.pump.now(); s.relays.endsAt == emulate.Never {
			s.relays.measure(now, now+time.Until(from))
		}
	})
}

// News has what the relays see.
func (s *relaySession) News() <-chan linkcontrol.RelayNews { return s.relays.news }

// End ends the run at the relays.
func (s *relaySession) End() {
	s.ending.Do(func() {
		_ = s.pump.do(func() {
			now := s.pump.now()
			s.relays.End(now)
			s.relays.endsAt, s.relays.wake, s.relays.nextRows = now+relayFarewell, now, emulate.Never
		})
	})
}
