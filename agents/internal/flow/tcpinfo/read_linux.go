package tcpinfo

import (
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxBytes leaves room for kernels whose tcp_info is longer than any known today.
const maxBytes = 512

// read fills buffer with the kernel's tcp_info of the socket and returns its length.
// x/sys only offers a fixed-size structure, so the system call is made by hand.
func read(fd uintptr, buffer *[maxBytes]byte) (int, error) {
	length := uint32(maxBytes)
	_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.IPPROTO_TCP, unix.TCP_INFO,
		uintptr(unsafe.Pointer(buffer)), uintptr(unsafe.Pointer(&length)), 0)
	if errno != 0 {
		return 0, errno
	}
	return int(length), nil
}

// Length returns how many bytes of tcp_info this kernel has.
func Length() (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("open a socket to ask for TCP_INFO: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	var buffer [maxBytes]byte
	return read(uintptr(fd), &buffer)
}

// reader reads one connection that may be in use by others. Its function value is made once: a closure per reading
// would allocate.
type reader struct {
	raw     syscall.RawConn
	buffer  [maxBytes]byte
	length  int
	err     error
	control func(fd uintptr)
}

func newReader(raw syscall.RawConn) *reader {
	r := &reader{raw: raw}
	r.control = func(fd uintptr) { r.length, r.err = read(fd, &r.buffer) }
	return r
}

// read leaves the state in r.buffer[:r.length].
func (r *reader) read() error {
	if err := r.raw.Control(r.control); err != nil {
		return err
	}
	return r.err
}

// lastAckOffset is where struct tcp_info keeps the milliseconds since the last ACK came.
const lastAckOffset = 56

// SinceLastAck returns how long nothing has been heard from a connection's peer.
func SinceLastAck(conn syscall.Conn) (time.Duration, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("reach socket: %w", err)
	}
	reader := newReader(raw)
	if err := reader.read(); err != nil {
		return 0, fmt.Errorf("read TCP_INFO: %w", err)
	}
	return time.Duration(u32(lastAckOffset)(reader.buffer[:])) * time.Millisecond, nil
}

// sleepUntil waits for an absolute time of the monotonic clock. It blocks its thread: the runtime's own timers are
// shared by all goroutines and come late when those are busy moving data.
func sleepUntil(nanoseconds int64) {
	deadline := unix.NsecToTimespec(nanoseconds)
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &deadline, nil) == unix.EINTR {
		continue
	}
}

func monotonic() int64 {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
	return now.Nano()
}

// preferThread lets the calling thread, which must be locked to its goroutine, run as soon as it wakes: it needs some
// microseconds per sample, and beside a busy transfer it would get them milliseconds late. Without the privilege
// nothing changes, and the lateness in the record tells.
func preferThread() (restore func()) {
	before, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		return func() {}
	}
	realTime := &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: 1, Flags: unix.SCHED_FLAG_RESET_ON_FORK}
	if unix.SchedSetAttr(0, realTime, 0) != nil {
		return func() {}
	}
	return func() { _ = unix.SchedSetAttr(0, before, 0) }
}
