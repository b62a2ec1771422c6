package spool

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"downlink/agents/internal/host/diskfile"
)

const (
	magic       = "DLC1"
	headerBytes = 12
	suffix      = ".dlc"
	badSuffix   = ".bad"
	// replacedMark is in the names of folders whose attempt was measured another time.
	replacedMark = "-before-"
	// asideName is the file that marks an attempt as set aside.
	asideName = "aside"
)

// MaxChunkBytes is the most that the backend accepts as one packed chunk.
const MaxChunkBytes = 4 << 20

// ErrCorrupt means that a file was not what was written; it has been set aside.
var ErrCorrupt = errors.New("chunk file is corrupt")

// ErrFull means that the spool's size cap would be exceeded.
var ErrFull = errors.New("spool is full")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Key names one chunk.
type Key struct {
	RunID    string
	Attempt  int
	Flow     int
	Point    string
	Sequence int
}

func (k Key) fileName() string {
	return fmt.Sprintf("%d-%s-%d%s", k.Flow, k.Point, k.Sequence, suffix)
}

// Held counts the chunks of one attempt, and the bytes of its files.
type Held struct {
	RunID   string
	Attempt int
	Chunks  int
	Bytes   int64
}

// Spool is a folder of chunk files, safe for use by several goroutines.
type Spool struct {
	dir      string
	maxBytes int64
	// mu keeps a removal from pruning the folder that a Put is about to write into.
	mu    sync.Mutex
	index index
}

// Open makes the folder where needed, and removes what an interrupted Put left behind.
// maxBytes caps the bytes of all files together; 0 means no cap.
func Open(dir string, maxBytes int64) (*Spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open spool: %w", err)
	}
	s := newSpool(dir, maxBytes)
	return s, s.walk(func(path string, entry fs.DirEntry) error {
		if strings.HasSuffix(path, ".tmp") {
			return os.Remove(path)
		}
		return s.index.note(path, entry)
	})
}

// Look opens the folder beside its agent, which may be writing a chunk: it makes and removes nothing.
func Look(dir string) (*Spool, error) {
	s := newSpool(dir, 0)
	return s, s.walk(s.index.note)
}

func newSpool(dir string, maxBytes int64) *Spool {
	return &Spool{dir: dir, maxBytes: maxBytes, index: index{attempts: map[attemptKey]*attempt{}}}
}

func (s *Spool) attemptDir(runID string, attempt int) string {
	return filepath.Join(s.dir, runID, strconv.Itoa(attempt))
}

func (s *Spool) path(k Key) string {
	return filepath.Join(s.attemptDir(k.RunID, k.Attempt), k.fileName())
}

// Put stores a chunk so that it survives a crash or power cut once Put has returned.
func (s *Spool) Put(key Key, payload []byte) error {
	if len(payload) > MaxChunkBytes {
		return fmt.Errorf("chunk of %d bytes exceeds the limit of %d", len(payload), MaxChunkBytes)
	}
	if !IsPlainName(key.RunID) || !IsPlainName(key.Point) {
		return fmt.Errorf("chunk key %+v does not make a file name", key)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkRoom(int64(len(payload))); err != nil {
		return err
	}
	path := s.path(key)
	if err := diskfile.MakeDirs(s.dir, filepath.Dir(path)); err != nil {
		return fmt.Errorf("store chunk: %w", err)
	}
	if err := diskfile.Write(path, frame(payload), 0o600); err != nil {
		return fmt.Errorf("store chunk: %w", err)
	}
	s.index.add(key, int64(headerBytes+len(payload)), time.Now())
	return nil
}

// IsPlainName tells whether a name can name a file here; it keeps a server from naming files outside the spool.
func IsPlainName(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

func (s *Spool) checkRoom(extra int64) error {
	if used := s.index.used(); s.maxBytes > 0 && used+extra > s.maxBytes {
		return fmt.Errorf("%w: %d of %d bytes are used", ErrFull, used, s.maxBytes)
	}
	return nil
}

func frame(payload []byte) []byte {
	out := make([]byte, 0, headerBytes+len(payload))
	out = append(out, magic...)
	out = binary.LittleEndian.AppendUint32(out, crc32.Checksum(payload, castagnoli))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(payload))) // bounded by MaxChunkBytes
	return append(out, payload...)
}

func unframe(file []byte) ([]byte, error) {
	if len(file) < headerBytes || string(file[:4]) != magic {
		return nil, fmt.Errorf("%w: no %s header", ErrCorrupt, magic)
	}
	payload := file[headerBytes:]
	if uint64(len(payload)) != uint64(binary.LittleEndian.Uint32(file[8:])) {
		return nil, fmt.Errorf("%w: its length does not fit its header", ErrCorrupt)
	}
	if crc32.Checksum(payload, castagnoli) != binary.LittleEndian.Uint32(file[4:]) {
		return nil, fmt.Errorf("%w: its checksum does not fit its content", ErrCorrupt)
	}
	return payload, nil
}

// Get returns a chunk's payload. A corrupt file is set aside and reported as ErrCorrupt.
func (s *Spool) Get(key Key) ([]byte, error) {
	file, err := os.ReadFile(s.path(key))
	if err != nil {
		return nil, fmt.Errorf("read chunk: %w", err)
	}
	payload, err := unframe(file)
	if err != nil {
		return nil, errors.Join(err, s.Quarantine(key))
	}
	return payload, nil
}

