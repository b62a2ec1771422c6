package transfer

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"
)

const (
	ticketPrefix = "DL1 "
	// lineLimit and lineSilence bound what a stranger can make the data port hold.
	lineLimit   = 128
	lineSilence = 10 * time.Second
	// strangerLimit is how many connections may be without an accepted ticket at one time.
	strangerLimit = 64
)

func ticketLine(ticket string) string { return ticketPrefix + ticket + "\n" }

// Port is the data port of one run. It sends nothing itself, and gives away only connections that showed a ticket.
type Port struct {
	listener  *net.TCPListener
	strangers chan struct{}
	handlers  sync.WaitGroup

	mu      sync.Mutex
	tickets map[int]*ticket
	open    map[*net.TCPConn]struct{}
	closed  bool
}

// ticket admits one connection to one flow.
type ticket struct {
	digest [sha256.Size]byte
	used   bool
	conn   chan *net.TCPConn
}

// OpenPort listens on an address for the receivers of a run; tickets are by flow number. prepare, unless nil, sets up
// the listening socket, from which connections inherit.
func OpenPort(address string, tickets map[int]string, prepare func(network, address string, raw syscall.RawConn) error) (*Port, error) {
	config := net.ListenConfig{KeepAlive: -1, Control: prepare}
	listener, err := config.Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("open data port: %w", err)
	}
	tcp, isTCP := listener.(*net.TCPListener)
	if !isTCP {
		return nil, errors.Join(fmt.Errorf("data port %s is not TCP", address), listener.Close())
	}
	p := &Port{
		listener: tcp, strangers: make(chan struct{}, strangerLimit),
		tickets: map[int]*ticket{}, open: map[*net.TCPConn]struct{}{},
	}
	for flow, secret := range tickets {
		p.tickets[flow] = &ticket{digest: sha256.Sum256([]byte(ticketLine(secret))), conn: make(chan *net.TCPConn, 1)}
	}
	p.handlers.Go(p.acceptAll)
	return p, nil
}

// Port returns the number of the port.
func (p *Port) Port() int { return p.listener.Addr().(*net.TCPAddr).Port } //nolint:forcetypeassert // a TCP listener has no other

// Accept waits for the connection that shows the flow's ticket. The caller owns it.
func (p *Port) Accept(ctx context.Context, flow int) (*net.TCPConn, error) {
	known := p.tickets[flow]
	if known == nil {
		return nil, fmt.Errorf("flow %d has no ticket here", flow)
	}
	select {
	case conn := <-known.conn:
		return conn, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Close makes every ticket invalid, and ends all connections that were not taken by Accept.
func (p *Port) Close() error {
	p.mu.Lock()
	p.closed = true
	for conn := range p.open {
		_ = conn.Close()
	}
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
		p.strangers <- struct{}{}
		conn, err := p.listener.AcceptTCP()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// Out of descriptors, or a connection that died in the queue: neither is a reason to stop listening.
			<-p.strangers
			time.Sleep(10 * time.Millisecond)
			continue
		}
		p.handlers.Go(func() {
			defer func() { <-p.strangers }()
			p.admit(conn)
		})
	}
}

// admit hands a connection with a valid ticket to its flow and closes every other one.
func (p *Port) admit(conn *net.TCPConn) {
	if !p.track(conn) {
		return
	}
	defer p.untrack(conn)
	line, err := readLine(conn)
	if err != nil || !p.redeem(line, conn) {
		_ = conn.Close()
	}
}

func (p *Port) track(conn *net.TCPConn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = conn.Close()
		return false
	}
	p.open[conn] = struct{}{}
	return true
}

func (p *Port) untrack(conn *net.TCPConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, conn)
}

// redeem compares the line with every ticket, whatever the earlier comparisons gave: time tells nothing.
func (p *Port) redeem(line []byte, conn *net.TCPConn) bool {
	digest := sha256.Sum256(line)
	p.mu.Lock()
	defer p.mu.Unlock()
	var match *ticket
	for _, t := range p.tickets {
		if subtle.ConstantTimeCompare(digest[:], t.digest[:]) == 1 {
			match = t
		}
	}
	if match == nil || match.used || p.closed {
		return false
	}
	match.used = true
	delete(p.open, conn)
	_ = conn.SetDeadline(time.Time{})
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
