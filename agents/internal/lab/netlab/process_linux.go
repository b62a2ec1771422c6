package netlab

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/vishvananda/netns"
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
	ns, err := netns.GetFromName(info.Namespace)
	if err != nil {
		return fmt.Errorf("open namespace %s: %w", info.Namespace, err)
	}
	return inside(ns, func() error { return syscall.Exec(path, command, os.Environ()) })
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
