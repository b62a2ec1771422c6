package emulate

import "encoding/binary"

const (
	protocolTCP = 6
	flagACK     = 0x10
	optionEnd   = 0
	optionPad   = 1
	optionSACK  = 5
)

// pureAck is a TCP acknowledgement that says nothing else: no data, no other flag, no selective acknowledgement.
type pureAck struct {
	flow   string // addresses and ports
	number uint32
}

// makesNeedless says whether an earlier acknowledgement of the same flow says nothing that this one does not. One that
// acknowledges no more than the earlier one is a duplicate, which the sender must see.
func (a pureAck) makesNeedless(earlier pureAck) bool {
	return a.flow == earlier.flow && int32(a.number-earlier.number) > 0
}

// readPureAck reads an IP packet.
func readPureAck(data []byte) (ack pureAck, isOne bool) {
	addresses, segment := splitIP(data)
	if len(segment) < 20 || segment[13] != flagACK {
		return pureAck{}, false
	}
	header := int(segment[12]>>4) * 4
	if header != len(segment) || hasSACK(segment[20:]) {
		return pureAck{}, false
	}
	return pureAck{string(addresses) + string(segment[:4]), binary.BigEndian.Uint32(segment[8:12])}, true
}

// splitIP returns the addresses and the TCP segment of a whole IP packet; nothing of any other.
func splitIP(data []byte) (addresses, segment []byte) {
	switch {
	case len(data) >= 20 && data[0]>>4 == 4 && data[9] == protocolTCP:
		header, total := int(data[0]&15)*4, int(binary.BigEndian.Uint16(data[2:4]))
		if isFragment := binary.BigEndian.Uint16(data[6:8])&0x3fff != 0; isFragment || header < 20 || total != len(data) || header > total {
			return nil, nil
		}
		return data[12:20], data[header:]
	case len(data) >= 40 && data[0]>>4 == 6 && data[6] == protocolTCP:
		return data[8:40], data[40:]
	default:
		return nil, nil
	}
}

func hasSACK(options []byte) bool {
	for len(options) > 0 && options[0] != optionEnd {
		switch {
		case options[0] == optionSACK:
			return true
		case options[0] == optionPad:
			options = options[1:]
		case len(options) < 2 || options[1] < 2 || int(options[1]) > len(options):
			return true // not readable: it stays
		default:
			options = options[options[1]:]
		}
	}
	return false
}
