// Package intcpsocket runs an INTCP node behind a UDP socket, and carries flows over it: as their sender, as their
// receiver, and as a relay between neighbours.
package intcpsocket

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"downlink/agents/internal/intcp"
	"downlink/agents/internal/socket"
)

const (
	// leastSleep is how much a node's moments may be late, so that packets leave several at a time: a rate's bucket holds more.
	leastSleep = 200 * time.Microsecond
	// farewell is how long a home goes on after its run: what tells the neighbours is sent three times.
	farewell = 60 * time.Millisecond
	// longestSleep bounds the wait of a node that wants nothing.
	longestSleep = time.Minute
)

// Plan says what a home is for: one run.
type Plan struct {
	// Address is where to listen, with port 0 for one that the kernel picks.
	Address string
	Run     uint64
	Options intcp.Options
	Policy  intcp.Policy
	// Serves are the hops on which this node answers.
	Serves []intcp.Hop
	// Asks: Ask will name a neighbour upstream.
	Asks bool
}

// Home is a node behind a socket.
type Home struct {
	run   uint64
	conn  *net.UDPConn
	began time.Time
	ended chan struct{}

	mu        sync.Mutex // of all below
	node      *intcp.Node
	batch     *socket.Batch
	out       intcp.Outbox
	addresses map[intcp.Address]*net.UDPAddr
}

// Open listens and lets the run begin. Nothing is sent before Ask.
func Open(plan Plan) (*Home, error) {
	node, err := newNode(plan)
	if err != nil {
		return nil, err
	}
	packets, err := (&net.ListenConfig{}).ListenPacket(context.Background(), "udp", plan.Address)
	if err != nil {
		return nil, fmt.Errorf("open the UDP port: %w", err)
	}
	conn, isUDP := packets.(*net.UDPConn)
	if !isUDP {
		return nil, errors.Join(fmt.Errorf("%s is not UDP", plan.Address), packets.Close())
	}
	batch, err := socket.NewBatch(conn)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	h := &Home{
		// A node's clock begins after 0, which means never.
		run: plan.Run, conn: conn, began: time.Now().Add(-time.Second), ended: make(chan struct{}),
		node: node, batch: batch, addresses: map[intcp.Address]*net.UDPAddr{},
	}
	h.Do(func(time.Duration, *intcp.Node) {})
	go h.serve()
	return h, nil
}

func newNode(plan Plan) (*intcp.Node, error) {
	var random [20]byte
	_, _ = rand.Read(random[:]) // never fails (crypto/rand)
	node := intcp.New(intcp.Config{Secret: [16]byte(random[:16]), Salt: binary.NativeEndian.Uint32(random[16:]), Policy: plan.Policy})
	if err := node.Begin(plan.Run, plan.Options); err != nil {
		return nil, err
	}
	if plan.Asks {
		node.Expect(plan.Run)
	}
	for _, hop := range plan.Serves {
		if err := node.Serve(hop); err != nil {
			return nil, err
		}
	}
	return node, nil
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

// Local is the socket's address.
func (h *Home) Local() netip.AddrPort {
	address := h.conn.LocalAddr().(*net.UDPAddr).AddrPort() //nolint:forcetypeassert // a UDP socket has no other
	return netip.AddrPortFrom(address.Addr().Unmap(), address.Port())
}

// now is the node's clock.
func (h *Home) now() time.Duration { return time.Since(h.began) }

// At is a moment of the node's clock; the zero time for 0.
func (h *Home) At(moment time.Duration) time.Time {
	if moment == 0 {
		return time.Time{}
	}
	return h.began.Add(moment)
}

// Do calls a function with the node, which nobody else uses meanwhile, and then does what has become due.
func (h *Home) Do(act func(now time.Duration, node *intcp.Node)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	act(now, h.node)
	wake := h.node.Step(now, intcp.Address{}, nil, &h.out)
	h.leave(now, wake)
}

// leave sends what the node gave, and sets the moment at which the socket's wait ends. Whoever calls holds the lock.
func (h *Home) leave(now, wake time.Duration) {
	for i := range h.out.Datagrams {
		h.batch.Add(h.address(h.out.Datagrams[i].To), h.out.Datagrams[i].Bytes)
	}
	_ = h.batch.Flush() // a closed socket ends the wait as well
	h.out.Reset()
	sleep := min(max(wake-now, leastSleep), longestSleep)
	_ = h.conn.SetReadDeadline(h.began.Add(now + sleep))
}

// mostAddresses bounds what strangers can have remembered.
const mostAddresses = 1024

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

// serve ends when the socket is closed.
func (h *Home) serve() {
	defer close(h.ended)
	for {
		err := h.batch.Wait()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		h.step()
	}
}

func (h *Home) step() {
	h.mu.Lock()
	defer h.mu.Unlock()
	now, wake := h.now(), time.Duration(0)
	h.batch.Each(func(from netip.AddrPort, datagram []byte) {
		wake = h.node.Step(now, AddressOf(from), datagram, &h.out)
	})
	if wake == 0 {
		wake = h.node.Step(now, intcp.Address{}, nil, &h.out)
	}
	h.leave(now, wake)
}

// Ask names the neighbour upstream and tries to reach it.
func (h *Home) Ask(hop intcp.Hop) (err error) {
	h.Do(func(_ time.Duration, node *intcp.Node) {
		if err = node.Ask(hop); err == nil {
			err = node.Greet(h.run)
		}
	})
	return err
}

// Publish makes this node the origin of a content, nothing of which is given before its flow's moment.
func (h *Home) Publish(content intcp.Content, stream intcp.Stream) (err error) {
	h.Do(func(_ time.Duration, node *intcp.Node) { err = node.Publish(content, stream, 0) })
	return err
}

// Close ends the run here, tells the neighbours, and closes the socket.
func (h *Home) Close() error {
	h.Do(func(_ time.Duration, node *intcp.Node) { node.End(h.run) })
	time.Sleep(farewell)
	err := h.conn.Close()
	<-h.ended
	return err
}
