package volume

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"downlink/agents/internal/host/diskfile"
)

const (
	// FileName is the ledger's in the state folder.
	FileName = "volume.json"
	dateForm = "2006-01-02"
	// lookInterval is how often a run's count is compared with what is on the disk.
	lookInterval = 100 * time.Millisecond
	// leastAhead is how much more than it has moved a run is counted with on the disk while it lasts.
	leastAhead = 16_000_000
)

// book is the file's content: the month's first day by the host's clock, and what was moved in it.
type book struct {
	From  string `json:"from"`
	Bytes int64  `json:"bytes"`
}

// Ledger counts the bytes of one host's months. It is safe for use by several goroutines.
type Ledger struct {
	path string
	most int64
	day  int

	mu sync.Mutex
}

// Open returns the ledger in an agent's state folder. most is what a month may have, and 0 no limit; day is that on which a
// month begins, from 1 to 28.
func Open(stateDir string, most int64, day int) *Ledger {
	return &Ledger{path: filepath.Join(stateDir, FileName), most: most, day: day}
}

// Begin is the first moment of the month in which t lies, by the clock of t's location.
func Begin(t time.Time, day int) time.Time {
	month := t.Month()
	if t.Day() < day {
		month--
	}
	return time.Date(t.Year(), month, day, 0, 0, 0, 0, t.Location())
}

// Left is what the month still allows; a month without limit allows more than any run moves. A count that cannot be read
// allows nothing: in doubt it is used up.
func (l *Ledger) Left(now time.Time) (int64, error) {
	if l.most == 0 {
		return math.MaxInt64, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	current, err := l.read(now)
	if err != nil {
		return 0, err
	}
	return max(0, l.most-current.Bytes), nil
}

// UsedUp is a sentence for people when nothing is left, and empty otherwise.
func (l *Ledger) UsedUp(now time.Time) string {
	left, err := l.Left(now)
	switch {
	case err != nil:
		return fmt.Sprintf("what it has moved this month cannot be read: %v", err)
	case left > 0:
		return ""
	}
	return "over_budget: " + l.Limit() + ", and they are used up until " + l.resets(now)
}

// Limit says what the owner allows.
func (l *Ledger) Limit() string {
	return fmt.Sprintf("this host's policy (monthly_bytes) allows %d bytes per month", l.most)
}

func (l *Ledger) resets(now time.Time) string {
	month, _ := l.Month(now)
	return month.ResetsOn
}

// Month is what a month allows, what of it is used, and on which day the next one begins. Limit is 0 where there is none.
type Month struct {
	Limit, Used int64
	ResetsOn    string
}

// Month reads the month in which now lies. One whose count cannot be read is used up, as for Left.
func (l *Ledger) Month(now time.Time) (Month, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	begin, used := Begin(now, l.day), l.most
	current, err := l.read(now)
	if err == nil {
		used = current.Bytes
		if booked, err := time.ParseInLocation(dateForm, current.From, now.Location()); err == nil {
			begin = booked
		}
	}
	return Month{l.most, used, begin.AddDate(0, 1, 0).Format(dateForm)}, err
}

// Meter counts a run from now on; used is what it has moved so far. The returned function ends that with the exact count.
//
// While the run lasts, the disk holds more than it has moved. So an agent that is killed has counted too much rather than
// too little, by what the run could move in some tenths of a second, and at least 16 MB.
func (l *Ledger) Meter(now time.Time, used func() int64) (settle func() error, err error) {
	if l.most == 0 {
		return func() error { return nil }, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	start, err := l.read(now)
	if err != nil {
		return nil, err
	}
	if err := l.write(book{From: start.From, Bytes: start.Bytes + leastAhead}); err != nil {
		return nil, err
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		l.follow(start, used, stop)
	}()
	return func() error {
		close(stop)
		<-done
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.write(book{From: start.From, Bytes: start.Bytes + used()})
	}, nil
}

// follow keeps the disk ahead of the run until it is stopped.
//
// Liveness: it waits for the ticker or for stop, which its owner closes.
func (l *Ledger) follow(start book, used func() int64, stop <-chan struct{}) {
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	booked, last := int64(leastAhead), int64(0)
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
		now := used()
		ahead := max(leastAhead, 4*(now-last))
		last = now
		if now+ahead/2 <= booked {
			continue
		}
		l.mu.Lock()
		// One that fails is tried again with the next tick; the run's end reports it if it lasts.
		if l.write(book{From: start.From, Bytes: start.Bytes + now + ahead}) == nil {
			booked = now + ahead
		}
		l.mu.Unlock()
	}
}

// read is the count of the month in which now lies. A clock that was put back opens no new month, and another reset day takes
// the count along until the month is over in which it was made.
func (l *Ledger) read(now time.Time) (book, error) {
	fresh := book{From: Begin(now, l.day).Format(dateForm)}
	content, err := os.ReadFile(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return fresh, nil
	}
	if err != nil {
		return book{}, fmt.Errorf("read %s: %w", FileName, err)
	}
	var kept book
	if err := json.Unmarshal(content, &kept); err != nil {
		return book{}, fmt.Errorf("read %s: %w", FileName, err)
	}
	begun, err := time.ParseInLocation(dateForm, kept.From, now.Location())
	if err != nil || kept.Bytes < 0 {
		return book{}, fmt.Errorf("read %s: from %q and bytes %d are no count", FileName, kept.From, kept.Bytes)
	}
	switch isOtherDay := begun.Day() != l.day; {
	case isOtherDay && now.Before(begun.AddDate(0, 1, 0)):
		return book{From: fresh.From, Bytes: kept.Bytes}, nil
	case isOtherDay, fresh.From > kept.From:
		return fresh, nil
	}
	return kept, nil
}

func (l *Ledger) write(b book) error {
	content, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("encode %s: %w", FileName, err)
	}
	if err := diskfile.Write(l.path, content, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", FileName, err)
	}
	return nil
}