// Quarantine sets a chunk aside: it is kept for people, and not listed any more.
func (s *Spool) Quarantine(key Key) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := s.path(key)
	if err := os.Rename(path, path+badSuffix); err != nil {
		return fmt.Errorf("set chunk aside: %w", err)
	}
	s.index.drop(key, true)
	return diskfile.SyncDir(filepath.Dir(path))
}

// Remove forgets an acknowledged chunk; one that is gone already is no error.
func (s *Spool) Remove(key Key) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.Remove(s.path(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove chunk: %w", err)
	}
	if s.index.drop(key, false) {
		_ = os.Remove(s.asidePath(key.RunID, key.Attempt))
	}
	return s.prune(key.RunID, key.Attempt)
}

// prune removes the folders of an attempt that holds nothing any more.
func (s *Spool) prune(runID string, attempt int) error {
	dir := s.attemptDir(runID, attempt)
	for _, empty := range []string{dir, filepath.Dir(dir)} {
		if err := os.Remove(empty); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil // Not empty: there is more to keep.
		}
	}
	return nil
}

// Discard forgets all chunks of an attempt, those set aside included.
func (s *Spool) Discard(runID string, attempt int) error {
	if !IsPlainName(runID) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.RemoveAll(s.attemptDir(runID, attempt)); err != nil {
		return fmt.Errorf("discard chunks: %w", err)
	}
	s.index.dropAttempt(runID, attempt)
	return s.prune(runID, attempt)
}

// Replace moves what there is of an attempt out of the way of another measurement under the same name, and returns where it is now; empty
// where there was nothing. It is offered no more, and deleted by nobody.
func (s *Spool) Replace(runID string, attempt int) (place string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := s.attemptDir(runID, attempt)
	if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	for number := 1; ; number++ {
		place = fmt.Sprintf("%s%s%d", from, replacedMark, number)
		if _, err := os.Stat(place); errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err := os.Rename(from, place); err != nil {
		return "", fmt.Errorf("keep chunks of before: %w", err)
	}
	s.index.dropAttempt(runID, attempt)
	return place, nil
}

// Replaced are the folders of attempts that another measurement took the name of.
func (s *Spool) Replaced() ([]string, error) {
	return filepath.Glob(filepath.Join(s.dir, "*", "*"+replacedMark+"*"))
}

// SetAside takes an attempt's chunks out of what is offered, and keeps them for people.
func (s *Spool) SetAside(runID string, attempt int) error { return s.mark(runID, attempt, true) }

// Return offers chunks again that were set aside.
func (s *Spool) Return(runID string, attempt int) error { return s.mark(runID, attempt, false) }

func (s *Spool) mark(runID string, attempt int, isAside bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := s.asidePath(runID, attempt)
	change := func() error { return diskfile.Write(path, nil, 0o600) }
	if !isAside {
		change = func() error { return diskfile.Remove(path) }
	}
	if len(s.index.keys(runID, attempt)) == 0 {
		return nil
	}
	if err := change(); err != nil {
		return fmt.Errorf("mark chunks: %w", err)
	}
	s.index.mark(runID, attempt, isAside)
	return nil
}

func (s *Spool) asidePath(runID string, attempt int) string {
	return filepath.Join(s.attemptDir(runID, attempt), asideName)
}

// Keys lists the chunks of an attempt by flow, point and sequence.
func (s *Spool) Keys(runID string, attempt int) []Key { return s.index.keys(runID, attempt) }

// Compare orders chunks of an attempt by flow, point and sequence.
func Compare(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Flow, b.Flow), cmp.Compare(a.Point, b.Point), cmp.Compare(a.Sequence, b.Sequence))
}

func parseName(name string) (Key, bool) {
	stem, isChunk := strings.CutSuffix(name, suffix)
	first, last := strings.Index(stem, "-"), strings.LastIndex(stem, "-") // a point may have one too
	if !isChunk || first == last {
		return Key{}, false
	}
	flow, flowErr := strconv.Atoi(stem[:first])
	sequence, sequenceErr := strconv.Atoi(stem[last+1:])
	key := Key{Flow: flow, Point: stem[first+1 : last], Sequence: sequence}
	return key, flowErr == nil && sequenceErr == nil && key.fileName() == name
}

// Held lists the attempts whose chunks wait to be asked for, in the order of their names.
func (s *Spool) Held() []Held {
	return s.index.held(func(a *attempt) bool { return len(a.chunks) > 0 && !a.isAside })
}

// Aside lists the attempts of which something was set aside.
func (s *Spool) Aside() []Held {
	return s.index.held(func(a *attempt) bool { return a.isAside || a.badBytes > 0 })
}

// walk visits all files; those that vanish meanwhile are passed over.
func (s *Spool) walk(visit func(path string, entry fs.DirEntry) error) error {
	return filepath.WalkDir(s.dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && entry.IsDir() {
			return nil
		}
		if err != nil {
			return fmt.Errorf("look through spool: %w", err)
		}
		return visit(path, entry)
	})
}
