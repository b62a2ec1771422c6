package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"downlink/agents/internal/host/diskfile"
	"downlink/agents/internal/server/protocol"
)

// phase tells a restarted agent what its last run still needs to be told about.
type phase string

const (
	phaseBegun    phase = "begun"
	phaseFinished phase = "finished"
)

// mark is the content of the marker.
type mark struct {
	protocol.RunRef
	Phase phase `json:"phase"`
}

// marker is the file that stands while a run is under way.
type marker struct{ path string }

func (m marker) set(ref protocol.RunRef, p phase) error {
	content, err := json.Marshal(mark{RunRef: ref, Phase: p})
	if err != nil {
		return fmt.Errorf("encode run marker: %w", err)
	}
	if err := diskfile.Write(m.path, content, 0o600); err != nil {
		return fmt.Errorf("write run marker: %w", err)
	}
	return nil
}

func (m marker) clear() error {
	if err := diskfile.Remove(m.path); err != nil {
		return fmt.Errorf("remove run marker: %w", err)
	}
	return nil
}

// read returns nil when no run was under way.
func (m marker) read() (*mark, error) {
	content, err := os.ReadFile(m.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // none is a good answer
	}
	if err != nil {
		return nil, fmt.Errorf("read run marker: %w", err)
	}
	left := &mark{}
	if err := json.Unmarshal(content, left); err != nil {
		return nil, fmt.Errorf("read run marker %s: %w", m.path, err)
	}
	return left, nil
}
