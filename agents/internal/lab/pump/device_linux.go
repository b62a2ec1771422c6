package pump

import (
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// Device is one TUN device, read and written packet by packet without blocking.
type Device struct{ fd int }

// Host is one of several at a link, with its addresses.
type Host struct {
	Device    Device
	Addresses []netip.Addr
}

// OpenDevice makes a TUN device in the calling thread's network namespace. It vanishes when it is closed.
func OpenDevice(name string) (Device, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return Device{}, fmt.Errorf("open /dev/net/tun: %w", err)
	}
	request, err := unix.NewIfreq(name)
	if err == nil {
		request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	}
	if err != nil {
		_ = unix.Close(fd)
		return Device{}, fmt.Errorf("make TUN device %s: %w", name, err)
	}
	return Device{fd}, nil
}

// Close lets the device vanish.
func (d Device) Close() { _ = unix.Close(d.fd) }
