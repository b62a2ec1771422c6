package pause

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"downlink/agents/internal/host/diskfile"
)

// Pause is what the owner said. A zero Until lasts until the owner resumes.
type Pause struct {
	Until time.Time `json:"until,omitzero"`
	Why   string    `json:"why,omitempty"`
	// EndsRun breaks off the run that is under way; without it that run ends as planned.
	EndsRun bool `json:"ends_run,omitempty"`
}

const fileName = "pause.json"

// Set writes the pause into an agent's state folder; the agent follows within a second, and after a restart too.
func Set(stateDir string, p Pause) error {
	content, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode pause: %w", err)
	}
	if err := diskfile.Write(filepath.Join(stateDir, fileName), content, 0o600); err != nil {
		return fmt.Errorf("write pause: %w", err)
	}
	return nil
}

// Clear ends the pause; it tells whether there was one.
func Clear(stateDir string) (bool, error) {
	err := os.Remove(filepath.Join(stateDir, fileName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Read returns the pause that holds at this moment, or nil. A file that cannot be read is a pause too: in doubt, the owner
// wanted the host to rest.
func Read(stateDir string, now time.Time) *Pause {
	content, err := os.ReadFile(filepath.Join(stateDir, fileName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var p Pause
	if err == nil {
		err = json.Unmarshal(content, &p)
	}
	if err != nil {
		return &Pause{Why: fmt.Sprintf("%s cannot be read: %v", fileName, err)}
	}
	if !p.Until.IsZero() && !now.Before(p.Until) {
		return nil
	}
	return &p
}

// Sentence says what people read of it: `paused by its owner until 2026-03-01 18:00 UTC (maintenance)`.
func (p Pause) Sentence() string {
	until := "; `downlink-agent resume` ends it"
	if !p.Until.IsZero() {
		until = " until " + p.Until.UTC().Format("2006-01-02 15:04 MST")
	}
	if p.Why == "" {
		return "paused by its owner" + until
	}
	return fmt.Sprintf("paused by its owner%s (%s)", until, p.Why)
}
