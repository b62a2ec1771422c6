package socket

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sort"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrUnavailable means that this host cannot use a congestion control.
var ErrUnavailable = errors.New("congestion control is unavailable")

// AvailableControls lists the congestion controls that the kernel offers without loading anything.
func AvailableControls() ([]string, error) {
	content, err := os.ReadFile("/proc/sys/net/ipv4/tcp_available_congestion_control")
	if err != nil {
		return nil, fmt.Errorf("list congestion controls: %w", err)
	}
	names := strings.Fields(string(content))
	sort.Strings(names)
	return names, nil
}

// CheckControl tries a congestion control on a socket that is never connected. The kernel's list alone would not do: it
// leaves out modules that load on demand, and names controls that this process may not use.
func CheckControl(name string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open a socket to try %s: %w", name, err)
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name); err != nil {
		return unavailable(name, err)
	}
	return nil
}

func unavailable(name string, err error) error {
	offered, _ := AvailableControls()
	if errors.Is(err, unix.EPERM) {
		return fmt.Errorf("%w: %q needs privilege on this host, or an entry in net.ipv4.tcp_allowed_congestion_control", ErrUnavailable, name)
	}
	return fmt.Errorf("%w: %q is not available on this host; it offers %s", ErrUnavailable, name, strings.Join(offered, ", "))
}

// SetControl selects the congestion control of a connection and returns what the kernel then uses.
func SetControl(conn *net.TCPConn, name string) (actual string, err error) {
	err = control(conn, func(fd int) error {
		if err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name); err != nil {
			return unavailable(name, err)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return ActualControl(conn)
}

// StartPlain is the Control of a listener's configuration: its connections begin under Reno, whatever the host's
// default is. A default of BBR would leave every socket paced, also under the control that is set afterwards: the
// kernel never takes sk_pacing_status back, and HyStart allows a paced socket a train of twice the length.
func StartPlain(_, _ string, raw syscall.RawConn) error {
	var acted error
	err := raw.Control(func(fd uintptr) {
		acted = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno")
	})
	return errors.Join(err, acted)
}

// ActualControl returns the congestion control that a connection uses.
func ActualControl(conn *net.TCPConn) (actual string, err error) {
	err = control(conn, func(fd int) (err error) {
		actual, err = unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
		return err
	})
	return strings.TrimRight(actual, "\x00"), err
}

// Cookie is the kernel's unique number of a socket, which tells its records apart.
func Cookie(conn *net.TCPConn) (cookie uint64, err error) {
	err = control(conn, func(fd int) (err error) {
		cookie, err = unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_COOKIE)
		return err
	})
	return cookie, err
}

// LimitPacing caps the rate at which the kernel sends, in bits per second.
func LimitPacing(conn *net.TCPConn, rateBps int64) error {
	return control(conn, func(fd int) error {
		return unix.SetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, uint64(rateBps/8)) // checked to be positive
	})
}

// LimitUnsent caps the bytes that wait in the send buffer before their first transmission. The congestion window and
// the data in flight are not affected.
func LimitUnsent(conn *net.TCPConn, bytes int) error {
	return control(conn, func(fd int) error {
		return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, bytes)
	})
}

func control(conn *net.TCPConn, act func(fd int) error) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return fmt.Errorf("reach socket: %w", err)
	}
	var acted error
	if err := raw.Control(func(fd uintptr) { acted = act(int(fd)) }); err != nil {
		return fmt.Errorf("reach socket: %w", err)
	}
	if acted != nil {
		return fmt.Errorf("set up socket: %w", acted)
	}
	return nil
}
