package netlab

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// Exec becomes a command inside a host's network namespace. Nothing else changes: mounts, and so /sys/module, stay those
// of the caller, while /proc/sys/net shows the namespace. It returns only when it fails.
func Exec(link Found, host string, command []string) error {
	info, ok := link.Hosts[host]
	if !ok {
		return fmt.Errorf("link %s has no host %q; it has %v", link.Name, host, link.HostNames())
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return fmt.Errorf("find the command: %w", err)
	}
	return info.Within(func() error { return syscall.Exec(path, command, os.Environ()) })
}

// GrantBuffers lets TCP on every host of a link use windows of up to maxBytes.
func GrantBuffers(link Found, maxBytes int) error {
	for _, host := range link.Hosts {
		err := host.Within(func() error {
			for path, start := range map[string]int{"tcp_rmem": 131072, "tcp_wmem": 16384} {
				value := fmt.Sprintf("4096 %d %d", start, maxBytes)
				if err := os.WriteFile("/proc/sys/net/ipv4/"+path, []byte(value), 0); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("grant TCP buffers on %s: %w", host.Namespace, err)
		}
	}
	return nil
}

// ParentGone is closed when the process that started this one ends.
func ParentGone() (<-chan struct{}, error) {
	parent := os.Getppid()
	fd, err := unix.PidfdOpen(parent, unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("watch parent process %d: %w", parent, err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for { // a descriptor of a process is readable once it has ended
			if _, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1); err != unix.EINTR {
				return
			}
		}
	}()
	return gone, nil
}
