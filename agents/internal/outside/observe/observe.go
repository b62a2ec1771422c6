// Package observe keeps what a dish and a modem say over time until the server has it.
package observe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"downlink/agents/internal/host/diskfile"
)

// Observation is one value of a quantity of the link at a moment.
type Observation struct {
	Quantity string    `json:"quantity"`
	Unit     string    `json:"unit"`
	Source   string    `json:"source"`
	At       time.Time `json:"at"`
	Value    float64   `json:"value"`
}

const (
	// MostHeld is two weeks of twelve quantities each 30 s, some 60 MB; then the oldest go.
	MostHeld = 500_000
	// MostAtOnce is what the protocol takes in one call.
	MostAtOnce = 2_000
)

// Store is a file with a line for each observation that waits.
type Store struct {
	mu      sync.Mutex
	folder  string
	held    []Observation
	given   int // of the oldest, by Next
	dropped int
}

// Open reads what an earlier process left. A line that was cut off by a crash is left out.
func Open(folder string) (*Store, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of observations: %w", err)
	}
	s := &Store{folder: folder}
	content, err := os.ReadFile(s.path())
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read observations: %w", err)
	}
	for line := range bytes.Lines(content) {
		var one Observation
		if json.Unmarshal(line, &one) == nil && one.Quantity != "" {
			s.held = append(s.held, one)
		}
	}
	s.trim()
	return s, s.write() // what follows must not join a line that was cut off
}

func (s *Store) path() string { return filepath.Join(s.folder, "waiting.jsonl") }

// Add keeps these but for what no message can hold: a number beyond all, a year of five digits. The oldest go when there are more
// than MostHeld, a call's worth at a time: the file is then rewritten.
func (s *Store) Add(found []Observation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := len(found)
	found, content := encode(found)
	s.dropped += sent - len(found)
	if len(found) == 0 {
		return nil
	}
	s.held = append(s.held, found...)
	if s.trim() {
		return s.write()
	}
	file, err := os.OpenFile(s.path(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("keep observations: %w", err)
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}

// trim makes room for MostAtOnce more where there are too many.
func (s *Store) trim() (isCut bool) {
	if len(s.held) <= MostHeld {
		return false
	}
	over := len(s.held) - MostHeld + MostAtOnce
	s.held, s.dropped = append([]Observation(nil), s.held[over:]...), s.dropped+over
	s.given = max(0, s.given-over)
	return true
}

func (s *Store) write() error {
	_, content := encode(s.held)
	if err := diskfile.Write(s.path(), content, 0o600); err != nil {
		return fmt.Errorf("keep observations: %w", err)
	}
	return nil
}

// Next are the oldest ones, as many as one call takes.
func (s *Store) Next() []Observation {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given = min(len(s.held), MostAtOnce)
	return append([]Observation(nil), s.held[:s.given]...)
}

// Done forgets what Next gave last, which the server has.
func (s *Store) Done() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held, s.given = append([]Observation(nil), s.held[s.given:]...), 0
	return s.write()
}

// Dropped is how many were lost because nobody took them for too long, or because no message can hold them.
func (s *Store) Dropped() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

// encode gives those that can be written, and how.
func encode(found []Observation) (fit []Observation, content []byte) {
	for _, one := range found {
		if line, err := json.Marshal(one); err == nil {
			fit, content = append(fit, one), append(append(content, line...), '\n')
		}
	}
	return fit, content
}
