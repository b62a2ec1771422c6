package pep

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Segment is how the proxy's connections on one side behave.
type Segment struct {
	// Control is the congestion control of what the proxy sends there.
	Control string
}

// Options say what a proxy does.
type Options struct {
	// Within calls a function on a thread in the network namespace whose connections are to be proxied.
	Within func(call func() error) error
	// IsSatellite tells the addresses beyond the satellite from the others.
	IsSatellite            func(address netip.Addr) bool
	Satellite, Terrestrial Segment
	// MostConnections bounds the connections, counted from end to end. Further ones are reset.
	MostConnections int
	// DeadAfter is how long a peer may leave data or probes unanswered before both of its connections are reset.
	DeadAfter time.Duration
}

// Proxy is a proxy at work.
type Proxy struct {
	options   Options
	listeners []net.Listener
	undo      []func() error
	proxied   atomic.Uint64
	refused   atomic.Uint64
	failed    atomic.Uint64
	running   sync.WaitGroup
	stop      context.CancelFunc
	stopped   context.Context

	lock  sync.Mutex
	pairs int                       // connections from end to end
	open  map[*net.TCPConn]struct{} // both halves of each
}

// dialWithin bounds how long the far end has to answer.
const dialWithin = 30 * time.Second

// Start listens on the namespace's loopback and diverts to it every TCP connection that would be forwarded.
func Start(options Options) (p *Proxy, err error) {
	p = &Proxy{options: options, open: map[*net.TCPConn]struct{}{}}
	p.stopped, p.stop = context.WithCancel(context.Background())
	if err := options.Within(p.listen); err != nil {
		return nil, errors.Join(fmt.Errorf("start the proxy: %w", err), p.Close())
	}
	for _, listener := range p.listeners {
		p.running.Go(func() { p.accept(listener) })
	}
	return p, nil
}

func (p *Proxy) listen() error {
	for _, control := range []string{p.options.Satellite.Control, p.options.Terrestrial.Control} {
		if err := checkControl(control); err != nil {
			return err
		}
	}
	ports := map[int]uint16{}
	for family, address := range map[int]string{unix.AF_INET: "127.0.0.1:0", unix.AF_INET6: "[::1]:0"} {
		config := net.ListenConfig{Control: transparent}
		config.SetMultipathTCP(false) // its listener would take the diverted connections for its own kind
		listener, err := config.Listen(context.Background(), "tcp", address)
		if err != nil {
			return fmt.Errorf("listen for diverted connections: %w", err)
		}
		p.listeners = append(p.listeners, listener)
		p.undo = append(p.undo, listener.Close)
		ports[family] = netip.MustParseAddrPort(listener.Addr().String()).Port()
	}
	undo, err := divert(ports)
	p.undo = append(p.undo, func() error { return p.options.Within(undo) })
	return err
}

// Proxied counts the connections that were joined from end to end.
func (p *Proxy) Proxied() uint64 { return p.proxied.Load() }

// Refused counts the connections that were reset because there were too many.
func (p *Proxy) Refused() uint64 { return p.refused.Load() }

// Failed counts the connections whose far end did not answer or refused.
func (p *Proxy) Failed() uint64 { return p.failed.Load() }

// Close ends the diversion and resets what is open.
func (p *Proxy) Close() error {
	p.stop()
	var errs []error
	for _, undo := range slices.Backward(p.undo) {
		errs = append(errs, undo())
	}
	p.undo = nil
	p.lock.Lock()
	for conn := range p.open {
		reset(conn)
	}
	p.lock.Unlock()
	p.running.Wait()
	return errors.Join(errs...)
}

func (p *Proxy) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		near, isTCP := conn.(*net.TCPConn)
		if err != nil || !isTCP { // out of descriptors: others may close meanwhile
			select {
			case <-p.stopped.Done():
			case <-time.After(100 * time.Millisecond):
			}
			continue
		}
		if !p.admit() {
			p.refused.Add(1)
			reset(near)
			continue
		}
		p.running.Go(func() {
			defer p.dismiss()
			p.serve(near)
		})
	}
}

func (p *Proxy) admit() bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.pairs >= p.options.MostConnections {
		return false
	}
	p.pairs++
	return true
}

func (p *Proxy) dismiss() {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.pairs--
}

// keep remembers a connection, so that Close can reset it; false once that has begun.
func (p *Proxy) keep(conn *net.TCPConn) bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.open[conn] = struct{}{}
	return p.stopped.Err() == nil
}

func (p *Proxy) drop(conn *net.TCPConn) {
	_ = conn.Close()
	p.lock.Lock()
	defer p.lock.Unlock()
	delete(p.open, conn)
}

// serve joins a connection that came in to one of the proxy's own, which looks to the far end as if the near end had made it.
func (p *Proxy) serve(near *net.TCPConn) {
	defer p.drop(near)
	if !p.keep(near) {
		reset(near)
		return
	}
	far, err := p.dial(near)
	if err != nil {
		p.failed.Add(1)
		reset(near)
		return
	}
	defer p.drop(far)
	if !p.keep(far) {
		reset(near)
		reset(far)
		return
	}
	p.proxied.Add(1)
	join(near, far)
}

func (p *Proxy) dial(near *net.TCPConn) (far *net.TCPConn, err error) {
	client, server := near.RemoteAddr(), near.LocalAddr()
	if err := p.prepare(near, client); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(p.stopped, dialWithin)
	defer cancel()
	err = p.options.Within(func() error {
		dialer := net.Dialer{LocalAddr: client, Control: transparent}
		dialer.SetMultipathTCP(false)
		conn, err := dialer.DialContext(ctx, "tcp", server.String())
		if err != nil {
			return fmt.Errorf("reach %s for %s: %w", server, client, err)
		}
		far, _ = conn.(*net.TCPConn)
		return p.prepare(far, server)
	})
	if err != nil && far != nil {
		_ = far.Close()
	}
	return far, err
}

// prepare gives a connection the control of its peer's side, and an end when the peer is dead.
func (p *Proxy) prepare(conn *net.TCPConn, peer net.Addr) error {
	address, err := netip.ParseAddrPort(peer.String())
	if err != nil {
		return fmt.Errorf("read a peer's address: %w", err)
	}
	segment := p.options.Terrestrial
	if p.options.IsSatellite(address.Addr()) {
		segment = p.options.Satellite
	}
	probe := max(time.Second, p.options.DeadAfter/4)
	if err := conn.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: probe, Interval: probe, Count: 3}); err != nil {
		return fmt.Errorf("probe a peer: %w", err)
	}
	return onSocket(conn, func(fd int) error {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(p.options.DeadAfter.Milliseconds())); err != nil {
			return fmt.Errorf("limit a peer's silence: %w", err)
		}
		if err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, segment.Control); err != nil {
			return fmt.Errorf("use %s: %w", segment.Control, err)
		}
		return nil
	})
}
