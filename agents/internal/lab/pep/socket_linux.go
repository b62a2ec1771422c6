package pep

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// transparent lets a socket have addresses that are not its host's.
func transparent(_, _ string, raw syscall.RawConn) error {
	return onRaw(raw, func(fd int) error {
		err := unix.SetsockoptInt(fd, unix.SOL_IPV6, unix.IPV6_TRANSPARENT, 1)
		if errors.Is(err, unix.ENOPROTOOPT) || errors.Is(err, unix.EOPNOTSUPP) { // a socket of IPv4
			err = unix.SetsockoptInt(fd, unix.SOL_IP, unix.IP_TRANSPARENT, 1)
		}
		if err == nil {
			err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1) // a port of the client's may go to several servers
		}
		if err != nil {
			return fmt.Errorf("use foreign addresses: %w", err)
		}
		return nil
	})
}

func onSocket(conn syscall.Conn, call func(fd int) error) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	return onRaw(raw, call)
}

func onRaw(raw syscall.RawConn, call func(fd int) error) error {
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = call(int(fd)) }); err != nil {
		return err
	}
	return inner
}

// checkControl tries a congestion control on a socket of its own, so that a wrong name is found before anything is diverted.
func checkControl(name string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open a socket: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name); err != nil {
		return fmt.Errorf("congestion control %q is not to be had in this kernel: %w", name, err)
	}
	return nil
}
