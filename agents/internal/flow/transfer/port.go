package transfer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"
)

const (
	// lineLimit and lineSilence bound what a stranger can make the data port hold.
	lineLimit   = 128
	lineSilence = 10 * time.Second
)

// PortPlan is what a data port needs to know.
type PortPlan struct {
	// Address is where to listen.
	Address string
	// Tickets are by flow number.
	Tickets map[int]string
	// PeerHosts are the receivers' addresses as far as they are known.
	PeerHosts []string
	// Prepare, unless nil, sets up the listening socket, from which connections inherit.
	Prepare func(network, address string, raw syscall.RawConn) error
}

// Port is the data port of one run. It sends nothing itself, and gives away only connections that showed a ticket.
type Port struct {
	listener *net.TCPListener
	handlers sync.WaitGroup
	tickets  map[int]*ticket

	mu        sync.Mutex
	strangers *strangers
	closed    bool
}

// OpenPort listens for the receivers of a run.
func OpenPort(plan PortPlan) (*Port, error) {
	p := &Port{tickets: map[int]*ticket{}, strangers: newStrangers(plan.PeerHosts)}
	for flow, secret := range plan.Tickets {
		if !IsTicket(secret) {
			return nil, fmt.Errorf("flow %d has no valid ticket", flow)
		}
		p.tickets[flow] = newTicket(secret)
	}
	config := net.ListenConfig{KeepAlive: -1, Control: plan.Prepare}
	listener, err := config.Listen(context.Background(), "tcp", plan.Address)
	if err != nil {
		return nil, fmt.Errorf("open data port: %w", err)
	}
	tcp, isTCP := listener.(*net.TCPListener)
	if !isTCP {
		return nil, errors.Join(fmt.Errorf("data port %s is not TCP", plan.Address), listener.Close())
	}
	p.listener = tcp
	p.handlers.Go(p.acceptAll)
	return p, nil
}

// Port returns the number of the port.
func (p *Port) Port() int { return p.listener.Addr().(*net.TCPAddr).Port } //nolint:forcetypeassert // a TCP listener has no other

// Accept waits for the connection that shows the flow's ticket. The caller owns it. With the wait ends the ticket.
func (p *Port) Accept(ctx context.Context, flow int) (*net.TCPConn, error) {
	known := p.tickets[flow]
	if known == nil {
		return nil, fmt.Errorf("flow %d has no ticket here", flow)
	}
	select {
	case conn := <-known.conn:
		return conn, nil
	case <-ctx.Done():
		p.expire(known)
		return nil, context.Cause(ctx)
	}
}

func (p *Port) expire(t *ticket) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t.used = true
	select {
	case conn := <-t.conn:
		_ = conn.Close()
	default:
	}
}

// Close makes every ticket invalid, and ends all connections that were not taken by Accept.
func (p *Port) Close() error {
	p.mu.Lock()
	p.closed = true
	p.strangers.closeAll()
	p.mu.Unlock()
	err := p.listener.Close()
	p.handlers.Wait()
	for _, t := range p.tickets {
		select {
		case conn := <-t.conn:
			_ = conn.Close()
		default:
		}
	}
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// acceptAll ends when the listener is closed.
func (p *Port) acceptAll() {
	for {
		conn, err := p.listener.AcceptTCP()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			// Out of descriptors, or a connection that died in the queue: neither is a reason to stop listening.
			time.Sleep(10 * time.Millisecond)
		case p.receive(conn):
			p.handlers.Go(func() { p.admit(conn) })
		}
	}
}

// receive gives a new connection a place among the strangers.
func (p *Port) receive(conn *net.TCPConn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = conn.Close()
		return false
	}
	p.strangers.add(conn)
	return true
}

// admit hands a connection with a valid ticket to its flow and closes every other one.
func (p *Port) admit(conn *net.TCPConn) {
	line, err := readLine(conn)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.strangers.remove(conn)
	if err != nil || p.closed || !p.redeem(line, conn) {
		_ = conn.Close()
	}
}

// redeem compares the line with every ticket, whatever the earlier comparisons gave: time tells nothing.
func (p *Port) redeem(line []byte, conn *net.TCPConn) bool {
	digest := sha256.Sum256(line)
	var match *ticket
	for _, t := range p.tickets {
		if t.matches(digest) {
			match = t
		}
	}
	if match == nil || match.used || conn.SetDeadline(time.Time{}) != nil {
		return false
	}
	match.used = true
	match.conn <- conn
	return true
}

// readLine reads up to the first line feed, and refuses anything that is longer, slower or more than one line.
func readLine(conn *net.TCPConn) ([]byte, error) {
	if err := conn.SetDeadline(time.Now().Add(lineSilence)); err != nil {
		return nil, err
	}
	buffer := make([]byte, lineLimit)
	length := 0
	for length < len(buffer) {
		n, err := conn.Read(buffer[length:])
		if err != nil {
			return nil, err
		}
		length += n
		if buffer[length-1] == '\n' {
			return buffer[:length], nil
		}
	}
	return nil, errors.New("line is too long")
}
