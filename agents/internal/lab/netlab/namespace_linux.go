package netlab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// namespaceFolder is where named network namespaces live, for `ip netns` too.
const namespaceFolder = "/run/netns"

// onThread calls a function on a thread of its own that may change namespace: the thread is thrown away afterwards.
func onThread(call func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() { // the main thread outlives its goroutines: hold it while another thread does it
			defer runtime.UnlockOSThread()
			done <- onThread(call)
			return
		}
		done <- call() // never unlocked, so the thread ends with the goroutine
	}()
	return <-done
}

// inside calls a function inside a namespace. Sockets and devices that it opens stay there.
func inside(ns netns.NsHandle, call func() error) error {
	return onThread(func() error {
		if err := netns.Set(ns); err != nil {
			return fmt.Errorf("enter namespace: %w", err)
		}
		return call()
	})
}

// makeNamespace makes a named namespace. Its name is taken whole or not at all, even if others try.
func makeNamespace(name string) (ns netns.NsHandle, err error) {
	if err := shareNamespaceFolder(); err != nil {
		return -1, err
	}
	err = onThread(func() error {
		ns, err = netns.NewNamed(name)
		return err
	})
	if os.IsExist(err) {
		return -1, fmt.Errorf("namespace %s exists already: `downlink-agent link list` shows who holds it, `link down` removes leftovers", name)
	}
	if err != nil {
		return -1, fmt.Errorf("make namespace %s: %w", name, err)
	}
	return ns, nil
}

// shareNamespaceFolder makes the folder a shared mount of its own, as the first `ip netns add` on a machine does. Were
// that to come later, it would cover the names that are there with copies, which could no longer be removed.
func shareNamespaceFolder() error {
	if err := os.MkdirAll(namespaceFolder, 0o755); err != nil {
		return fmt.Errorf("make the folder of namespaces: %w", err)
	}
	lock, err := lockFolder(namespaceFolder)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	err = share(namespaceFolder)
	if errors.Is(err, unix.EINVAL) { // it is not a mount yet
		if err = unix.Mount(namespaceFolder, namespaceFolder, "none", unix.MS_BIND|unix.MS_REC, ""); err == nil {
			err = share(namespaceFolder)
		}
	}
	if err != nil {
		return fmt.Errorf("share mount %s: %w", namespaceFolder, err)
	}
	return nil
}

func share(path string) error { return unix.Mount("", path, "none", unix.MS_SHARED|unix.MS_REC, "") }

// lockFolder keeps others out, iproute2 among them, until the file is closed.
func lockFolder(path string) (*os.File, error) {
	folder, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if err := unix.Flock(int(folder.Fd()), unix.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), folder.Close())
	}
	return folder, nil
}

func removeNamespace(name string) error {
	path := filepath.Join(namespaceFolder, name)
	// EINVAL: a name whose maker was killed before it was bound to a namespace.
	if err := unix.Unmount(path, unix.MNT_DETACH); err != nil && err != unix.EINVAL && err != unix.ENOENT {
		return fmt.Errorf("unbind namespace %s: %w", name, err)
	}
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("remove namespace name %s: %w", name, err)
	}
	return nil
}

// processesIn lists the processes that live in a named namespace.
func processesIn(name string) ([]int, error) {
	var wanted unix.Stat_t
	if err := unix.Stat(filepath.Join(namespaceFolder, name), &wanted); err != nil {
		return nil, fmt.Errorf("look at namespace %s: %w", name, err)
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		var found unix.Stat_t // a process that has ended meanwhile, or is not ours to see, is none of this namespace
		if unix.Stat(filepath.Join("/proc", entry.Name(), "ns/net"), &found) == nil && found.Ino == wanted.Ino && found.Dev == wanted.Dev {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// setSysctl writes a network sysctl of a namespace: /proc/sys/net shows that of the thread that opens it.
func setSysctl(ns netns.NsHandle, path, value string) error {
	return inside(ns, func() error { return os.WriteFile("/proc/sys/net/"+path, []byte(value), 0) })
}
