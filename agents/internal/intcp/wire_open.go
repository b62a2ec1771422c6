package intcp

import "encoding/binary"

// Name names a content within a run.
type Name [16]byte

type cookie [16]byte

// Reason says why a node refuses or closes.
type Reason uint16

const (
	ReasonDone       Reason = 1 + iota
	ReasonUnknownRun        // the run or the hop is not known here, or the tag is wrong
	ReasonTooManyFlows
	ReasonNoContent // nobody behind this node has the content
	ReasonBadContent
	ReasonEnded // the run has ended here
	ReasonMoved // another node has the place of the one that was asked: open again
)

func (r Reason) String() string {
	switch r {
	case ReasonDone:
		return "done"
	case ReasonUnknownRun:
		return "unknown_run"
	case ReasonTooManyFlows:
		return "too_many_flows"
	case ReasonNoContent:
		return "no_content"
	case ReasonBadContent:
		return "bad_content"
	case ReasonEnded:
		return "ended"
	case ReasonMoved:
		return "moved"
	default:
		return "unknown_reason"
	}
}

// open asks a neighbour for a flow.
type open struct {
	head
	run       uint64
	hop       uint16
	unitBytes uint16
	salt      uint32
	cookie    cookie
	name      Name
	length    uint64 // of the content, in bytes
}

// put writes all but the tag; the packet is padded, so that no answer is larger than it.
func (p *open) put(b []byte) {
	p.head.put(b)
	binary.BigEndian.PutUint64(b[16:], p.run)
	binary.BigEndian.PutUint16(b[24:], p.hop)
	binary.BigEndian.PutUint16(b[26:], p.unitBytes)
	binary.BigEndian.PutUint32(b[28:], p.salt)
	copy(b[32:], p.cookie[:])
	copy(b[48:], p.name[:])
	binary.BigEndian.PutUint64(b[64:], p.length)
	clear(b[72 : OpenBytes-tagBytes])
}

func parseOpen(h head, b []byte) (p open) {
	p.head = h
	p.run = binary.BigEndian.Uint64(b[16:])
	p.hop = binary.BigEndian.Uint16(b[24:])
	p.unitBytes = binary.BigEndian.Uint16(b[26:])
	p.salt = binary.BigEndian.Uint32(b[28:])
	copy(p.cookie[:], b[32:])
	copy(p.name[:], b[48:])
	p.length = binary.BigEndian.Uint64(b[64:])
	return p
}

// opened answers an OPEN: with a cookie to show, or with a flow.
type opened struct {
	head
	salt   uint32 // of the responder's packets
	yours  uint32 // the salt of the OPEN
	echoUs uint32 // the OPEN's sentUs
	cookie cookie
}

func (p *opened) put(b []byte) {
	p.head.put(b)
	binary.BigEndian.PutUint32(b[16:], p.salt)
	binary.BigEndian.PutUint32(b[20:], p.yours)
	binary.BigEndian.PutUint32(b[24:], p.echoUs)
	clear(b[28:32])
	copy(b[32:], p.cookie[:])
}

func parseOpened(h head, b []byte) (p opened) {
	p.head = h
	p.salt = binary.BigEndian.Uint32(b[16:])
	p.yours = binary.BigEndian.Uint32(b[20:])
	p.echoUs = binary.BigEndian.Uint32(b[24:])
	copy(p.cookie[:], b[32:])
	return p
}

// refused says no. Its tag is zero where the node does not know the run.
type refused struct {
	head
	reason Reason
	salt   uint32
}

func (p *refused) put(b []byte) {
	p.head.put(b)
	binary.BigEndian.PutUint16(b[16:], uint16(p.reason))
	clear(b[18:20])
	binary.BigEndian.PutUint32(b[20:], p.salt)
}

func parseRefused(h head, b []byte) refused {
	return refused{h, Reason(binary.BigEndian.Uint16(b[16:])), binary.BigEndian.Uint32(b[20:])}
}

// closing ends a flow, from either side.
type closing struct {
	head
	reason              Reason
	units, again, bytes uint64 // what the flow carried on this hop, and how much of it again
}

func (p *closing) put(b []byte) {
	p.head.put(b)
	binary.BigEndian.PutUint16(b[16:], uint16(p.reason))
	clear(b[18:20])
	binary.BigEndian.PutUint64(b[20:], p.units)
	binary.BigEndian.PutUint64(b[28:], p.again)
	binary.BigEndian.PutUint64(b[36:], p.bytes)
}

func parseClosing(h head, b []byte) closing {
	return closing{
		h, Reason(binary.BigEndian.Uint16(b[16:])),
		binary.BigEndian.Uint64(b[20:]), binary.BigEndian.Uint64(b[28:]), binary.BigEndian.Uint64(b[36:]),
	}
}
