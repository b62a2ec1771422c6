package acks

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"time"
	"unsafe"

	"downlink/agents/internal/bpf"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"
)

// Ack is the state of a socket at one acknowledgement.
type Ack = bpf.ProbeAckRecord

// Tally counts what happened to a socket's records in the kernel.
type Tally struct {
	Acks    uint64 // acknowledgements seen
	Dropped uint64 // records that the ring had no room for
}

// Which program wrote a record: its Source.
const (
	FromControl = 1 // a control of ours, at the acknowledgement itself
	FromProbe   = 2 // the probe, just before the acknowledgement is processed; see settler
	FromTimer   = 3 // the probe, when the retransmission timer has marked losses and cut the windows
)

const (
	minRingBytes  = 64 << 10
	maxRingBytes  = 16 << 20
	drainInterval = 20 * time.Millisecond
	// A receiver acknowledges every second segment at most; half a second is far longer than the reader ever pauses.
	ringSeconds  = 0.5
	segmentBytes = 1448
	recordBytes  = int(unsafe.Sizeof(Ack{})) + ringHeader
	ringHeader   = 8
	bytesPerAck  = 2 * segmentBytes
	bitsPerByte  = 8
)

// RingBytes is the size of a ring that holds half a second of records of a flow at this rate.
func RingBytes(rateBps int64) int {
	needed := int(float64(rateBps) / bitsPerByte / bytesPerAck * float64(recordBytes) * ringSeconds)
	size := 1 << bits.Len(uint(max(needed-1, 1)))
	return min(max(size, minRingBytes), maxRingBytes)
}

// Source is a loaded program that writes a record for every acknowledgement of watched sockets.
type Source interface {
	// Watch starts the records of one socket into a ring of its own. ringBytes as from RingBytes.
	Watch(cookie uint64, ringBytes int) (*Reader, error)
}

// Reader yields the records of one socket.
type Reader struct {
	cookie  uint64
	ring    *ebpf.Map
	reader  *ringbuf.Reader
	rings   *ebpf.Map
	tallies *ebpf.Map
}

// Watch has a loaded program write the records of a socket into a ring of its own. ringBytes as from RingBytes.
func Watch(objects *ebpf.Collection, cookie uint64, ringBytes int) (*Reader, error) {
	ring, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.RingBuf, Name: "acks", MaxEntries: uint32(ringBytes)})
	if err != nil {
		return nil, fmt.Errorf("make a ring of %d bytes: %w", ringBytes, err)
	}
	reader, err := ringbuf.NewReader(ring)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read a ring: %w", err), ring.Close())
	}
	r := &Reader{
		cookie: cookie, ring: ring, reader: reader,
		rings: objects.Maps[bpf.ProbeMapRings], tallies: objects.Maps[bpf.ProbeMapTallies],
	}
	if err := r.announce(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (r *Reader) announce() error {
	if err := r.rings.Put(r.cookie, r.ring); err != nil {
		return fmt.Errorf("watch socket %d: %w", r.cookie, err)
	}
	if err := r.tallies.Put(r.cookie, bpf.ProbeAckTally{}); err != nil {
		return fmt.Errorf("watch socket %d: %w", r.cookie, err)
	}
	return nil
}

// Run hands over every record in order until ctx is done, and then what is still in the ring. The record is only
// valid during the call.
func (r *Reader) Run(ctx context.Context, each func(*Ack)) error {
	var settling settler
	return r.drain(ctx, func(ack *Ack) {
		if ack.Source == FromControl {
			each(ack)
		} else {
			settling.settle(ack, each)
		}
	})
}

func (r *Reader) drain(ctx context.Context, each func(*Ack)) error {
	var record ringbuf.Record
	r.reader.SetDeadline(time.Now().Add(drainInterval))
	for isLast := false; ; {
		err := r.reader.ReadInto(&record)
		switch {
		case err == nil && len(record.RawSample) >= int(unsafe.Sizeof(Ack{})):
			each((*Ack)(unsafe.Pointer(&record.RawSample[0])))
		case errors.Is(err, os.ErrDeadlineExceeded) && isLast:
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			isLast = ctx.Err() != nil
			r.reader.SetDeadline(time.Now().Add(drainInterval))
		case err != nil:
			return fmt.Errorf("read records of socket %d: %w", r.cookie, err)
		default:
			return fmt.Errorf("read records of socket %d: a record of %d bytes", r.cookie, len(record.RawSample))
		}
	}
}

// Tally reads the kernel's count of records; final once the socket is closed.
func (r *Reader) Tally() (Tally, error) {
	var raw bpf.ProbeAckTally
	if err := r.tallies.Lookup(r.cookie, &raw); err != nil {
		return Tally{}, fmt.Errorf("count records of socket %d: %w", r.cookie, err)
	}
	return Tally{Acks: raw.Acks, Dropped: raw.Dropped}, nil
}

// Close stops the records of the socket.
func (r *Reader) Close() error {
	for _, of := range []*ebpf.Map{r.rings, r.tallies} {
		if err := of.Delete(r.cookie); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
			return fmt.Errorf("stop watching socket %d: %w", r.cookie, err)
		}
	}
	return errors.Join(r.reader.Close(), r.ring.Close())
}
