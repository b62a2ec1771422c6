package socket

import (
	"encoding/binary"
	"fmt"
	"math"
	"net"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	bbr          = "bbr"
	maxInfoBytes = 256
	// Version 1 tells five numbers of 32 bits (struct tcp_bbr_info in include/uapi/linux/inet_diag.h): bandwidth, low and
	// high half, smallest RTT, pacing gain, window gain. Later ones follow them with four more numbers, mode, phase, a
	// spare byte, and their version.
	bbr1Bytes    = 20
	bbrVersionAt = 39
)

// BBRVersion tells which BBR a connection runs, nil when it runs none or does not say: the kernel has one name for all.
func BBRVersion(conn *net.TCPConn, name string) (*int, error) {
	if name != bbr {
		return nil, nil
	}
	info, err := bbrInfo(conn)
	if err != nil {
		return nil, err
	}
	return bbrVersion(info), nil
}

// ReadBBR writes what BBR makes of the path into row: bandwidth in bits per second, smallest RTT in microseconds, pacing
// gain and window gain in 256ths (tcpinfo.BBRFields). A connection that no longer tells leaves row as it is.
func ReadBBR(conn *net.TCPConn, row []int64) {
	info, err := bbrInfo(conn)
	if err != nil || len(info) < bbr1Bytes {
		return
	}
	number := func(i int) uint64 { return uint64(binary.NativeEndian.Uint32(info[4*i:])) }
	bytesPerS := number(1)<<32 | number(0)
	copy(row, []int64{int64(min(bytesPerS, math.MaxInt64/8)) * 8, minRttUs(number(2)), int64(number(3)), int64(number(4))})
}

// minRttUs is -1 before the first sample.
func minRttUs(told uint64) int64 {
	if told == math.MaxUint32 {
		return -1
	}
	return int64(told)
}

func bbrInfo(conn *net.TCPConn) ([]byte, error) {
	info := make([]byte, maxInfoBytes)
	length := uint32(len(info))
	err := control(conn, func(fd int) error {
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.IPPROTO_TCP, unix.TCP_CC_INFO,
			uintptr(unsafe.Pointer(&info[0])), uintptr(unsafe.Pointer(&length)), 0)
		if errno != 0 {
			return fmt.Errorf("ask for TCP_CC_INFO: %w", errno)
		}
		return nil
	})
	return info[:length], err
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
