package socket

import (
	"fmt"
	"net"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Stamped is a TCP connection of which the kernel says when bytes left and when they came (SO_TIMESTAMPING,
// Documentation/networking/timestamping.rst). It needs no privilege.
type Stamped struct {
	conn  *net.TCPConn
	extra []byte // scratch of reads
	late  []byte // scratch of departures
	clock wallClock
}

// stampFlags: moments of the kernel's own clock, of what comes and of writes that ask for it; the byte's number says which.
const stampFlags = unix.SOF_TIMESTAMPING_SOFTWARE | unix.SOF_TIMESTAMPING_RX_SOFTWARE | unix.SOF_TIMESTAMPING_OPT_ID |
	unix.SOF_TIMESTAMPING_OPT_TSONLY

// Stamp lets the kernel stamp a connection, over which nothing was written yet: the first byte has the number 0.
func Stamp(conn *net.TCPConn) (*Stamped, error) {
	err := control(conn, func(fd int) error {
		return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, stampFlags)
	})
	if err != nil {
		return nil, fmt.Errorf("ask for the moments at which bytes leave and come: %w", err)
	}
	return &Stamped{conn: conn, extra: make([]byte, 256), late: make([]byte, 512), clock: wallClock{base: time.Now()}}, nil
}

// SegmentBytes is how much one packet carries.
func (s *Stamped) SegmentBytes() (bytes int, err error) {
	err = control(s.conn, func(fd int) error {
		bytes, err = unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_MAXSEG)
		return err
	})
	return bytes, err
}

// stampWrite asks for the moment at which a write's last byte leaves.
var stampWrite = func() []byte {
	b := make([]byte, unix.CmsgSpace(4))
	header := (*unix.Cmsghdr)(unsafe.Pointer(&b[0]))
	header.Level, header.Type = unix.SOL_SOCKET, unix.SO_TIMESTAMPING
	header.SetLen(unix.CmsgLen(4))
	*(*uint32)(unsafe.Pointer(&b[unix.CmsgLen(0)])) = unix.SOF_TIMESTAMPING_TX_SOFTWARE
	return b
}()

// Write writes all of a part, as net.Conn does; the moment at which its last byte leaves can be had from Departures.
//
// The last byte is a write of its own, which the kernel takes whole or not at all. Of a longer one it often takes what fills
// the buffer that is being made (tcp_sendmsg_locked), and then stamps the end of that. MSG_MORE keeps the rest of the part
// from leaving in a packet without the last byte.
func (s *Stamped) Write(part []byte) (written int, err error) {
	raw, err := s.conn.SyscallConn()
	if err != nil || len(part) == 0 {
		return 0, err
	}
	last := len(part) - 1
	var failed error
	err = raw.Write(func(fd uintptr) bool {
		for written < len(part) && failed == nil {
			piece, stamp, flags := part[written:last], []byte(nil), unix.MSG_NOSIGNAL|unix.MSG_MORE
			if written == last {
				piece, stamp, flags = part[last:], stampWrite, unix.MSG_NOSIGNAL
			}
			n, callErr := unix.SendmsgN(int(fd), piece, stamp, nil, flags)
			switch callErr {
			case nil:
				written += n
			case unix.EINTR:
			case unix.EAGAIN:
				return false
			default:
				failed = callErr
			}
		}
		return true
	})
	if err == nil && failed != nil {
		err = &net.OpError{Op: "write", Net: "tcp", Source: s.conn.LocalAddr(), Addr: s.conn.RemoteAddr(), Err: failed}
	}
	return written, err
}

