package uplink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"

	"downlink/agents/internal/diskfile"
	"downlink/agents/internal/protocol"
)

// Outbox keeps events on disk, in order, until the server has accepted them.
type Outbox struct {
	dir string
	log *slog.Logger
	// added wakes Deliver.
	added chan struct{}

	mu    sync.Mutex
	next  int
	queue []queued
}

type queued struct {
	number int
	letter letter
}

// letter is the content of one file.
type letter struct {
	protocol.RunRef
	Body json.RawMessage `json:"body"`
}

// OpenOutbox reads what an earlier process left undelivered.
func OpenOutbox(dir string, log *slog.Logger) (*Outbox, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open outbox: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("open outbox: %w", err)
	}
	o := &Outbox{dir: dir, log: log, added: make(chan struct{}, 1), next: 1}
	for _, entry := range entries {
		if number, isLetter := letterNumber(entry.Name()); isLetter {
			o.load(number)
		}
	}
	sort.Slice(o.queue, func(i, j int) bool { return o.queue[i].number < o.queue[j].number })
	o.wake()
	return o, nil
}

func letterNumber(name string) (int, bool) {
	stem, isLetter := strings.CutSuffix(name, ".json")
	number, err := strconv.Atoi(stem)
	return number, isLetter && err == nil
}

func (o *Outbox) path(number int) string {
	return filepath.Join(o.dir, fmt.Sprintf("%012d.json", number))
}

// load sets a file aside that cannot be read: it must not hold up those behind it.
func (o *Outbox) load(number int) {
	o.next = max(o.next, number+1)
	content, err := os.ReadFile(o.path(number))
	var l letter
	if err == nil {
		err = json.Unmarshal(content, &l)
	}
	if err != nil {
		o.log.Error("an event file is unreadable and was set aside", "path", o.path(number), "error", err)
		_ = os.Rename(o.path(number), o.path(number)+".bad")
		return
	}
	o.queue = append(o.queue, queued{number: number, letter: l})
}

// Add returns once the event is safe on disk.
func (o *Outbox) Add(ref protocol.RunRef, event protocol.Event) error {
	body, err := protocol.EncodeEvent(event)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	l := letter{RunRef: ref, Body: body}
	content, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	if err := diskfile.Write(o.path(o.next), content, 0o600); err != nil {
		return fmt.Errorf("keep event: %w", err)
	}
	o.queue = append(o.queue, queued{number: o.next, letter: l})
	o.next++
	o.wake()
	return nil
}

func (o *Outbox) wake() {
	select {
	case o.added <- struct{}{}:
	default:
	}
}

// Has tells whether events of an attempt wait.
func (o *Outbox) Has(ref protocol.RunRef) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, q := range o.queue {
		if q.letter.RunRef == ref {
			return true
		}
	}
	return false
}

// Waiting returns the attempt whose event is the first to be delivered, and false when nothing waits.
func (o *Outbox) Waiting() (protocol.RunRef, bool) {
	first, some := o.first()
	return first.letter.RunRef, some
}

// IsEmpty tells whether nothing waits.
func (o *Outbox) IsEmpty() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queue) == 0
}

// Drop forgets the events of an attempt.
func (o *Outbox) Drop(ref protocol.RunRef) {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept := o.queue[:0]
	for _, q := range o.queue {
		if q.letter.RunRef == ref {
			o.forget(q.number)
			continue
		}
		kept = append(kept, q)
	}
	o.queue = kept
}

func (o *Outbox) forget(number int) {
	if err := diskfile.Remove(o.path(number)); err != nil {
		o.log.Error("an event that was dealt with could not be removed; it will be sent again", "error", err)
	}
}

func (o *Outbox) first() (queued, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		return queued{}, false
	}
	return o.queue[0], true
}

// take removes an event if it is still the first.
func (o *Outbox) take(q queued) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) > 0 && o.queue[0].number == q.number {
		o.queue = o.queue[1:]
		o.forget(q.number)
	}
}

// Poster delivers one event.
type Poster func(ctx context.Context, runID string, body []byte) error

// Deliver posts events one by one, in order, until the context ends or the secret is revoked. lost is told of a run
// that the server has taken from this agent.
func (o *Outbox) Deliver(ctx context.Context, post Poster, lost func(protocol.RunRef)) error {
	backoff := DefaultBackoff()
	for {
		q, some := o.first()
		if !some {
			select {
			case <-o.added:
				continue
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		err := post(ctx, q.letter.RunID, q.letter.Body)
		if o.settle(q, err, lost) {
			backoff.Reset()
			continue
		}
		if errors.Is(err, ErrRevoked) {
			return err
		}
		if pauseErr := Pause(ctx, backoff.Next(err)); pauseErr != nil {
			return pauseErr
		}
	}
}

// settle deals with the answer to one event; false means that it must be sent again.
func (o *Outbox) settle(q queued, err error, lost func(protocol.RunRef)) bool {
	var status *StatusError
	switch {
	case err == nil:
		o.take(q)
		return true
	case errors.As(err, &status) && status.Status == http.StatusConflict:
		o.log.Warn("the server has taken this run from the agent", "run_id", q.letter.RunID, "error", err)
		o.Drop(q.letter.RunRef)
		lost(q.letter.RunRef)
		return true
	case errors.As(err, &status) && status.IsFinal():
		o.log.Error("the server refused an event; it is dropped", "run_id", q.letter.RunID, "event", string(q.letter.Body), "error", err)
		o.take(q)
		return true
	}
	return false
}
