package transfer

import (
	"fmt"
	"math"
	"sync/atomic"
)

// Budget is what one run may move: payload bytes of all its flows, sent and received, added up.
type Budget struct {
	most int64
	why  string
	used atomic.Int64
}

// NewBudget returns a budget of so many bytes; 0 means no limit.
func NewBudget(most int64) *Budget {
	if most == 0 {
		most = math.MaxInt64
	}
	return &Budget{most: most, why: fmt.Sprintf("this host's policy (max_bytes) allows %d bytes per run", most)}
}

// NewMonthBudget returns a budget of what a month has left, which may be nothing. limit says what the month allows.
func NewMonthBudget(left int64, limit string) *Budget {
	return &Budget{most: left, why: fmt.Sprintf("%s, and %d bytes were left for this run", limit, left)}
}

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

// room is how much a receiver may read at once: one byte more than is left, by which a sender that does not stop is
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

// Exceeded says why a flow was broken off.
func (b *Budget) Exceeded() string {
	return b.why
}
