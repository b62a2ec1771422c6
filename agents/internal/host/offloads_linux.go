package host

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// The commands of linux/ethtool.h that read one offload each.
var offloadCommands = map[string]uint32{"tso": 0x1e, "gso": 0x23, "gro": 0x2b}

// ethtoolValue is struct ethtool_value.
type ethtoolValue struct {
	command uint32
	data    uint32
}

// ifreqData is struct ifreq with its union used as a pointer.
type ifreqData struct {
	name [unix.IFNAMSIZ]byte
	data unsafe.Pointer
	_    [16]byte
}

// offloads leaves out what the interface does not tell.
func offloads(name string) map[string]bool {
	states := map[string]bool{}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return states
	}
	defer func() { _ = unix.Close(fd) }()
	for offload, command := range offloadCommands {
		value := ethtoolValue{command: command}
		request := ifreqData{data: unsafe.Pointer(&value)}
		copy(request.name[:unix.IFNAMSIZ-1], name)
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request)))
		if errno == 0 {
			states[offload] = value.data != 0
		}
	}
	return states
}
