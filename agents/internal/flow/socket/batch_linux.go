package socket

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

const (
	// batchMessages is how many messages a system call takes or brings.
	batchMessages = 16
	// joinedBytes is what the kernel joins datagrams of one size to, or takes so joined (UDP_GRO, UDP_SEGMENT).
	joinedBytes    = 1<<16 - 1
	mostJoined     = 44
	mostJoinedSize = 65_000
	// socketBytes is asked for as the socket's buffers: some milliseconds of 10 Gb/s.
	socketBytes = 8 << 20
	// controlBytes holds a number of 4 bytes and a moment.
	controlBytes = 24 + 32
	// segmentBytes holds a number of 2 bytes.
	segmentBytes = 24
)

// Batch reads and writes datagrams of a UDP socket, many with one system call. It serves one goroutine.
type Batch struct {
	conn    *net.UDPConn
	packets *ipv4.PacketConn // of either family: what it adds to the socket is the batches
	in      []ipv4.Message
	came    int
	joins   bool

	groups []group
	open   map[*net.UDPAddr]int // the group that still takes datagrams
	out    []ipv4.Message
}

// group is datagrams of one size for one address; the last one may be shorter.
type group struct {
	to      *net.UDPAddr
	size    int
	bytes   int
	buffers [][]byte
	control [segmentBytes]byte
	isFull  bool
}

// NewBatch prepares a socket; where the kernel cannot join datagrams they go one by one.
func NewBatch(conn *net.UDPConn) (*Batch, error) {
	b := &Batch{conn: conn, packets: ipv4.NewPacketConn(conn), open: map[*net.UDPAddr]int{}}
	if err := b.setUp(); err != nil {
		return nil, err
	}
	size := 2048
	if b.joins {
		size = joinedBytes
	}
	b.in = make([]ipv4.Message, batchMessages)
	for i := range b.in {
		b.in[i] = ipv4.Message{Buffers: [][]byte{make([]byte, size)}, OOB: make([]byte, controlBytes)}
	}
	return b, nil
}

// setUp asks for large buffers, as large as the host lets this process have them, and for joined datagrams.
func (b *Batch) setUp() error {
	return onRaw(b.conn, func(fd int) error {
		for _, options := range [][2]int{{unix.SO_RCVBUF, unix.SO_RCVBUFFORCE}, {unix.SO_SNDBUF, unix.SO_SNDBUFFORCE}} {
			if unix.SetsockoptInt(fd, unix.SOL_SOCKET, options[1], socketBytes) != nil { // without privilege
				_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, options[0], socketBytes)
			}
		}
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) // without moments, a busy process looks like a queue
		b.joins = unix.SetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_GRO, 1) == nil
		return nil
	})
}

// ReceiveBytes is how much may wait in the socket, as the kernel counts it: with its own overhead.
func (b *Batch) ReceiveBytes() (bytes int, err error) {
	err = onRaw(b.conn, func(fd int) (err error) {
		bytes, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
		return err
	})
	return bytes, err
}

// HasMore tells whether datagrams wait in the socket; any goroutine may ask.
func (b *Batch) HasMore() bool {
	bytes := 0
	err := onRaw(b.conn, func(fd int) (err error) {
		bytes, err = unix.IoctlGetInt(fd, unix.SIOCINQ) // of the first one: none is empty here
		return err
	})
	return err == nil && bytes > 0
}

func onRaw(conn *net.UDPConn, act func(fd int) error) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return fmt.Errorf("reach socket: %w", err)
	}
	var acted error
	if err := raw.Control(func(fd uintptr) { acted = act(int(fd)) }); err != nil {
		return fmt.Errorf("reach socket: %w", err)
	}
	return acted
}

// JoinsDatagrams tells whether the kernel takes and brings datagrams joined, which saves most of their cost.
func (b *Batch) JoinsDatagrams() bool { return b.joins }

// Wait returns when datagrams have come, and with an error at the socket's deadline or end.
func (b *Batch) Wait() (err error) {
	for i := range b.in {
		b.in[i].OOB = b.in[i].OOB[:controlBytes]
	}
	b.came, err = b.packets.ReadBatch(b.in, 0)
	if err != nil {
		b.came = 0
	}
	return err
}