// Departures gives the stamps that have come since: the number of a byte, modulo 2^32, and when it left.
func (s *Stamped) Departures(each func(number uint32, at time.Time)) error {
	return control(s.conn, func(fd int) error {
		for {
			_, n, _, _, err := unix.Recvmsg(fd, nil, s.late, unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
			switch err {
			case nil:
			case unix.EINTR:
				continue
			case unix.EAGAIN:
				return nil
			default:
				return err
			}
			s.clock.note(time.Now())
			if number, at, isDeparture := s.departure(s.late[:n]); isDeparture {
				each(number, at)
			}
		}
	})
}

// departure reads a message of the error queue: struct scm_timestamping and struct sock_extended_err.
func (s *Stamped) departure(extra []byte) (number uint32, at time.Time, isDeparture bool) {
	messages, err := unix.ParseSocketControlMessage(extra)
	if err != nil {
		return 0, time.Time{}, false
	}
	for _, message := range messages {
		switch {
		case isStamp(&message):
			at = s.stampOf(message.Data)
		case len(message.Data) >= int(unsafe.Sizeof(unix.SockExtendedErr{})) && isError(&message):
			told := (*unix.SockExtendedErr)(unsafe.Pointer(&message.Data[0]))
			isDeparture = told.Origin == unix.SO_EE_ORIGIN_TIMESTAMPING && told.Info == unix.SCM_TSTAMP_SND
			number = told.Data
		}
	}
	return number, at, isDeparture && !at.IsZero()
}

func isStamp(message *unix.SocketControlMessage) bool {
	return message.Header.Level == unix.SOL_SOCKET && message.Header.Type == unix.SCM_TIMESTAMPING &&
		len(message.Data) >= int(unsafe.Sizeof(unix.Timespec{}))
}

func isError(message *unix.SocketControlMessage) bool {
	return message.Header.Level == unix.SOL_IP && message.Header.Type == unix.IP_RECVERR ||
		message.Header.Level == unix.SOL_IPV6 && message.Header.Type == unix.IPV6_RECVERR
}

// stampOf is zero where there is none.
func (s *Stamped) stampOf(data []byte) time.Time {
	stamp := (*unix.Timespec)(unsafe.Pointer(&data[0]))
	if stamp.Sec == 0 && stamp.Nsec == 0 {
		return time.Time{}
	}
	return s.clock.at(time.Unix(stamp.Unix()))
}

// wallClock turns moments of the wall clock, which stamps have, into ones of the monotonic clock. time.Now reads the wall
// clock first. If it is held up before it reads the other one, both seem further apart than they are: the least of the
// last seconds is right.
type wallClock struct {
	base          time.Time
	least, before time.Duration // by how much the monotonic clock went further since base: in this window, and in the one before
	until         time.Duration
}

// clockWindow is after how long a clock that was set is known by its new time.
const clockWindow = time.Second

func (c *wallClock) note(now time.Time) {
	past := now.Sub(c.base)
	c.take(past, past-now.Round(0).Sub(c.base.Round(0))) // without monotonic readings
}

func (c *wallClock) take(past, further time.Duration) {
	if past >= c.until {
		c.before, c.least, c.until = c.least, further, past+clockWindow
		if past < clockWindow {
			c.before = further
		}
	}
	c.least = min(c.least, further)
}

func (c *wallClock) at(wall time.Time) time.Time {
	return c.base.Add(wall.Sub(c.base.Round(0)) + min(c.least, c.before))
}

// Arrival is one read.
type Arrival struct {
	At time.Time
	// Stamp is when the kernel received the last packet of what was read; zero where it does not say.
	Stamp time.Time
	// HasWaited: there was nothing to read before.
	HasWaited bool
}

// Read reads as net.Conn does, but says end with n = 0 and no error.
func (s *Stamped) Read(buffer []byte) (n int, arrival Arrival, err error) {
	raw, err := s.conn.SyscallConn()
	if err != nil {
		return 0, arrival, err
	}
	extraBytes := 0
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		for {
			n, extraBytes, _, _, failed = unix.Recvmsg(int(fd), buffer, s.extra, 0)
			if failed == unix.EINTR {
				continue
			}
			arrival.HasWaited = arrival.HasWaited || failed == unix.EAGAIN
			return failed != unix.EAGAIN
		}
	})
	if err == nil && failed != nil {
		err = &net.OpError{Op: "read", Net: "tcp", Source: s.conn.LocalAddr(), Addr: s.conn.RemoteAddr(), Err: failed}
	}
	if err != nil {
		return 0, arrival, err
	}
	arrival.At = time.Now()
	s.clock.note(arrival.At)
	messages, _ := unix.ParseSocketControlMessage(s.extra[:extraBytes])
	for _, message := range messages {
		if isStamp(&message) {
			arrival.Stamp = s.stampOf(message.Data)
		}
	}
	return n, arrival, nil
}
