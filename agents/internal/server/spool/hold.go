package spool

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Hold is for how long, and how much of it, the host's owner lets samples wait for the server. 0 means no limit.
type Hold struct {
	For      time.Duration
	MaxBytes int64
}

// Overdue is an attempt that waits for longer than the owner allows (IsOld), or is the oldest of too much.
type Overdue struct {
	RunID   string
	Attempt int
	IsOld   bool
}

// Overdue lists the attempts that go by the owner's limits, the oldest first. It removes nothing.
func (s *Spool) Overdue(hold Hold, now time.Time) []Overdue {
	return s.index.overdue(hold, now)
}

func (i *index) overdue(hold Hold, now time.Time) (list []Overdue) {
	i.mu.Lock()
	defer i.mu.Unlock()
	keys := make([]attemptKey, 0, len(i.attempts))
	for key := range i.attempts {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b attemptKey) int {
		return i.attempts[a].lastAt.Compare(i.attempts[b].lastAt)
	})
	left := i.usedBytes
	for _, key := range keys {
		isOld := hold.For > 0 && now.Sub(i.attempts[key].lastAt) > hold.For
		if isOld || hold.MaxBytes > 0 && left > hold.MaxBytes {
			list = append(list, Overdue{RunID: key.runID, Attempt: key.attempt, IsOld: isOld})
			left -= i.attempts[key].bytes()
		}
	}
	return list
}

// Bad is a chunk that was set aside. IsDamaged: the disk gives back something else than was written.
type Bad struct {
	Key       Key
	IsDamaged bool
}

// Bad lists the chunks of an attempt that were set aside one by one.
func (s *Spool) Bad(runID string, attempt int) ([]Bad, error) {
	files, err := filepath.Glob(filepath.Join(s.attemptDir(runID, attempt), "*"+suffix+badSuffix))
	if err != nil {
		return nil, err
	}
	list := []Bad{}
	for _, file := range files {
		key, isChunk := parseName(strings.TrimSuffix(filepath.Base(file), badSuffix))
		if !isChunk {
			continue
		}
		key.RunID, key.Attempt = runID, attempt
		content, err := os.ReadFile(file)
		if err == nil {
			_, err = unframe(content)
		}
		list = append(list, Bad{Key: key, IsDamaged: err != nil})
	}
	slices.SortFunc(list, func(a, b Bad) int { return Compare(a.Key, b.Key) })
	return list, nil
}

// firstBelieved is before any file of an agent that knows hold limits.
var firstBelieved = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// believed takes a file that was written before its host knew the time for one that was written now: it must not seem years old.
func believed(written time.Time) time.Time {
	if written.Before(firstBelieved) {
		return time.Now()
	}
	return written
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