// Each gives what the last Wait brought, and how long the kernel has held it. The bytes are valid until the next one.
func (b *Batch) Each(take func(from netip.AddrPort, datagram []byte, waited time.Duration)) {
	now := time.Now()
	for i := range b.in[:b.came] {
		message := &b.in[i]
		from, isUDP := message.Addr.(*net.UDPAddr)
		if !isUDP || message.Flags&unix.MSG_TRUNC != 0 {
			continue
		}
		address, bytes := from.AddrPort(), message.Buffers[0][:message.N]
		size, waited := readControl(message.OOB[:message.NN], now)
		for size > 0 && len(bytes) > size {
			take(address, bytes[:size], waited)
			bytes = bytes[size:]
		}
		take(address, bytes, waited)
	}
}

// readControl gives the size of each datagram in a message but for the last one, 0 where the message is one, and how long
// ago it came: 0 where the kernel does not say, or the clock was set meanwhile.
func readControl(control []byte, now time.Time) (joined int, waited time.Duration) {
	const headBytes = 16
	for len(control) >= headBytes {
		length := int(binary.NativeEndian.Uint64(control))
		if length < headBytes || length > len(control) {
			return joined, waited
		}
		level, kind, body := binary.NativeEndian.Uint32(control[8:]), binary.NativeEndian.Uint32(control[12:]), control[headBytes:length]
		switch {
		case level == unix.IPPROTO_UDP && kind == unix.UDP_GRO && len(body) >= 4:
			joined = int(binary.NativeEndian.Uint32(body))
		case level == unix.SOL_SOCKET && kind == unix.SCM_TIMESTAMPNS && len(body) >= 16:
			came := time.Unix(int64(binary.NativeEndian.Uint64(body)), int64(binary.NativeEndian.Uint64(body[8:])))
			if past := now.Sub(came); past > 0 && past < time.Second {
				waited = past
			}
		}
		control = control[min(len(control), (length+7)&^7):]
	}
	return joined, waited
}

// Add puts a datagram, whose bytes must stay until the next Flush, behind those that wait. Datagrams for one address
// keep their order. An address is known by its pointer.
func (b *Batch) Add(to *net.UDPAddr, datagram []byte) {
	at, isOpen := b.open[to]
	if isOpen && b.groups[at].takes(datagram) {
		b.groups[at].add(datagram)
		return
	}
	if len(b.groups) < cap(b.groups) {
		b.groups = b.groups[:len(b.groups)+1]
	} else {
		b.groups = append(b.groups, group{})
	}
	g := &b.groups[len(b.groups)-1]
	g.to, g.size, g.bytes, g.buffers, g.isFull = to, len(datagram), 0, g.buffers[:0], !b.joins
	g.add(datagram)
	b.open[to] = len(b.groups) - 1
}

func (g *group) takes(datagram []byte) bool {
	return !g.isFull && len(datagram) <= g.size && len(g.buffers) < mostJoined && g.bytes+len(datagram) <= mostJoinedSize
}

func (g *group) add(datagram []byte) {
	g.buffers = append(g.buffers, datagram)
	g.bytes += len(datagram)
	g.isFull = g.isFull || len(datagram) < g.size
}

func (g *group) message() ipv4.Message {
	message := ipv4.Message{Buffers: g.buffers, Addr: g.to}
	if len(g.buffers) > 1 {
		binary.NativeEndian.PutUint64(g.control[0:], 18)
		binary.NativeEndian.PutUint32(g.control[8:], unix.IPPROTO_UDP)
		binary.NativeEndian.PutUint32(g.control[12:], unix.UDP_SEGMENT)
		binary.NativeEndian.PutUint16(g.control[16:], uint16(g.size))
		message.OOB = g.control[:]
	}
	return message
}

// Flush sends what waits. What the kernel refuses is lost, as on a link; only a closed socket is an error.
func (b *Batch) Flush() error {
	b.out = b.out[:0]
	for i := range b.groups {
		b.out = append(b.out, b.groups[i].message())
	}
	left := b.out
	for len(left) > 0 {
		sent, err := b.packets.WriteBatch(left[:min(len(left), batchMessages)], 0)
		if errors.Is(err, net.ErrClosed) {
			return err
		}
		if err != nil {
			sent = max(sent, 0)
			b.sendSingly(left[sent], err)
			sent++
		}
		left = left[sent:]
	}
	b.groups = b.groups[:0]
	clear(b.open)
	return nil
}

// sendSingly sends the datagrams of a message that was refused, where the device cannot take it apart (EIO).
func (b *Batch) sendSingly(message ipv4.Message, why error) {
	if len(message.Buffers) < 2 {
		return
	}
	if errors.Is(why, unix.EIO) || errors.Is(why, unix.EINVAL) {
		b.joins = false
	}
	to, _ := message.Addr.(*net.UDPAddr)
	for _, datagram := range message.Buffers {
		_, _ = b.conn.WriteToUDP(datagram, to)
	}
}
