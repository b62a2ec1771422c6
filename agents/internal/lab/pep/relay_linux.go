package pep

import (
	"io"
	"net"
	"sync"
)

// join carries both directions until both have ended. The end of one direction is passed on when all before it was; a
// connection that breaks breaks the other one, as it would have without a proxy.
func join(a, b *net.TCPConn) {
	var both sync.WaitGroup
	both.Go(func() { carry(b, a) })
	both.Go(func() { carry(a, b) })
	both.Wait()
}

// carry keeps no more than the kernel's buffers hold: it moves on as fast as the slower side takes.
func carry(to, from *net.TCPConn) {
	_, err := io.Copy(to, from) // without copying: the library has the kernel splice the sockets
	if err == nil {
		err = to.CloseWrite()
	}
	if err != nil {
		reset(to)
		reset(from)
	}
}

// reset ends a connection at once, and tells its peer so.
func reset(conn *net.TCPConn) {
	_ = conn.SetLinger(0)
	_ = conn.Close()
}
