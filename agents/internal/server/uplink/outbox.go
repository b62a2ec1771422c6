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
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"downlink/agents/internal/host/diskfile"
	"downlink/agents/internal/server/protocol"
)

// Outbox keeps events on disk, in order, until the server has accepted them.
type Outbox struct {
	dir string
	log *slog.Logger
	// added wakes Deliver.
	added   chan struct{}
	backoff *Backoff

	mu    sync.Mutex
	next  int
	queue []queued
	// aside are attempts whose first event is refused again and again, neither accepted nor refused permanently.
	aside []queued
	// recallAt is when they are tried again.
	recallAt time.Time
}

type queued struct {
	number int
	letter letter
	// tries counts refusals that were not final.
	tries int
}

const (
	// mostTries takes about two minutes; a server that is being upgraded answers otherwise meanwhile.
	mostTries = 10
	// recallAfter is how long attempts are left aside.
	recallAfter = 10 * time.Minute
)

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
	o := &Outbox{dir: dir, log: log, added: make(chan struct{}, 1), backoff: DefaultBackoff(), next: 1}
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
	if err == nil && (l.RunID == "" || len(l.Body) == 0) {
		err = errors.New("it holds no event of a run")
	}
	if err != nil {
		o.log.Error("an event file is unreadable and was set aside", "path", o.path(number), "error", err)
		_ = os.Rename(o.path(number), o.path(number)+".bad")
		return
	}
	o.queue = append(o.queue, queued{number: number, letter: l})
}

// Add returns once the event is safe on disk. One that finds no room there is kept in memory: with the process it is lost, but
// without it the server would not hear why a run ended, which may be for want of room.
func (o *Outbox) Add(ref protocol.RunRef, event protocol.Event) error {
	body, err := protocol.EncodeEvent(ref, event)
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
	switch err := diskfile.Write(o.path(o.next), content, 0o600); {
	case diskfile.IsFull(err):
		o.log.Warn("an event found no room on disk and is kept in memory until it is delivered", "run_id", ref.RunID, "error", err)
	case err != nil:
		return fmt.Errorf("keep event: %w", err)
	}
	q := queued{number: o.next, letter: l}
	o.next++
	if has(o.aside, ref) {
		o.aside = append(o.aside, q)
		return nil
	}
	o.queue = append(o.queue, q)
	o.wake()
	return nil
}

func has(events []queued, ref protocol.RunRef) bool {
	return slices.ContainsFunc(events, func(q queued) bool { return q.letter.Is(ref) })
}

func (o *Outbox) wake() {
	select {
	case o.added <- struct{}{}:
	default:
	}
}

// Has tells whether events of an attempt are not delivered, those set aside included.
func (o *Outbox) Has(ref protocol.RunRef) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return has(o.queue, ref) || has(o.aside, ref)
}

// Waits tells whether events of an attempt are about to be delivered.
func (o *Outbox) Waits(ref protocol.RunRef) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return has(o.queue, ref)
}

// Waiting returns the attempt whose event is the first to be delivered, and false when nothing waits.
func (o *Outbox) Waiting() (protocol.RunRef, bool) {
	first, some := o.first()
	return first.letter.RunRef, some
}

// Aside returns how many events are set aside, and an attempt among theirs.
func (o *Outbox) Aside() (count int, ref protocol.RunRef) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.aside) > 0 {
		ref = o.aside[0].letter.RunRef
	}
	return len(o.aside), ref
}

// IsEmpty tells whether nothing waits; what is set aside does not.
func (o *Outbox) IsEmpty() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queue) == 0
}

// Drop forgets the events of an attempt.
func (o *Outbox) Drop(ref protocol.RunRef) {
	o.mu.Lock()
	defer o.mu.Unlock()
	drop := func(q queued) bool {
		if q.letter.RunRef == ref {
			o.forget(q.number)
		}
		return q.letter.RunRef == ref
	}
	o.queue = slices.DeleteFunc(o.queue, drop)
	o.aside = slices.DeleteFunc(o.aside, drop)
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

// noteRefusal counts a refusal that was not final; true means that the event's attempt was set aside for it.
func (o *Outbox) noteRefusal(q queued, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 || o.queue[0].number != q.number {
		return false
	}
	o.queue[0].tries++
	if o.queue[0].tries < mostTries {
		return false
	}
	kept := o.queue[:0:0]
	for _, other := range o.queue {
		if other.letter.RunRef == q.letter.RunRef {
			o.aside = append(o.aside, other)
		} else {
			kept = append(kept, other)
		}
	}
	o.queue, o.recallAt = kept, now.Add(recallAfter)
	return true
}

// recall puts what was set aside behind the rest of the queue once its time has come. One more refusal is enough then.
func (o *Outbox) recall(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.aside) > 0 && !now.Before(o.recallAt) {
		o.queue, o.aside = append(o.queue, o.aside...), nil
	}
}

// Poster delivers one event.
type Poster func(ctx context.Context, runID string, body []byte) error

// Deliver posts events one by one, in order, until the context ends or the secret is revoked. lost is told of a run
// that the server has taken from this agent.
func (o *Outbox) Deliver(ctx context.Context, post Poster, lost func(protocol.RunRef)) error {
	for {
		o.recall(time.Now())
		q, some := o.first()
		if !some {
			select {
			case <-o.added:
				continue
			case <-time.After(recallAfter / 10):
				continue
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		err := post(ctx, q.letter.RunID, q.letter.Body)
		if o.settle(q, err, lost) {
			o.backoff.Reset()
			continue
		}
		if errors.Is(err, ErrRevoked) {
			return err
		}
		if IsRefusal(err) && o.noteRefusal(q, time.Now()) {
			o.log.Error("an event was refused again and again; its run's events are set aside and sent later", "run_id", q.letter.RunID, "event",
				string(q.letter.Body), "tries", mostTries, "again_in", recallAfter, "error", err)
			o.backoff.Reset()
			continue
		}
		if pauseErr := Pause(ctx, o.backoff.Next(err)); pauseErr != nil {
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
	case errors.As(err, &status) && status.IsOurs() && status.Status == http.StatusConflict:
		o.log.Warn("the server has taken this run from the agent", "run_id", q.letter.RunID, "error", err)
		o.Drop(q.letter.RunRef)
		lost(q.letter.RunRef)
		return true
	case errors.As(err, &status) && status.IsFinal():
		o.log.Error("the server refused an event permanently; its file is kept as .bad", "run_id", q.letter.RunID, "event",
			string(q.letter.Body), "error", err)
		_ = os.Rename(o.path(q.number), o.path(q.number)+".bad")
		o.take(q)
		return true
	}
	return false
}
