package netlab

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// controlPort is where the hub listens if nobody else does on all addresses: a link that is built again keeps its URL.
const controlPort = 7600

// forwarder hands control connections of the hosts on to the backend, byte for byte.
type forwarder struct {
	listener net.Listener
	network  string // of the backend: tcp or unix
	target   string
	running  sync.WaitGroup

	lock   sync.Mutex
	open   map[net.Conn]struct{} // to be cut on Close
	closed bool
}

func startForwarder(hub netip.Addr, control string) (*forwarder, error) {
	f := &forwarder{network: "tcp", target: control, open: map[net.Conn]struct{}{}}
	if path, isPath := strings.CutPrefix(control, "unix:"); isPath {
		f.network, f.target = "unix", path
	} else if _, _, err := net.SplitHostPort(control); err != nil {
		return nil, fmt.Errorf("control address %q is neither host:port nor unix:/path: %w", control, err)
	}
	listener, err := net.Listen("tcp", netip.AddrPortFrom(hub, controlPort).String())
	if errors.Is(err, unix.EADDRINUSE) {
		listener, err = net.Listen("tcp", netip.AddrPortFrom(hub, 0).String())
	}
	if err != nil {
		return nil, fmt.Errorf("listen for control traffic: %w", err)
	}
	f.listener = listener
	f.running.Go(f.accept)
	return f, nil
}

func (f *forwarder) address() net.Addr { return f.listener.Addr() }

func (f *forwarder) accept() {
	for {
		conn, err := f.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors: others may close meanwhile
			time.Sleep(100 * time.Millisecond)
			continue
		}
		f.running.Go(func() { f.relay(conn) })
	}
}

// relay joins a host's connection to the backend until both directions are closed. If the backend is down the host's
// connection is closed, which its agent takes for a backend that is down.
func (f *forwarder) relay(host net.Conn) {
	defer f.drop(host)
	if !f.keep(host) {
		return
	}
	backend, err := net.DialTimeout(f.network, f.target, 10*time.Second)
	if err != nil {
		return
	}
	defer f.drop(backend)
	if !f.keep(backend) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { copyHalf(backend, host) })
	both.Go(func() { copyHalf(host, backend) })
	both.Wait()
}

// keep remembers a connection, unless the forwarder is closed already.
func (f *forwarder) keep(conn net.Conn) bool {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.open[conn] = struct{}{}
	return !f.closed
}

func (f *forwarder) drop(conn net.Conn) {
	_ = conn.Close()
	f.lock.Lock()
	defer f.lock.Unlock()
	delete(f.open, conn)
}

// copyHalf passes one direction on, its end included. A broken direction ends the other: there is no one left to talk to.
func copyHalf(to, from net.Conn) {
	if _, err := io.Copy(to, from); err != nil {
		_ = to.Close()
		_ = from.Close()
		return
	}
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

// Close stops listening and cuts what is open.
func (f *forwarder) Close() error {
	err := f.listener.Close()
	f.cut()
	f.running.Wait()
	return err
}

func (f *forwarder) cut() {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.closed = true
	for conn := range f.open {
		_ = conn.Close()
	}
}
