package intcp

import (
	"fmt"
	"time"
)

const (
	leastTimeout  = 300 * time.Millisecond
	firstTimeout  = time.Second
	mostTries     = 8
	mostHoleTries = 20
	marks         = 8
	firstWindow   = 64 << 10
)

// Consumer wants a content and checks each byte of it.
type Consumer struct {
	place   *place
	stream  Stream
	options *Options
	got     spans
	inOrder uint32 // units from the beginning without a hole
	next    uint32 // the first unit that was not asked for
	front   uint32 // one above the highest that came

	trip      roundTrip
	isMade    bool          // the application makes the content as time goes on
	frontAt   time.Duration // when front grew
	gap       time.Duration // between two such moments, the longest of the newest ones
	newest    time.Duration // arrival
	silentFor int           // timeouts since
	timeoutAt time.Duration
	marks     [marks]mark // of the front, to know how old a hole is
	marked    int
	arrived   float64 // bytes since windowAt
	rate      float64 // bytes a second
	windowAt  time.Duration
	window    int // bytes
	counts    ConsumerCounts
	state     string
	endedAt   time.Duration
	wrong     *Wrong
}

// Wrong is where a unit begins that was not the content's, and the hop whose tags held.
type Wrong struct {
	Offset uint64
	Hop    uint16
}

type mark struct {
	at    time.Duration
	front uint32
}

// ConsumerCounts are what a consumer got.
type ConsumerCounts struct {
	ArrivedBytes, InOrderBytes uint64
	Duplicates                 uint64 // units
	AskedUnits                 uint64
	AskedAgainUnits            uint64
	Timeouts                   uint64
	Outstanding                int // units
	RTT                        time.Duration
}

// Consume makes the node want a content from now on. Its state is "" until it has ended: "complete", "link_lost",
// "content_wrong …", "refused: …" or "stopped".
func (n *Node) Consume(now time.Duration, content Content, stream Stream) (*Consumer, error) {
	switch {
	case !content.isSound():
		return nil, ErrContent
	case n.ups[content.Run] == nil:
		return nil, ErrRun
	}
	key := placeKey{run: content.Run, name: content.Name}
	p := &place{Content: content, node: n, key: key, watch: n.watches[key]}
	c := &Consumer{
		place: p, stream: stream, options: n.options[content.Run], trip: wholeTrip(), newest: now, windowAt: now,
		window: min(firstWindow, n.options[content.Run].WindowBytes),
	}
	p.consumer = c
	n.places[key] = p
	n.wanting = append(n.wanting, c)
	n.openUp(n.ups[content.Run], p)
	n.wake = 0
	return c, nil
}

// State is "" while the consumer wants more, and at is when it ended.
func (c *Consumer) State() (state string, at time.Duration) { return c.state, c.endedAt }

// Wrong tells where the content was wrong, if it was.
func (c *Consumer) Wrong() (wrong Wrong, isWrong bool) {
	if c.wrong == nil {
		return Wrong{}, false
	}
	return *c.wrong, true
}

// Counts are what came so far.
func (c *Consumer) Counts() ConsumerCounts {
	counts := c.counts
	counts.InOrderBytes = min(uint64(c.inOrder)*uint64(c.place.UnitBytes), c.place.Length)
	counts.Outstanding, counts.RTT, counts.Duplicates = c.place.nPending, c.trip.smooth, c.place.counts.Duplicate
	return counts
}

// WindowBytes is what may be asked for and not have come.
func (c *Consumer) WindowBytes() int { return c.window }

// Stop ends the flow before all has come.
func (c *Consumer) Stop(now time.Duration) { c.end(now, "stopped") }

// wholeTrip is the round trip from the consumer on. What it waits at the origin grows with the window, and the window with
// the least round trip: that one is kept for as long as a run usually takes, so that neither follows the other upwards.
func wholeTrip() roundTrip {
	trip := newRoundTrip()
	trip.lows.span = 10 * time.Minute
	return trip
}

func (c *Consumer) end(now time.Duration, state string) {
	if c.state != "" {
		return
	}
	c.state, c.endedAt = state, now
	if c.place.up != nil {
		c.place.node.closeUp(c.place, ReasonDone)
	}
}

func (c *Consumer) has(unit uint32) bool { return unit < c.inOrder || c.got.has(unit) }

// take checks a unit and counts it. Its tag held, so a change was made by this hop's responder or above.
func (c *Consumer) take(now time.Duration, unit uint32, bytes []byte) {
	if !c.stream.Equal(uint64(unit)*uint64(c.place.UnitBytes), bytes) {
		c.wrong = &Wrong{Offset: uint64(unit) * uint64(c.place.UnitBytes), Hop: c.place.up.requester.hop.Number}
		c.end(now, fmt.Sprintf("content_wrong at byte %d, from hop %d", c.wrong.Offset, c.wrong.Hop))
		return
	}
	c.counts.ArrivedBytes += uint64(len(bytes))
	c.arrived += float64(len(bytes))
	c.advance(now, unit)
	c.newest, c.silentFor = now, 0
	if unit == c.inOrder {
		c.inOrder++
		if run, found := c.got.find(c.inOrder); found {
			c.inOrder = run.end
			c.got.remove(run.first, run.end)
		}
	} else {
		c.got.put(span{first: unit, end: unit + 1})
	}
	c.place.noteArrived(now, unit, c.inOrder)
	if c.inOrder == c.place.units() {
		c.end(now, "complete")
	}
}

