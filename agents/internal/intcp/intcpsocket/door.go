package intcpsocket

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"

	"downlink/agents/internal/flow/socket"
	"downlink/agents/internal/intcp"
)

// The sockets of a node, and the addresses on both of their sides.

// door is one socket.
type door struct {
	conn  *net.UDPConn
	batch *socket.Batch
	// isBrought: what was read last is not with the node yet.
	isBrought atomic.Bool
}

// hasMore tells whether something has come that the node does not know.
func (d *door) hasMore() bool { return d.isBrought.Load() || d.batch.HasMore() }

func openDoor(address string) (*door, error) {
	packets, err := (&net.ListenConfig{}).ListenPacket(context.Background(), "udp", address)
	if err != nil {
		return nil, fmt.Errorf("open the UDP port: %w", err)
	}
	conn, isUDP := packets.(*net.UDPConn)
	if !isUDP {
		return nil, errors.Join(fmt.Errorf("%s is not UDP", address), packets.Close())
	}
	batch, err := socket.NewBatch(conn)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &door{conn: conn, batch: batch}, nil
}

func (h *Home) doors() (doors []*door) {
	for _, d := range []*door{h.served, h.asking} {
		if d != nil {
			doors = append(doors, d)
		}
	}
	return doors
}

func (h *Home) closeDoors() (err error) {
	for _, d := range h.doors() {
		err = errors.Join(err, d.conn.Close())
	}
	return err
}

// AddressOf is a neighbour's address as a node knows it.
func AddressOf(address netip.AddrPort) (a intcp.Address) {
	ip := address.Addr().As16()
	copy(a[:], ip[:])
	binary.BigEndian.PutUint16(a[16:], address.Port())
	return a
}

func addrPort(a intcp.Address) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom16([16]byte(a[:16])).Unmap(), binary.BigEndian.Uint16(a[16:]))
}

// Local is where neighbours downstream come to or, where none does, from where the one upstream is asked.
func (h *Home) Local() netip.AddrPort { return h.doors()[0].local() }

// AskingFrom is from where the neighbour upstream is asked; port 0 without one.
func (h *Home) AskingFrom() netip.AddrPort {
	if h.asking == nil {
		return netip.AddrPort{}
	}
	h.mu.Lock()
	upstream := h.upstream
	h.mu.Unlock()
	return netip.AddrPortFrom(towards(addrPort(upstream)), h.asking.local().Port())
}

// towards is this host's address on the way to another, by the route; the unspecified one where there is none. Nothing is sent.
func towards(peer netip.AddrPort) netip.Addr {
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(peer))
	if err != nil {
		return netip.IPv6Unspecified()
	}
	defer func() { _ = conn.Close() }()
	return (&door{conn: conn}).local().Addr()
}

func (d *door) local() netip.AddrPort {
	address := d.conn.LocalAddr().(*net.UDPAddr).AddrPort() //nolint:forcetypeassert // a UDP socket has no other
	return netip.AddrPortFrom(address.Addr().Unmap(), address.Port())
}

// way is the socket that reaches a neighbour.
func (h *Home) way(to intcp.Address) *door {
	if h.served == nil || h.asking != nil && to == h.upstream {
		return h.asking
	}
	return h.served
}

func (h *Home) address(a intcp.Address) *net.UDPAddr {
	known := h.addresses[a]
	if known == nil {
		if len(h.addresses) >= mostAddresses {
			clear(h.addresses)
		}
		known = net.UDPAddrFromAddrPort(addrPort(a))
		h.addresses[a] = known
	}
	return known
}
