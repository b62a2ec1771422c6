package pump

import (
	"encoding/binary"
	"net/netip"

	"downlink/agents/internal/lab/emulate"
)

// How lost packets are told apart: by the receiver's port, which an agent there knows its flows by.

// noteLost counts a packet that was lost on a way of the present course.
func (p *Pump) noteLost(way int, packet *emulate.Packet) {
	p.course.note(lostKey{way, packet.Lost, p.portOf(packet.Data, p.ways[way].To == emulate.Receiver)})
}

// mixesHops tells whether relays inside the link carry flows whose packets have no port of their own.
func (p *Pump) mixesHops() bool {
	return p.routers != nil || p.relaying != nil && p.relaying.HasBranches()
}

// portOf is the port at the receiver at the link's end of what a packet belongs to; 0: it goes to another one, or nobody knows.
// Between the sender and the relays, and between sites, packets have other ports than the flow has at its receiver.
func (p *Pump) portOf(packet []byte, isToReceiver bool) int {
	from, to := origin(packet), destination(packet)
	switch host := p.options.RelayHost; {
	case p.relaying != nil && (from == host || to == host):
		if p.relaying.HasBranches() {
			return 0
		}
		return int(p.relaying.Receiver().Port())
	case p.branches != nil && p.branches.numbers[from]+p.branches.numbers[to] > 0:
		return 0
	}
	return receiverPort(packet, isToReceiver)
}

// origin is where an IP packet comes from; the zero address where that cannot be read.
func origin(packet []byte) netip.Addr {
	switch {
	case len(packet) >= 20 && packet[0]>>4 == 4:
		return netip.AddrFrom4([4]byte(packet[12:16]))
	case len(packet) >= 40 && packet[0]>>4 == 6:
		return netip.AddrFrom16([16]byte(packet[8:24]))
	}
	return netip.Addr{}
}

// destination is where an IP packet goes; the zero address where that cannot be read.
func destination(packet []byte) netip.Addr {
	switch {
	case len(packet) >= 20 && packet[0]>>4 == 4:
		return netip.AddrFrom4([4]byte(packet[16:20]))
	case len(packet) >= 40 && packet[0]>>4 == 6:
		return netip.AddrFrom16([16]byte(packet[24:40]))
	}
	return netip.Addr{}
}

// receiverPort is that of a TCP or UDP packet at the receiver; 0 for all else, fragments among it.
func receiverPort(packet []byte, isToReceiver bool) int {
	at := transportAt(packet)
	if at == 0 || len(packet) < at+4 {
		return 0
	}
	if isToReceiver {
		at += 2
	}
	return int(binary.BigEndian.Uint16(packet[at:]))
}

// transportAt is where the header of TCP or UDP begins; 0: there is none.
func transportAt(packet []byte) int {
	const tcp, udp = 6, 17
	switch {
	case len(packet) >= 20 && packet[0]>>4 == 4 && (packet[9] == tcp || packet[9] == udp) && binary.BigEndian.Uint16(packet[6:])&0x1fff == 0:
		return int(packet[0]&15) * 4
	case len(packet) >= 40 && packet[0]>>4 == 6 && (packet[6] == tcp || packet[6] == udp):
		return 40
	}
	return 0
}
