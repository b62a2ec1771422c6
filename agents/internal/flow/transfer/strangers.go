package transfer

import (
	"net"
	"net/netip"
	"slices"
)

// strangerLimit is how many connections may be without an accepted ticket at one time.
const strangerLimit = 64

// strangers are the connections that have not shown a ticket yet, in the order of their arrival.
//
// A crowd of them cannot keep the receiver out: the newest always finds a place, at the cost of the oldest. Those from
// a receiver's own address go last. They are not the only ones let in: behind a NAT a receiver comes from another
// address than the one that it knows as its own.
type strangers struct {
	peers []netip.Addr
	conns []*net.TCPConn
}

func newStrangers(peerHosts []string) *strangers {
	s := &strangers{}
	for _, host := range peerHosts {
		if address, err := netip.ParseAddr(host); err == nil {
			s.peers = append(s.peers, address.Unmap())
		}
	}
	return s
}

// add closes another connection where there is no place left.
func (s *strangers) add(conn *net.TCPConn) {
	if len(s.conns) >= strangerLimit {
		_ = s.conns[s.leastWanted()].Close()
		s.conns = slices.Delete(s.conns, s.leastWanted(), s.leastWanted()+1)
	}
	s.conns = append(s.conns, conn)
}

func (s *strangers) leastWanted() int {
	oldest := slices.IndexFunc(s.conns, func(conn *net.TCPConn) bool { return !s.isPeer(conn) })
	return max(oldest, 0)
}

func (s *strangers) isPeer(conn *net.TCPConn) bool {
	address, isTCP := conn.RemoteAddr().(*net.TCPAddr)
	return isTCP && slices.Contains(s.peers, address.AddrPort().Addr().Unmap())
}

func (s *strangers) remove(conn *net.TCPConn) {
	s.conns = slices.DeleteFunc(s.conns, func(other *net.TCPConn) bool { return other == conn })
}

func (s *strangers) closeAll() {
	for _, conn := range s.conns {
		_ = conn.Close()
	}
}
