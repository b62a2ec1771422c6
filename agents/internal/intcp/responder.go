package intcp

import "time"

const (
	leastLease   = 100 * time.Millisecond
	afterLease   = 100 * time.Millisecond // between two packets once the lease has run out
	catchUp      = time.Millisecond       // of sending that a late caller makes good at once, unless its home says otherwise
	logBegin     = 1 << 10
	logMost      = 1 << 15
	readerLife   = 60 * time.Second // without an interest
	mostRunUnits = 1 << 12          // of one report of losses
	mostAskUnits = 1 << 16          // of one interest
	mostRuns     = 1 << 14          // of units that a neighbour has asked for
)

// responder is the upstream end of a hop: it sends to one neighbour what that asked for.
type responder struct {
	node     *Node
	hop      Hop
	options  *Options
	sealer   *sealer
	peer     Address
	salt     uint32 // of its own packets
	peerSalt uint32
	sequence uint32

	interests replays
	echoUs    uint32 // sentUs of the newest interest
	echoAt    time.Duration
	rtt       roundTrip
	log       []sentUnit
	readers   []*reader
	owesEcho  bool // an interest came since the last DATA
	passed    map[Name]*uint64
}

// sentUnit says what a sequence carried.
type sentUnit struct {
	reader   *reader
	sequence uint32
	unit     uint32
	at       time.Duration
}

// reader is a flow to a neighbour downstream.
type reader struct {
	responder *responder
	key       flowKey
	place     *place
	wants     spans // asked for and not here yet
	line      line  // here, to be sent
	resends   queue // lost on this hop

	rate       float64 // bytes a second, as asked
	leaseUntil time.Duration
	heard      time.Duration
	nextAt     time.Duration
	isExpired  bool // the lease ran out while something waited
	hasLeft    bool // the path: nothing is sent to it
	tellsWay   bool // its requester waits to be told how far the application is
	toldAt     time.Duration
	passed     *uint64 // bytes of its content that its hop was sent, each once for each who asked
}

// granted is the rate while its lease lasts.
func (r *reader) granted(now time.Duration) float64 {
	if r.responder.options.LeasesRates && now >= r.leaseUntil {
		return 0
	}
	return r.rate
}

// interval is how long a packet keeps the next one waiting.
func (r *reader) interval(now time.Duration, bytes int) time.Duration {
	rate := r.granted(now)
	if rate <= 0 {
		return afterLease
	}
	return time.Duration(float64(bytes+headerBytes) / rate * float64(time.Second))
}

// endsAt is when the flow ends, unless its requester is heard before that.
func (r *reader) endsAt() time.Duration { return r.heard + readerLife }

func (r *reader) isIdle() bool { return r.line.count == 0 && r.resends.count == 0 }

// onInterest takes in an interest whose tag holds and whose sequence is new.
func (s *responder) onInterest(now time.Duration, r *reader, p *interest) {
	if p.sequence == s.interests.highest {
		s.echoUs, s.echoAt = p.sentUs, now
		if p.has(flagEcho) {
			s.rtt.add(now, time.Duration(int32(micros(now)-p.echoUs))*time.Microsecond)
		}
	}
	s.owesEcho = true
	r.tellsWay = r.tellsWay || now >= r.toldAt+wayPause
	s.grant(now, r, p.rateKbps)
	for _, run := range p.losts {
		s.repeat(run)
	}
	if p.has(flagProbe) {
		s.repeatTail(now, p.highest)
	}
	left := uint32(mostAskUnits)
	for _, asked := range p.ranges {
		left -= s.want(now, r, asked, left, p.ttl > 1, p.has(flagAgain))
	}
}

func (s *responder) grant(now time.Duration, r *reader, kbps uint32) {
	rate := min(float64(kbps)*125, s.node.mostBps()/8)
	if before := r.granted(now); r.nextAt > now && rate > before { // what is left to wait passes at the new rate
		r.nextAt = now + min(time.Duration(float64(r.nextAt-now)*before/rate), r.nextAt-now)
	}
	r.rate, r.heard, r.isExpired = rate, now, false
	r.leaseUntil = now + max(4*s.rtt.smooth, leastLease)
}

// mostBps is what a flow may have. A neighbour that has a key may open more flows than were ordered.
func (n *Node) mostBps() float64 {
	most, rated, flows := n.policy.MaxRateBps, n.policy.RatedFlows, len(n.readers)
	if rated == 0 || flows <= rated {
		return most
	}
	return most * float64(rated) / float64(flows)
}

// want takes a range of bytes as the units that it touches, up to a limit, and says how many these are.
func (s *responder) want(now time.Duration, r *reader, asked byteRange, limit uint32, goesOn, isAgain bool) (units uint32) {
	content := r.place.Content
	if asked.start >= content.Length || asked.length == 0 {
		return 0
	}
	length := uint64(min(asked.length, s.node.policy.MaxAskBytes))
	end := min(asked.start+length, content.Length)
	size := uint64(content.UnitBytes)
	first := uint32(asked.start / size)
	units = uint32((end+size-1)/size) - first
	if units > limit || r.isScattered() {
		s.node.counts.Refused++
		if units = min(units, limit); r.isScattered() {
			return 0
		}
	}
	r.place.want(now, r, first, first+units, goesOn, isAgain)
	return units
}

