// Package intcp is a transport that recovers losses, controls its rate and keeps what passed at each hop of a path, after
// the paper "INTCP: Information-centric TCP for Satellite Network" (arXiv 2112.14916). docs/intcp/README.md describes the
// protocol and where it differs from the paper.
//
// The package is pure: a Node is told what time it is and which datagram came, and gives back datagrams and the moment at
// which it wants to be called again. It has no socket, no clock, no goroutine and no global state.
package intcp

import (
	"encoding/binary"
	"errors"
)

// Version of the protocol, the first byte of each packet.
const Version = 1

// Sizes of packets, in bytes of UDP payload.
const (
	MaxUnitBytes     = 1400
	MaxDatagramBytes = dataBytes + MaxUnitBytes
	MaxInterestBytes = 512
	OpenBytes        = 1200

	headBytes    = 16
	tagBytes     = 12
	dataBytes    = 52 // a DATA without payload
	openedBytes  = 60
	refusedBytes = 36
	closeBytes   = 56

	interestFixedBytes = 32
	rangeBytes         = 12
	lostBytes          = 6
)

type kind uint8

const (
	kindOpen kind = 1 + iota
	kindOpened
	kindRefused
	kindInterest
	kindData
	kindClose
)

// Flags of the head.
const (
	flagResent     = 1 << iota // DATA: was sent before on this hop
	flagQueueEmpty             // DATA: nothing of the flow waits behind it
	flagAgain                  // INTEREST: asked for before, end to end
	flagProbe                  // INTEREST: what lies above the highest sequence seen did not come
	flagEcho                   // echo_us holds something
	flagCookie                 // OPENED: only a cookie, ask again with it; OPEN: has one
)

// Errors of the decoder.
var (
	errShort   = errors.New("packet is too short")
	errVersion = errors.New("packet is of another version")
	errKind    = errors.New("packet is of an unknown kind")
	errSize    = errors.New("packet has a size that its kind cannot have")
)

// head begins each packet.
type head struct {
	kind     kind
	flags    uint16
	flow     uint32 // chosen by the requester of the hop
	sequence uint32 // of the packet, in its direction of the hop
	sentUs   uint32 // the sender's clock, modulo 2^32 us
}

func (h head) has(flag uint16) bool { return h.flags&flag != 0 }

func (h head) put(b []byte) {
	b[0], b[1] = Version, byte(h.kind)
	binary.BigEndian.PutUint16(b[2:], h.flags)
	binary.BigEndian.PutUint32(b[4:], h.flow)
	binary.BigEndian.PutUint32(b[8:], h.sequence)
	binary.BigEndian.PutUint32(b[12:], h.sentUs)
}

// parseHead reads a head and checks that the packet's size is one that its kind can have.
func parseHead(b []byte) (head, error) {
	if len(b) < headBytes {
		return head{}, errShort
	}
	if b[0] != Version {
		return head{}, errVersion
	}
	h := head{
		kind: kind(b[1]), flags: binary.BigEndian.Uint16(b[2:]), flow: binary.BigEndian.Uint32(b[4:]),
		sequence: binary.BigEndian.Uint32(b[8:]), sentUs: binary.BigEndian.Uint32(b[12:]),
	}
	low, high := h.kind.sizes()
	switch {
	case high == 0:
		return head{}, errKind
	case len(b) < low || len(b) > high:
		return head{}, errSize
	}
	return h, nil
}

// sizes are the least and the greatest size of a packet of a kind, 0 and 0 for an unknown one.
func (k kind) sizes() (low, high int) {
	switch k {
	case kindOpen:
		return OpenBytes, OpenBytes
	case kindOpened:
		return openedBytes, openedBytes
	case kindRefused:
		return refusedBytes, refusedBytes
	case kindInterest:
		return dataBytes, MaxInterestBytes
	case kindData:
		return dataBytes, MaxDatagramBytes
	case kindClose:
		return closeBytes, closeBytes
	default:
		return 0, 0
	}
}

// byteRange is a range of a content's bytes.
type byteRange struct {
	start  uint64
	length uint32
}

// lostRun is a run of hop sequences that did not come.
type lostRun struct {
	first uint32
	count uint16
}

