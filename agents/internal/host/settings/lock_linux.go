package settings

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// hostLock keeps two agents of one kernel from changing host-wide settings at the same time.
// The file names the holder's journal: when a holder was killed, the lock is free but its changes still stand, and
// until that agent has put them back nobody may write new "old" values over them.
type hostLock struct {
	file *os.File
}

func takeHostLock(path, journalPath string) (*hostLock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { // names no secret
		return nil, fmt.Errorf("lock host-wide settings: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock host-wide settings: %w", err)
	}
	lock := &hostLock{file: file}
	if err := lock.claim(journalPath); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return lock, nil
}

func (l *hostLock) claim(journalPath string) error {
	err := unix.Flock(int(l.file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrBusy
	}
	if err != nil {
		return fmt.Errorf("lock host-wide settings: %w", err)
	}
	content, err := io.ReadAll(l.file)
	if err != nil {
		return fmt.Errorf("read the lock of host-wide settings: %w", err)
	}
	holder := strings.TrimSpace(string(content))
	if _, err := os.Stat(holder); holder != "" && holder != journalPath && err == nil {
		return fmt.Errorf("%w: %s was left by an agent that was killed; start that agent, or run `downlink-agent restore` for it",
			ErrBusy, holder)
	}
	return l.name(journalPath)
}

func (l *hostLock) name(journalPath string) error {
	if err := l.file.Truncate(0); err != nil {
		return fmt.Errorf("write the lock of host-wide settings: %w", err)
	}
	if _, err := l.file.WriteAt([]byte(journalPath), 0); err != nil {
		return fmt.Errorf("write the lock of host-wide settings: %w", err)
	}
	return nil
}

// release lets others in. The file stays: removing it would let two agents lock two files of one name.
func (l *hostLock) release() {
	if l == nil {
		return
	}
	_ = l.file.Truncate(0)
	_ = l.file.Close()
}