// timeout is the end-to-end one.
func (c *Consumer) timeout() time.Duration {
	if !c.trip.lows.any { // the first hop's round trip is a part of the way's
		return max(firstTimeout, c.hopSilence())
	}
	return max(leastTimeout, c.trip.smooth*3/2+4*c.trip.deviation)
}

func (c *Consumer) hopSilence() time.Duration {
	if c.place.up == nil {
		return 0
	}
	return c.place.up.requester.law.rtt.silence()
}

func (c *Consumer) silence() time.Duration {
	timeout := c.timeout()
	for range c.silentFor {
		timeout += timeout / 2
	}
	if c.isMade {
		timeout += c.gap
	}
	return timeout
}

func (c *Consumer) wake() time.Duration {
	if c.state != "" {
		return never
	}
	if c.canAsk() {
		return 0
	}
	wake := max(c.newest, c.timeoutAt) + c.silence()
	if !c.place.pending.empty() {
		wake = min(wake, c.lastMark().at+c.markEvery())
	}
	return wake
}

func (c *Consumer) isOpen() bool { return c.place.up != nil && c.place.up.isOpen }

func (c *Consumer) canAsk() bool {
	free := c.window - c.place.nPending*int(c.place.UnitBytes)
	return c.isOpen() && c.next < c.place.units() && free >= max(c.window/16, int(c.place.UnitBytes))
}

// tick asks for more, and again for what has been missing for too long.
func (c *Consumer) tick(now time.Duration) {
	if c.state != "" {
		return
	}
	c.measure(now)
	if now >= max(c.newest, c.timeoutAt)+c.silence() {
		c.onSilence(now)
	}
	if c.state == "" && now >= c.lastMark().at+c.markEvery() {
		c.askHoles(now)
		c.marks[c.marked%marks] = mark{now, c.front}
		c.marked++
	}
	if c.state == "" && c.canAsk() {
		units := uint32((c.window - c.place.nPending*int(c.place.UnitBytes)) / int(c.place.UnitBytes))
		end := min(c.place.units(), c.next+units)
		c.counts.AskedUnits += uint64(end - c.next)
		c.place.ask(now, c.next, end, false)
		c.next = end
	}
}

// measure keeps the rate and the window: twice what is under way, and what buffers on the way may hold.
func (c *Consumer) measure(now time.Duration) {
	past := now - c.windowAt
	if past < max(c.trip.least()/2, 5*leastWindow) {
		return
	}
	c.rate = max(c.arrived/past.Seconds(), c.rate*0.9)
	c.arrived, c.windowAt = 0, now
	want := 2*c.rate*c.trip.least().Seconds() + 4*float64(c.options.MostWaiting())
	c.window = min(c.options.WindowBytes, max(firstWindow, int(want)))
}

// onSilence: nothing came for the timeout. Everything pending is asked for again, as far as it goes.
func (c *Consumer) onSilence(now time.Duration) {
	c.timeoutAt = now
	c.counts.Timeouts++
	if c.silentFor++; c.silentFor > mostTries {
		c.end(now, "link_lost")
		return
	}
	if c.isOpen() && !c.place.pending.empty() {
		c.counts.AskedAgainUnits += uint64(c.place.nPending)
		c.place.up.askPending(0, 1<<32-1, true)
	}
}

func (c *Consumer) lastMark() mark {
	if c.marked == 0 {
		return mark{}
	}
	return c.marks[(c.marked-1)%marks]
}

func (c *Consumer) markEvery() time.Duration { return c.timeout() / (marks / 2) }

// askHoles asks again for what was passed over a timeout ago and is still missing.
func (c *Consumer) askHoles(now time.Duration) {
	timeout, front := c.holeTimeout(), uint32(0)
	for _, m := range c.marks[:min(c.marked, marks)] {
		if m.at <= now-timeout {
			front = max(front, m.front)
		}
	}
	for i := 0; i < len(c.place.pending.list); i++ {
		run := c.place.pending.list[i]
		if run.first >= front || !c.isOpen() {
			return
		}
		if now-run.at < timeout {
			continue
		}
		if run.tries >= mostHoleTries {
			c.end(now, "link_lost")
			return
		}
		c.askHole(span{run.first, min(run.end, front), now, run.tries + 1})
	}
}

func (c *Consumer) askHole(run span) {
	c.place.setPending(run)
	c.counts.AskedAgainUnits += uint64(run.units())
	c.place.up.asks.put(span{first: run.first, end: run.end, tries: 1})
}

// holeTimeout: where hops do not repair, holes are the consumer's to see, as losses are for TCP.
func (c *Consumer) holeTimeout() time.Duration {
	if c.options.RecoversByHop {
		return c.timeout()
	}
	return c.trip.smooth * 5 / 4
}
