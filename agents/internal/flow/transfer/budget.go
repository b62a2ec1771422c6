package transfer

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
)

// Budget is what one run may move: payload bytes of all its flows, sent and received, added up.
type Budget struct {
	most int64
	why  string
	used atomic.Int64

	lock sync.Mutex
	upTo map[any]int64 // what was charged of things that several flows move together
}

// NewBudget returns a budget of so many bytes; 0 means no limit.
func NewBudget(most int64) *Budget {
	if most == 0 {
		most = math.MaxInt64
	}
	return &Budget{most: most, why: fmt.Sprintf("this host's policy (max_bytes) allows %d bytes per run", most)}
}

// NewRest returns a budget of what a larger one has left, which may be nothing. limit says what that is.
func NewRest(left int64, limit string) *Budget {
	return &Budget{most: left, why: fmt.Sprintf("%s, and %d bytes were left for this run", limit, left)}
}

// Most is what the run may move.
func (b *Budget) Most() int64 { return b.most }

// Used is what the run has moved so far.
func (b *Budget) Used() int64 { return b.used.Load() }

// Take returns how many of the wanted bytes may be sent. What is not sent after all must be given back.
func (b *Budget) Take(wanted int) (granted int) {
	for {
		used := b.used.Load()
		granted := min(int64(wanted), b.most-used)
		if granted <= 0 {
			return 0
		}
		if b.used.CompareAndSwap(used, used+granted) {
			return int(granted)
		}
	}
}

// GiveBack takes back what was granted and not sent.
func (b *Budget) GiveBack(n int) { b.used.Add(-int64(n)) }

// room is how much a receiver may read at once: one byte more than is left, so that a sender that does not stop is
// known from one that has ended.
func (b *Budget) room(wanted int) int {
	left := b.most - b.used.Load()
	if left >= int64(wanted) {
		return wanted
	}
	return int(max(left, 0)) + 1
}

// Spend notes bytes that were received; false means that they were too many.
func (b *Budget) Spend(n int) bool { return b.used.Add(int64(n)) <= b.most }

// SpendUpTo notes how much of something has been moved in all, which several flows may note; false means that it was too much.
func (b *Budget) SpendUpTo(what any, total int64) bool {
	b.lock.Lock()
	defer b.lock.Unlock()
	more := max(0, total-b.upTo[what])
	b.charge(what, b.upTo[what]+more)
	return b.Spend(int(more))
}

// TakeUpTo asks for so much of something in all, and returns how much of it may be sent.
func (b *Budget) TakeUpTo(what any, total int64) (granted int64) {
	b.lock.Lock()
	defer b.lock.Unlock()
	granted = b.upTo[what]
	if total > granted {
		granted += int64(b.Take(int(total - granted)))
		b.charge(what, granted)
	}
	return granted
}

// GiveBackTo takes back what was granted of something above so much.
func (b *Budget) GiveBackTo(what any, total int64) {
	b.lock.Lock()
	defer b.lock.Unlock()
	if over := b.upTo[what] - total; over > 0 {
		b.charge(what, total)
		b.GiveBack(int(over))
	}
}

// charge is called with the lock.
func (b *Budget) charge(what any, total int64) {
	if b.upTo == nil {
		b.upTo = map[any]int64{}
	}
	b.upTo[what] = total
}

// Exceeded says why a flow was broken off.
func (b *Budget) Exceeded() string {
	return b.why
}
