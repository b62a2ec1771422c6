package transfer

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"
)

// A probe flow is a light echo over UDP beside the data: its round-trip times and losses do not come from TCP.
//
// The receiver shows its ticket on the data port as for any flow. The sender answers with a line that holds a random
// key, and from then on hears, on the UDP port of the same number, datagrams with this key alone. The connection stays
// open and silent: its end is the flow's end.
const (
	// ProbeBytes is the payload of a probe: 92 bytes with its headers, 37 kb/s at the shortest interval.
	ProbeBytes = 64
	// LeastProbeInterval and MostProbeInterval bound how far apart probes are sent.
	LeastProbeInterval = 20 * time.Millisecond
	MostProbeInterval  = time.Second

	probePrefix = "DLP1 "
	keyBytes    = 16
	numberAt    = keyBytes
	heldAt      = numberAt + 8
)

// greeting is the number of the datagrams with which a receiver shows its address; probes count from 1.
const greeting = 0

// Probe is one probe at its sender.
type Probe struct {
	// Number counts from 1.
	Number int64
	Sent   time.Time
	// RTT is without the time for which the receiver held the probe; negative when the probe or its answer was lost.
	RTT time.Duration
}

// IsLost tells whether nothing came back.
func (p Probe) IsLost() bool { return p.RTT < 0 }

// Arrival is one probe at its receiver.
type Arrival struct {
	Number int64
	At     time.Time
}

// Datagrams are what others do at a probe flow's UDP socket.
type Datagrams struct {
	// Open is called before the first datagram.
	Open func(conn *net.UDPConn) error
	// Read reads one datagram, and tells how long the socket has held it.
	Read func(conn *net.UDPConn, buffer []byte) (n int, from netip.AddrPort, waited time.Duration, err error)
}

// key admits datagrams to one probe flow.
type key [keyBytes]byte

func newKey() (k key) {
	_, _ = rand.Read(k[:]) // never fails (crypto/rand)
	return k
}

func (k key) line() string { return probePrefix + hex.EncodeToString(k[:]) + "\n" }

func parseKey(line []byte) (k key, err error) {
	text, isKey := strings.CutPrefix(strings.TrimSuffix(string(line), "\n"), probePrefix)
	decoded, err := hex.DecodeString(text)
	if !isKey || err != nil || len(decoded) != keyBytes {
		return k, fmt.Errorf("%w: the sender did not answer as a probe flow's does", ErrNoConnection)
	}
	return key(decoded), nil
}

// write makes buffer a datagram. held is how long its writer has held what it answers to.
func (k key) write(buffer []byte, number int64, held time.Duration) {
	copy(buffer, k[:])
	binary.LittleEndian.PutUint64(buffer[numberAt:], uint64(number))
	binary.LittleEndian.PutUint64(buffer[heldAt:], uint64(max(held, 0)))
}

// read takes a datagram apart; false means that it is not this flow's.
func (k key) read(datagram []byte) (number int64, held time.Duration, isOurs bool) {
	if len(datagram) != ProbeBytes || subtle.ConstantTimeCompare(datagram[:keyBytes], k[:]) != 1 {
		return 0, 0, false
	}
	number = int64(binary.LittleEndian.Uint64(datagram[numberAt:]))
	held = time.Duration(binary.LittleEndian.Uint64(datagram[heldAt:]))
	return number, held, number >= 0 && held >= 0
}

// ProbePlan is what both ends of a probe flow need to know beside its connection.
type ProbePlan struct {
	Interval  time.Duration
	Datagrams Datagrams
}

// watchUDP ends every call on the socket with the context.
func watchUDP(ctx context.Context, conn *net.UDPConn) (release func() bool) {
	return context.AfterFunc(ctx, func() { _ = conn.Close() })
}
