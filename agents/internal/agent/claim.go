package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// ErrRuns means that an agent runs with this state folder.
var ErrRuns = errors.New("an agent runs with this state folder")

// Claim keeps others from running an agent with a state folder, and from putting a host back in the middle of its run.
// The claim ends when it is closed, and with the process however that ends.
func Claim(stateDir string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(stateDir, "agent.lock"), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("claim state folder: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrRuns
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
