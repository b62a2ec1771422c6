package emulate

import (
	"encoding/binary"
	"math/rand/v2"
	"time"
)

// moment is the period of what is drawn for single packets.
const moment = time.Microsecond

// course draws what holds for a period and differs in the next. What it is depends on the seed and on the number of
// the period alone, so that a link runs through the same course whether or not packets were there to see it.
type course struct {
	key    [32]byte // ends with the period's number
	source *rand.ChaCha8
	rng    *rand.Rand
	now    int64 // the moment of the last packet
}

// newCourse takes ChaCha8 because the seeds of successive periods are alike: PCG's first draws show it.
func newCourse(rng *rand.Rand) *course {
	c := &course{now: -1}
	binary.LittleEndian.PutUint64(c.key[:], rng.Uint64())
	c.source = rand.NewChaCha8(c.key)
	c.rng = rand.New(c.source)
	return c
}

// in gives the randomness of the period that t lies in.
func (c *course) in(t, period time.Duration) *rand.Rand {
	binary.LittleEndian.PutUint64(c.key[len(c.key)-8:], uint64(t/period))
	c.source.Seed(c.key)
	return c.rng
}

// draw gives a packet that comes at t its chance. Packets of one moment draw one after the other.
func (c *course) draw(t time.Duration) *rand.Rand {
	if now := int64(t / moment); now != c.now {
		c.now = now
		return c.in(t, moment)
	}
	return c.rng
}
