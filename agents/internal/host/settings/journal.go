package settings

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"downlink/agents/internal/host/diskfile"
)

// journal is what Restore needs to know, and all of it is on disk before the first change.
type journal struct {
	BootID    string  `json:"boot_id"`
	Namespace string  `json:"namespace"`
	RunID     string  `json:"run_id"`
	Entries   []entry `json:"entries"`
	// Sum is of all else: a digit that changed on the disk must not become a setting. Empty in a journal from before.
	Sum string `json:"sha256,omitempty"`
}

type entry struct {
	Key
	Old string `json:"old"`
	New string `json:"new"`
}

// readJournal returns the journal, or its copy where somebody removed or damaged it; nil where there is neither.
func readJournal(path string) (*journal, error) {
	j, err := readOne(path)
	if err == nil && j != nil {
		return j, nil
	}
	if spare, spareErr := readOne(copyOf(path)); spareErr == nil && spare != nil {
		return spare, nil
	}
	return nil, err
}

// copyOf names the second file of a journal: a host must not stay changed because one file is gone.
func copyOf(path string) string { return path + ".copy" }

// removeJournal forgets both files. The copy goes last: a crash in between leaves what says that all is as before.
func removeJournal(path string) error {
	return errors.Join(diskfile.Remove(path), diskfile.Remove(copyOf(path)))
}

func readOne(path string) (*journal, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // no journal means that nothing is changed
	}
	if err != nil {
		return nil, fmt.Errorf("read settings journal: %w", err)
	}
	j := &journal{}
	if err := json.Unmarshal(content, j); err != nil {
		return nil, fmt.Errorf("read settings journal %s: %w; %s", path, err, byHand)
	}
	if j.Sum != "" && j.Sum != j.sum() {
		return nil, fmt.Errorf("settings journal %s was damaged on the disk: its checksum does not fit; %s", path, byHand)
	}
	return j, nil
}

const byHand = "compare the host's settings with its contents by hand, then delete it and its copy"

// sum is the SHA-256 of what the journal says, however its file is laid out.
func (j *journal) sum() string {
	said := *j
	said.Sum = ""
	content, err := json.Marshal(said)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(content))
}

func (j *journal) write(path string) error {
	j.Sum = j.sum()
	content, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		return fmt.Errorf("encode settings journal: %w", err)
	}
	for _, file := range []string{copyOf(path), path} {
		if err := diskfile.Write(file, content, 0o600); err != nil {
			return fmt.Errorf("write settings journal: %w", err)
		}
	}
	return nil
}

func (j *journal) touchesHost() bool {
	for _, e := range j.Entries {
		if table[e.Name].scope == ScopeHost {
			return true
		}
	}
	return false
}