// interest asks for bytes, reports losses and grants a rate.
type interest struct {
	head
	rateKbps uint32
	highest  uint32 // data sequence seen
	echoUs   uint32 // the newest DATA's sentUs plus how long it lay here
	ttl      uint8
	ranges   []byteRange
	losts    []lostRun
}

// size is how long the packet is; never shorter than an empty DATA, so that an answer is not larger than its question.
func (p *interest) size() int {
	return max(dataBytes, interestFixedBytes+len(p.ranges)*rangeBytes+len(p.losts)*lostBytes+tagBytes)
}

// put writes all but the tag, which takes the last 12 bytes of b.
func (p *interest) put(b []byte) {
	p.head.put(b)
	binary.BigEndian.PutUint32(b[16:], p.rateKbps)
	binary.BigEndian.PutUint32(b[20:], p.highest)
	binary.BigEndian.PutUint32(b[24:], p.echoUs)
	b[28], b[29], b[30], b[31] = p.ttl, byte(len(p.ranges)), byte(len(p.losts)), 0
	at := interestFixedBytes
	for _, r := range p.ranges {
		binary.BigEndian.PutUint64(b[at:], r.start)
		binary.BigEndian.PutUint32(b[at+8:], r.length)
		at += rangeBytes
	}
	for _, l := range p.losts {
		binary.BigEndian.PutUint32(b[at:], l.first)
		binary.BigEndian.PutUint16(b[at+4:], l.count)
		at += lostBytes
	}
	clear(b[at : len(b)-tagBytes])
}

// parse reads into p, whose slices it uses again.
func (p *interest) parse(h head, b []byte) error {
	ranges, losts := int(b[29]), int(b[30])
	if need := interestFixedBytes + ranges*rangeBytes + losts*lostBytes + tagBytes; need > len(b) || len(b) > max(need, dataBytes) {
		return errSize
	}
	p.head = h
	p.rateKbps = binary.BigEndian.Uint32(b[16:])
	p.highest = binary.BigEndian.Uint32(b[20:])
	p.echoUs = binary.BigEndian.Uint32(b[24:])
	p.ttl = b[28]
	p.ranges, p.losts = p.ranges[:0], p.losts[:0]
	at := interestFixedBytes
	for range ranges {
		p.ranges = append(p.ranges, byteRange{binary.BigEndian.Uint64(b[at:]), binary.BigEndian.Uint32(b[at+8:])})
		at += rangeBytes
	}
	for range losts {
		p.losts = append(p.losts, lostRun{binary.BigEndian.Uint32(b[at:]), binary.BigEndian.Uint16(b[at+4:])})
		at += lostBytes
	}
	return nil
}

// data carries a unit of the content, or nothing but acknowledgements.
type data struct {
	head
	offset          uint64
	waiting         uint16 // units of the flow that wait behind this one, at most 65535
	echoUs          uint32 // the newest INTEREST's sentUs plus how long it lay here
	interestHighest uint32 // sequence of interests seen
	interestBits    uint32 // bit k: highest-1-k was seen
	payload         []byte
}

// put writes all but the tag and the payload.
func (p *data) put(b []byte, length int) {
	p.head.put(b)
	binary.BigEndian.PutUint64(b[16:], p.offset)
	binary.BigEndian.PutUint16(b[24:], uint16(length))
	binary.BigEndian.PutUint16(b[26:], p.waiting)
	binary.BigEndian.PutUint32(b[28:], p.echoUs)
	binary.BigEndian.PutUint32(b[32:], p.interestHighest)
	binary.BigEndian.PutUint32(b[36:], p.interestBits)
}

func parseData(h head, b []byte) (data, error) {
	if int(binary.BigEndian.Uint16(b[24:])) != len(b)-dataBytes {
		return data{}, errSize
	}
	return data{
		head: h, offset: binary.BigEndian.Uint64(b[16:]), waiting: binary.BigEndian.Uint16(b[26:]),
		echoUs: binary.BigEndian.Uint32(b[28:]), interestHighest: binary.BigEndian.Uint32(b[32:]),
		interestBits: binary.BigEndian.Uint32(b[36:]), payload: b[dataBytes:],
	}, nil
}
