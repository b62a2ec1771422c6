package socket

import (
	"fmt"
	"net"
	"net/netip"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// StampArrivals lets the kernel note when each datagram came (SO_TIMESTAMPNS, Documentation/networking/timestamping.rst).
// A host's first such socket may get its first datagrams without one: the kernel turns stamping on a moment later.
func StampArrivals(conn *net.UDPConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return fmt.Errorf("reach socket: %w", err)
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return fmt.Errorf("ask for the moments at which datagrams come: %w", err)
	}
	return nil
}

// ReadStamped reads one datagram, and tells how long the socket held it: this process may have been busy meanwhile.
func ReadStamped(conn *net.UDPConn, buffer []byte) (n int, from netip.AddrPort, waited time.Duration, err error) {
	extra := make([]byte, unix.CmsgSpace(int(unsafe.Sizeof(unix.Timespec{}))))
	n, extraBytes, _, from, err := conn.ReadMsgUDPAddrPort(buffer, extra)
	if err != nil {
		return 0, netip.AddrPort{}, 0, err
	}
	return n, from, sinceStamp(extra[:extraBytes], time.Now()), nil
}

// sinceStamp is 0 where the kernel gave no moment, and where the clock was set meanwhile.
func sinceStamp(extra []byte, now time.Time) time.Duration {
	messages, err := unix.ParseSocketControlMessage(extra)
	if err != nil {
		return 0
	}
	for _, message := range messages {
		if message.Header.Type == unix.SCM_TIMESTAMPNS && len(message.Data) >= int(unsafe.Sizeof(unix.Timespec{})) {
			stamp := (*unix.Timespec)(unsafe.Pointer(&message.Data[0]))
			if waited := now.Sub(time.Unix(stamp.Unix())); waited > 0 && waited < time.Second {
				return waited
			}
		}
	}
	return 0
}