// isScattered: what is asked for is in so many runs that each further one costs too much.
func (r *reader) isScattered() bool {
	return len(r.wants.list)+r.line.count+len(r.place.pending.list) >= mostRuns
}

func (s *responder) entry(sequence uint32) *sentUnit {
	if len(s.log) == 0 {
		return nil
	}
	if e := &s.log[sequence%uint32(len(s.log))]; e.sequence == sequence && e.reader != nil {
		return e
	}
	return nil
}

// repeat sends again what some sequences carried, each once.
func (s *responder) repeat(run lostRun) {
	for i := range min(uint32(run.count), mostRunUnits) {
		if e := s.entry(run.first + i); e != nil {
			e.reader.resends.push(e.unit, e.unit+1)
			e.reader = nil
		}
	}
}

// repeatTail sends again what was sent above a sequence and is older than a round trip: its requester waits in vain.
func (s *responder) repeatTail(now time.Duration, highest uint32) {
	from := max(highest+1, s.sequence-min(s.sequence, uint32(len(s.log)))+1)
	for sequence := from; sequence <= s.sequence; sequence++ {
		if e := s.entry(sequence); e != nil && now-e.at > s.rtt.smooth {
			s.repeat(lostRun{sequence, 1})
		}
	}
}

// note keeps what a sequence carried, for repeats; the log grows while it would forget what is younger than two seconds.
func (s *responder) note(e sentUnit) {
	if len(s.log) == 0 {
		s.log = make([]sentUnit, logBegin)
	}
	if old := &s.log[e.sequence%uint32(len(s.log))]; old.reader != nil && e.at-old.at < 2*time.Second && len(s.log) < logMost {
		larger := make([]sentUnit, 2*len(s.log))
		for _, kept := range s.log {
			larger[kept.sequence%uint32(len(larger))] = kept
		}
		s.log = larger
	}
	s.log[e.sequence%uint32(len(s.log))] = e
}

// send lets out what the flows' rates allow now.
func (s *responder) send(now time.Duration, out *Outbox) {
	for _, r := range s.readers {
		r.nextAt = max(r.nextAt, now-s.node.catchUp)
		r.noteLease(now)
		for !r.isIdle() && r.mayNow(now) {
			r.sendNext(now, out)
		}
	}
	s.tellWays(now, out)
	if s.owesEcho && len(s.readers) > 0 { // nothing to send: the interests are acknowledged all the same
		s.sendData(now, s.readers[0], 0, 0, 0, out)
	}
}

// noteLease counts a lease that ran out while something waited.
func (r *reader) noteLease(now time.Duration) {
	if r.leaseUntil > 0 && now >= r.leaseUntil && !r.isExpired && !r.isIdle() && r.responder.options.LeasesRates {
		r.isExpired = true
		r.place.counts.Expired++
	}
}

// mayNow: a rate of 0 within its lease means nothing at all.
func (r *reader) mayNow(now time.Duration) bool {
	if now < r.nextAt {
		return false
	}
	return r.rate > 0 || now >= r.leaseUntil
}

func (r *reader) wake() time.Duration {
	switch {
	case r.isIdle():
		return never
	case r.rate <= 0:
		return max(r.nextAt, r.leaseUntil)
	default:
		return r.nextAt
	}
}

func (r *reader) sendNext(now time.Duration, out *Outbox) {
	var flags uint16
	unit, isResend := r.resends.pop()
	if isResend {
		flags = flagResent
	} else {
		unit, _ = r.line.pop()
	}
	if r.place.held != nil && !r.place.held.has(unit) { // it had to go before it was sent
		if !isResend {
			r.place.counts.Evicted++
			r.place.want(now, r, unit, unit+1, true, false)
		}
		return
	}
	if isResend {
		r.place.counts.Again++
	} else {
		r.place.counts.Sent++
	}
	length := r.place.unitLength(unit)
	r.responder.sendData(now, r, unit, length, flags, out)
	r.place.counts.SentBytes += uint64(length)
	if isResend {
		r.place.counts.AgainBytes += uint64(length)
	}
	r.place.times.sent(now)
	if !isResend {
		*r.passed += uint64(length)
		r.place.noteSent(now, unit)
	}
	r.place.sentEnd = max(r.place.sentEnd, unit+1)
	r.nextAt += r.interval(now, dataBytes+length)
}

func (s *responder) sendData(now time.Duration, r *reader, unit uint32, length int, flags uint16, out *Outbox) {
	s.sequence++
	s.owesEcho = false
	if r.isIdle() {
		flags |= flagQueueEmpty
	}
	offset := uint64(unit) * uint64(r.place.UnitBytes)
	if length == 0 {
		offset = uint64(r.place.beyond() / time.Microsecond)
	}
	p := data{
		head:            head{kind: kindData, flags: flags | flagEcho, flow: r.key.flow, sequence: s.sequence, sentUs: micros(now)},
		offset:          offset,
		waiting:         uint16(min(r.line.total, 1<<16-1)),
		echoUs:          s.echoUs + micros(now) - micros(s.echoAt),
		interestHighest: s.interests.highest, interestBits: uint32(s.interests.bits),
	}
	b := out.room(s.peer, dataBytes+length)
	p.put(b, length)
	s.sealer.seal(downstream, s.salt, s.sequence, b, dataBytes-tagBytes)
	if length > 0 {
		r.place.read(unit, b[dataBytes:])
		s.note(sentUnit{r, s.sequence, unit, now})
	}
}
