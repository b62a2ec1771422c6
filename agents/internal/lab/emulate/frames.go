package emulate

import (
	"slices"
	"time"
)

// frames is a return channel in frames, as a satellite terminal has it: a few bytes of each frame are its own, the others
// it must ask for, and they come later. What waits is sent in bursts at the frames' beginnings.
//
// A frame carries base bytes and, once there has been something to carry for the hold, what was asked for grantDelay frames
// before, together no more than most. Asked for is, with request.frames, the rate of so many last frames beyond what the
// terminal's own bytes carried, and a share of what waits, so that it would be gone after so many frames; without, all that
// waits, in each frame again. A packet that is larger than base is split over as many frames as it takes, a smaller one
// waits for a frame that has room for all of it, in its base bytes or in the granted ones. Frames count from the link's
// zero, so that all bursts begin at multiples of the frame's length.
type frames struct {
	length     time.Duration
	base, most int           // bytes a frame
	grantDelay int           // frames
	hold       time.Duration // from the first packet after a silence to the first grant
	rate       rate          // within a frame
	shown      rate          // the same, asked for the present
	limit      int           // bytes that may wait
	thinsAcks  bool          // an acknowledgement that waits goes when a later one of its flow comes
	request    request

	queue       []*Packet // not yet in a frame
	queuedBytes int
	sent        int   // bytes of the first packet that earlier frames have carried
	asked       []int // bytes that were asked for at the last grantDelay frames' beginnings, by frame number modulo their count
	frame       int64 // the last one whose beginning has been looked at
	emptySince  int64 // the first frame at whose beginning nothing waited any longer
	demandSince time.Duration
	leaving     waiting // in a frame, with the moment at which they are sent
	freeAt      time.Duration
}

// request is what a terminal knows of its last frames when it asks for bytes.
type request struct {
	frames int   // over which rates are taken; 0: none are
	beyond []int // bytes that came in each of them, less those that the terminal's own share carried, by number modulo their count
	sum    int   // of these
	now    int   // in the present one
}

// bytes is what is asked for at a frame's beginning at which so much waits.
func (r *request) bytes(frame int64, waiting int) int {
	if r.frames == 0 {
		return waiting
	}
	slot := frame % int64(r.frames)
	r.sum += r.now - r.beyond[slot]
	r.beyond[slot], r.now = r.now, 0
	return (max(r.sum, 0) + waiting) / r.frames
}

func newFrames(f Frames, r, shown rate, limitBytes int) *frames {
	return &frames{
		length: milliseconds(f.LengthMs), base: f.BaseBytes, most: f.MostBytes, grantDelay: f.GrantDelayFrames, hold: seconds(f.HoldS),
		rate: r, shown: shown, limit: limitBytes, thinsAcks: f.ThinsAcks,
		request: request{frames: f.RequestFrames, beyond: make([]int, f.RequestFrames)},
		asked:   make([]int, f.GrantDelayFrames), emptySince: -int64(f.GrantDelayFrames) - 1, frame: -1,
	}
}

func (n *frames) Process(now time.Duration, in *Packet) (*Packet, time.Duration) {
	if at := time.Duration(n.frame+1) * n.length; now >= at && len(n.queue) > 0 {
		n.begin(now)
	}
	if in != nil {
		if n.queuedBytes+in.SizeBytes > n.limit {
			in.Lost = QueueFull
			return in, n.wake()
		}
		if thinned := n.take(now, in); thinned != nil {
			return thinned, n.wake()
		}
	}
	out, _ := n.leaving.take(now)
	return out, n.wake()
}

// take lets a packet wait for its frame, and returns one that needs not wait any longer because of it. The first packet
// after a silence begins a new demand.
func (n *frames) take(now time.Duration, in *Packet) (needless *Packet) {
	frame := int64(now / n.length)
	if len(n.queue) == 0 && frame-n.emptySince >= int64(n.grantDelay) {
		n.demandSince = now
	}
	if len(n.queue) == 0 {
		n.silence(frame)
	}
	if n.thinsAcks {
		needless = n.thin(in)
	}
	n.queue = append(n.queue, in)
	n.queuedBytes += in.SizeBytes
	n.request.now += in.SizeBytes
	return needless
}

// thin takes the acknowledgement out of the queue that in makes needless. At most one waits, since each met the one before it.
func (n *frames) thin(in *Packet) *Packet {
	ack, isOne := readPureAck(in.Data)
	if !isOne {
		return nil
	}
	for i, p := range n.queue {
		if earlier, isOne := readPureAck(p.Data); isOne && ack.makesNeedless(earlier) && (i > 0 || n.sent == 0) {
			n.queue = slices.Delete(n.queue, i, i+1)
			n.queuedBytes -= p.SizeBytes
			p.Lost = Thinned
			return p
		}
	}
	return nil
}

// silence notes that nothing waited at the beginnings of the frames up to this one.
func (n *frames) silence(frame int64) {
	remembered := int64(len(n.asked) + n.request.frames)
	for k := max(n.frame+1, frame-remembered+1); k <= frame; k++ {
		n.asked[k%int64(len(n.asked))] = n.request.bytes(k, 0)
	}
	n.frame = max(n.frame, frame)
}

// begin fills the frame that begins at now: first its own share, then what is granted.
func (n *frames) begin(now time.Duration) {
	n.frame++
	n.freeAt = max(n.freeAt, now)
	granted := n.granted(now)
	n.request.now -= n.fill(n.base)
	n.fill(granted)
	if len(n.queue) == 0 {
		n.emptySince = n.frame + 1
	}
}

// fill carries what waits as far as there is room.
func (n *frames) fill(room int) (carried int) {
	for len(n.queue) > 0 && n.fits(n.queue[0], room-carried) {
		carried += n.carry(n.queue[0], room-carried)
	}
	return carried
}

// granted is how many bytes beyond its own share the frame that begins at now has, and asks for later ones.
func (n *frames) granted(now time.Duration) (bytes int) {
	slot := n.frame % int64(len(n.asked))
	if now-n.demandSince >= n.hold {
		bytes = n.asked[slot]
	}
	n.asked[slot] = n.request.bytes(n.frame, n.queuedBytes-n.sent)
	return min(bytes, n.most-n.base)
}

func (n *frames) fits(first *Packet, room int) bool {
	if first.SizeBytes > n.base {
		return room > 0
	}
	return first.SizeBytes <= room
}

// carry puts the first packet, or as much of it as there is room for, into the frame.
func (n *frames) carry(first *Packet, room int) (bytes int) {
	bytes = min(room, first.SizeBytes-n.sent)
	n.freeAt = finish(n.rate, n.freeAt, float64(bytes)*8)
	if n.sent += bytes; n.sent == first.SizeBytes {
		first.due, n.sent = n.freeAt, 0
		n.leaving.put(first)
		n.queue, n.queuedBytes = n.queue[1:], n.queuedBytes-first.SizeBytes
	}
	return bytes
}

// wake is the next packet's moment, or the next frame's beginning while something waits for one.
func (n *frames) wake() time.Duration {
	if len(n.queue) == 0 {
		return n.leaving.next()
	}
	return min(n.leaving.next(), time.Duration(n.frame+1)*n.length)
}

func (n *frames) Held() int { return len(n.queue) + n.leaving.n }

func (n *frames) Least() time.Duration { return 0 }
