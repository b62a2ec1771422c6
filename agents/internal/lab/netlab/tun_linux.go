package netlab

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const (
	mtuBytes = 1500
	// tunQueueLength is how many packets wait between the kernel and the pump. A whole window may arrive at once; with
	// the default of 500 the device would drop it before the emulated queue, which alone must decide, ever saw it.
	tunQueueLength = 32768
)

// tun is one TUN device, read and written packet by packet without blocking.
type tun struct{ fd int }

// openTun makes a TUN device in the calling thread's network namespace. It vanishes when it is closed.
func openTun(name string) (tun, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return tun{}, fmt.Errorf("open /dev/net/tun: %w", err)
	}
	request, err := unix.NewIfreq(name)
	if err == nil {
		request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	}
	if err != nil {
		_ = unix.Close(fd)
		return tun{}, fmt.Errorf("make TUN device %s: %w", name, err)
	}
	return tun{fd}, nil
}

func (t tun) close() { _ = unix.Close(t.fd) }
