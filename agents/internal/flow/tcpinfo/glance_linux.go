package tcpinfo

import (
	"fmt"
	"syscall"
)

// Glance is the little of a sending connection's state that people watch while it runs.
type Glance struct {
	AckedBytes   int64
	RTTUs        int64
	CwndSegments int64
	MSSBytes     int64
	// ReceivedBytes came in order; FirstSentBytes left for the first time.
	ReceivedBytes  int64
	FirstSentBytes int64
}

// Look reads a connection once, beside other samplers. An error means that it is gone.
func Look(conn syscall.Conn) (Glance, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return Glance{}, fmt.Errorf("reach socket: %w", err)
	}
	reader := newReader(raw)
	if err := reader.read(); err != nil {
		return Glance{}, fmt.Errorf("read TCP_INFO: %w", err)
	}
	blob := reader.buffer[:]
	return Glance{AckedBytes: u64(120)(blob), RTTUs: u32(68)(blob), CwndSegments: u32(80)(blob), MSSBytes: u32(16)(blob),
		ReceivedBytes: u64(128)(blob), FirstSentBytes: u64(200)(blob) - u64(208)(blob)}, nil
}

// Disordered is how many packets of a connection came out of order so far; 0 where the kernel (before 5.4) does not count.
func Disordered(conn syscall.Conn) int64 {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0
	}
	reader := newReader(raw)
	if reader.read() != nil || reader.length < 228 {
		return 0
	}
	return u32(224)(reader.buffer[:])
}
