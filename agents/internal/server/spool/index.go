package spool

import (
	"cmp"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// attemptKey names one attempt.
type attemptKey struct {
	runID   string
	attempt int
}

// attempt is what the spool holds of one.
type attempt struct {
	// chunks are those that wait, by the bytes of their files.
	chunks map[Key]int64
	// badBytes are those of chunks that were set aside.
	badBytes int64
	// isAside: nobody asks for the attempt's chunks any more.
	isAside bool
	// lastAt is when its last chunk was written.
	lastAt time.Time
}

// index is what the folder holds, so that a poll need not look. It is rebuilt when the spool is opened.
//
// It has its own lock, so that asking what there is does not wait for a slow disk.
type index struct {
	mu        sync.Mutex
	attempts  map[attemptKey]*attempt
	usedBytes int64
}

func (i *index) used() int64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.usedBytes
}

func (i *index) at(runID string, number int) *attempt {
	key := attemptKey{runID, number}
	if i.attempts[key] == nil {
		i.attempts[key] = &attempt{chunks: map[Key]int64{}}
	}
	return i.attempts[key]
}

func (i *index) add(key Key, bytes int64, at time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	a := i.at(key.RunID, key.Attempt)
	a.lastAt = latest(a.lastAt, at)
	i.usedBytes += bytes - a.chunks[key]
	a.chunks[key] = bytes
}

// drop forgets a chunk; keepsFile tells that its file stays, set aside. It returns whether that was the attempt's last.
func (i *index) drop(key Key, keepsFile bool) (isLast bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	a := i.at(key.RunID, key.Attempt)
	if keepsFile {
		a.badBytes += a.chunks[key]
	} else {
		i.usedBytes -= a.chunks[key]
	}
	delete(a.chunks, key)
	if isLast = len(a.chunks) == 0 && a.badBytes == 0; isLast {
		delete(i.attempts, attemptKey{key.RunID, key.Attempt})
	}
	return isLast
}

func (i *index) dropAttempt(runID string, number int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	a := i.at(runID, number)
	i.usedBytes -= a.bytes()
	delete(i.attempts, attemptKey{runID, number})
}

func (a *attempt) bytes() int64 {
	total := a.badBytes
	for _, bytes := range a.chunks {
		total += bytes
	}
	return total
}

// note adds what a file of the spool's folder says.
func (i *index) note(path string, entry fs.DirEntry) error {
	dir := filepath.Dir(path)
	runID := filepath.Base(filepath.Dir(dir))
	number, err := strconv.Atoi(filepath.Base(dir))
	if err != nil {
		return nil //nolint:nilerr // no file of ours
	}
	info, err := entry.Info()
	if err != nil {
		return err
	}
	switch key, isChunk := parseName(entry.Name()); {
	case isChunk:
		key.RunID, key.Attempt = runID, number
		i.add(key, info.Size(), believed(info.ModTime()))
	case entry.Name() == asideName:
		i.mark(runID, number, true)
	case strings.HasSuffix(entry.Name(), badSuffix):
		i.addBad(runID, number, info.Size(), believed(info.ModTime()))
	}
	return nil
}

func (i *index) mark(runID string, number int, isAside bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.at(runID, number).isAside = isAside
}

func (i *index) addBad(runID string, number int, bytes int64, at time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	a := i.at(runID, number)
	a.badBytes += bytes
	a.lastAt = latest(a.lastAt, at)
	i.usedBytes += bytes
}

func (i *index) keys(runID string, number int) []Key {
	i.mu.Lock()
	defer i.mu.Unlock()
	a, known := i.attempts[attemptKey{runID, number}]
	if !known {
		return nil
	}
	return slices.SortedFunc(maps.Keys(a.chunks), Compare)
}

// held lists attempts in the order of their names.
func (i *index) held(wanted func(*attempt) bool) []Held {
	i.mu.Lock()
	defer i.mu.Unlock()
	list := []Held{}
	for key, a := range i.attempts {
		if wanted(a) {
			list = append(list, Held{RunID: key.runID, Attempt: key.attempt, Chunks: len(a.chunks), Bytes: a.bytes()})
		}
	}
	slices.SortFunc(list, func(a, b Held) int {
		return cmp.Or(cmp.Compare(a.RunID, b.RunID), cmp.Compare(a.Attempt, b.Attempt))
	})
	return list
}
