package pathrelay

import (
	"encoding/binary"
	"net/netip"

	"downlink/agents/internal/intcp"
	"downlink/agents/internal/lab/emulate"
)

// Packets are IPv4 and UDP as on a real link, between sites too: what a hop carries and loses has the size and the flow that
// it would have there.

const (
	ipBytes, udpBytes = 20, 8
	headerBytes       = ipBytes + udpBytes
	udp               = 17
	hops              = 64 // time to live
)

func addressOf(at netip.AddrPort) (a intcp.Address) {
	ip := at.Addr().As16()
	copy(a[:], ip[:])
	binary.BigEndian.PutUint16(a[16:], at.Port())
	return a
}

// innerMark begins the addresses of sites: no host's begins so.
const innerMark = 0xff

func innerAddress(number int) (a intcp.Address) {
	a[0] = innerMark
	binary.BigEndian.PutUint32(a[4:], uint32(number))
	return a
}

func innerNumber(a intcp.Address) (number int, isInner bool) {
	return int(binary.BigEndian.Uint32(a[4:])), a[0] == innerMark
}

func addrPort(a intcp.Address) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom16([16]byte(a[:16])).Unmap(), binary.BigEndian.Uint16(a[16:]))
}

// isWhole: an IPv4 packet of UDP, in one piece.
func isWhole(b []byte) bool {
	return len(b) >= headerBytes && b[0] == 0x45 && b[9] == udp && binary.BigEndian.Uint16(b[6:])&0x3fff == 0 &&
		int(binary.BigEndian.Uint16(b[24:])) == len(b)-ipBytes
}

func destination(b []byte) (to netip.AddrPort, isUDP bool) {
	if !isWhole(b) {
		return to, false
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[16:20])), binary.BigEndian.Uint16(b[22:])), true
}

// source is who sent a packet, and what it carries.
func source(p *emulate.Packet) (from netip.AddrPort, payload []byte, isSound bool) {
	b := p.Data
	if !isWhole(b) {
		return from, nil, false
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[12:16])), binary.BigEndian.Uint16(b[20:])), b[headerBytes:], true
}

// pack makes a packet of a datagram. Between sites it has the addresses of the link's end towards which it goes, or from which
// what it asks for was asked.
func (r *Relays) pack(here *relay, d *intcp.Datagram, isUp bool) *emulate.Packet {
	from, to, tag := r.plan.Here, addrPort(d.To), -1-here.number
	if _, isInner := innerNumber(d.To); isInner {
		tag = 1 + here.number
		if to = r.receiver; isUp {
			from, to = r.receiver, r.plan.Here
		}
	}
	p := r.pool.Fresh()
	size := headerBytes + len(d.Bytes)
	p.Data, p.SizeBytes, p.StopsAtSites, p.Tag = p.Data[:size], size, true, tag
	r.ident++
	putHeader(p.Data, from, to, r.ident)
	copy(p.Data[headerBytes:], d.Bytes)
	return p
}

// IsInner tells whether a packet that leaves the link was for a site: the way has changed, and nobody waits for it outside.
func IsInner(p *emulate.Packet) bool { return p.StopsAtSites && p.Tag > 0 }

func putHeader(b []byte, from, to netip.AddrPort, ident uint16) {
	clear(b[:headerBytes])
	b[0], b[8], b[9] = 0x45, hops, udp
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	binary.BigEndian.PutUint16(b[4:], ident)
	if from.Addr().Is4() {
		a := from.Addr().As4()
		copy(b[12:], a[:])
	}
	if to.Addr().Is4() {
		a := to.Addr().As4()
		copy(b[16:], a[:])
	}
	binary.BigEndian.PutUint16(b[10:], checksum(b[:ipBytes]))
	binary.BigEndian.PutUint16(b[20:], from.Port())
	binary.BigEndian.PutUint16(b[22:], to.Port())
	binary.BigEndian.PutUint16(b[24:], uint16(len(b)-ipBytes)) // without a checksum, as UDP over IPv4 may be
}

func checksum(b []byte) uint16 {
	sum := uint32(0)
	for i := 0; i < len(b); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}
