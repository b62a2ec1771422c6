package emulate

import "time"

// bottleneck is a queue and the serialiser that empties it.
//
// The serialiser never idles while a packet waits and serves in order, so when a packet will leave is known on its arrival.
type bottleneck struct {
	rate  rate
	shown rate // the same, asked for the present
	rule  dropRule
	drops *course

	queue       waiting
	queuedBytes int           // waiting or in transmission
	freeAt      time.Duration // when the serialiser has sent all that was accepted
}

// dropRule is what a queue does with an arrival: no more than limitBytes wait; when more than aboveBytes wait, a share
// of the arrivals is dropped at random.
type dropRule struct {
	limitBytes int
	aboveBytes int // dropRatio 0: not used
	dropRatio  float64
}

func (b *bottleneck) Process(now time.Duration, in *Packet) (*Packet, time.Duration) {
	if in != nil {
		if in.Lost = b.verdict(now, in); in.Lost != NotLost {
			return in, b.queue.next()
		}
		b.freeAt = finish(b.rate, max(now, b.freeAt), float64(in.SizeBytes)*8)
		in.due = b.freeAt
		b.queuedBytes += in.SizeBytes
		b.queue.put(in)
	}
	out, wake := b.queue.take(now)
	if out != nil {
		b.queuedBytes -= out.SizeBytes
	}
	return out, wake
}

func (b *bottleneck) verdict(now time.Duration, in *Packet) Cause {
	if b.queuedBytes+in.SizeBytes > b.rule.limitBytes {
		return QueueFull
	}
	if b.rule.dropRatio > 0 && b.queuedBytes > b.rule.aboveBytes && b.drops.draw(now).Float64() < b.rule.dropRatio {
		return EarlyDrop
	}
	return NotLost
}

func (b *bottleneck) Held() int { return b.queue.n }

func (b *bottleneck) Least() time.Duration { return 0 }
