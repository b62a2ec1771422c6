package congestion

import (
	"fmt"
	"net"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	bbr          = "bbr"
	maxInfoBytes = 256
	// Version 1 tells five numbers of 32 bits (struct tcp_bbr_info in include/uapi/linux/inet_diag.h). Later ones follow
	// them with four more numbers, mode, phase, a spare byte, and their version.
	bbr1Bytes    = 20
	bbrVersionAt = 39
)

// BBRVersion tells which BBR a connection runs, nil when it runs none or does not say: the kernel has one name for all.
func BBRVersion(conn *net.TCPConn, name string) (*int, error) {
	if name != bbr {
		return nil, nil
	}
	var info [maxInfoBytes]byte
	length := uint32(len(info))
	err := control(conn, func(fd int) error {
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.IPPROTO_TCP, unix.TCP_CC_INFO,
			uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&length)), 0)
		if errno != 0 {
			return fmt.Errorf("ask for TCP_CC_INFO: %w", errno)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return bbrVersion(info[:length]), nil
}

func bbrVersion(info []byte) *int {
	switch {
	case len(info) == bbr1Bytes:
		return new(1)
	case len(info) > bbrVersionAt:
		return new(int(info[bbrVersionAt]))
	}
	return nil
}
