package intcp

import (
	"math"
	"time"
)

const never = time.Duration(math.MaxInt64)

const (
	mostRanges     = 8   // of one interest
	mostLosts      = 16  // runs of one interest
	mostAsked      = 256 // unacknowledged interests that are remembered
	mostBackoff    = 250 * time.Millisecond
	lossPause      = 2 * time.Millisecond // between interests that report losses
	idlePause      = 100 * time.Millisecond
	interestsShare = 0.015 // of the bytes that arrive, for what is not urgent
	interestsBurst = 8 << 10
	openPatience   = 250 * time.Millisecond
	mostOpenPause  = time.Second
	probesInVain   = 3
	ttlHop         = 1
	ttlFar         = 255
)

// requester is the downstream end of a hop: it asks one neighbour.
type requester struct {
	node     *Node
	hop      Hop
	options  *Options
	sealer   *sealer
	salt     uint32
	sequence uint32
	peerSalt uint32 // of the responder, once a flow is open
	cookie   cookie

	arrivals arrivals
	law      law
	losts    []lostRun // to be reported
	flows    []*upFlow
	asked    [mostAsked]askedInterest
	oldest   uint32 // asked with sequences from here on may be unacknowledged

	echoUs        uint32 // sentUs of the newest DATA
	echoAt        time.Duration
	acked         uint32 // highest interest and its bits as last seen
	ackedBits     uint32
	lossAt        time.Duration // the newest one that reports losses
	probedAt      time.Duration
	backoff       int
	dataBytes     float64
	interestBytes float64
	sinceInterest int // packets that came since the newest interest
	greeting      greeting
	counts        HopCounts
}

// HopCounts are what a requester saw of its hop.
type HopCounts struct {
	Packets, Bytes                 uint64 // that came, and UDP payload
	Lost, Resent                   uint64 // sequences called lost; packets that were sent again
	Replayed, Forged               uint64 // dropped: an old sequence, a wrong tag
	Interests, InterestBytes       uint64
	RepeatedInterests, Probes      uint64
	RTT, LeastRTT, Queue, Patience time.Duration
	RateBps, LossFloor             float64 // asked, in bits of IP packets a second
	// IsTimed: RTT and LeastRTT were measured, and are not the assumption before that.
	IsTimed bool
}

// askedInterest is an interest that is not acknowledged yet and has something to say.
type askedInterest struct {
	sequence uint32 // 0: none
	at       time.Duration
	flow     *upFlow
	isAgain  bool
	ranges   [mostRanges]span
	losts    [mostLosts]lostRun
	nRanges  int
	nLosts   int
}

// upFlow is a flow from the neighbour upstream.
type upFlow struct {
	requester *requester
	key       flowKey
	place     *place
	asks      spans // to be asked for in the next interests
	isOpen    bool
	waits     bool // its consumer has to ask again for what is pending
	reopens   bool // an OPEN is under way to learn whether the neighbour has started again
	refused   Reason
	openedAt  time.Duration // the newest OPEN
	opened    openTimes     // those whose answer counts
	opens     int           // that nothing has answered
	share     float64       // of the hop's rate
	told      float64       // to the responder
	toldAt    time.Duration
	beyond    time.Duration // round trip from the neighbour to the application that makes the content; 0: not told
}

// onData takes in a packet whose tag holds.
func (s *requester) onData(now time.Duration, f *upFlow, p *data) {
	if !s.arrivals.take(p.sequence) {
		s.counts.Replayed++
		return
	}
	s.counts.Packets++
	s.counts.Bytes += uint64(dataBytes + len(p.payload))
	s.dataBytes += float64(dataBytes + len(p.payload) + headerBytes)
	s.sinceInterest++
	s.backoff = 0
	if p.sequence == s.arrivals.highest {
		s.echoUs, s.echoAt = p.sentUs, now
	}
	s.acknowledge(now, p)
	if p.has(flagResent) {
		s.counts.Resent++
	}
	s.law.arrived(now, dataBytes+len(p.payload), p.sentUs, p.has(flagQueueEmpty) || s.isHeldBack())
	s.judge(now)
	switch {
	case len(p.payload) > 0:
		s.deliver(now, f, p)
	case p.offset > 0:
		s.hearWay(now, f, p.offset)
	}
}

// isHeldBack: less is asked for than the hop could carry.
func (s *requester) isHeldBack() bool {
	sum := 0.0
	for _, f := range s.flows {
		sum += f.told
	}
	return sum < 0.9*s.law.rate
}

func (s *requester) judge(now time.Duration) {
	before := len(s.losts)
	var lost int
	s.losts, lost = s.arrivals.lost(s.losts)
	s.law.judged(now, 1, lost)
	s.counts.Lost += uint64(lost)
	if !s.options.RecoversByHop {
		s.losts = s.losts[:before]
	}
}

// deliver hands a unit to its content.
func (s *requester) deliver(now time.Duration, f *upFlow, p *data) {
	content := f.place.Content
	size := uint64(content.UnitBytes)
	if p.offset%size != 0 || p.offset >= content.Length {
		return
	}
	unit := uint32(p.offset / size)
	if len(p.payload) == content.unitLength(unit) {
		f.place.arrive(now, unit, p.payload)
	}
}

// acknowledge forgets the interests that the responder has seen, and measures the round trip by the newest of them.
func (s *requester) acknowledge(now time.Duration, p *data) {
	if p.interestHighest == s.acked && p.interestBits == s.ackedBits {
		return
	}
	if p.interestHighest > s.acked && p.has(flagEcho) {
		s.law.rtt.add(now, time.Duration(int32(micros(now)-p.echoUs))*time.Microsecond)
	}
	if p.interestHighest >= s.acked {
		s.acked, s.ackedBits = p.interestHighest, p.interestBits
	}
	for sequence := s.oldest; sequence <= min(p.interestHighest, s.sequence); sequence++ {
		past := p.interestHighest - sequence
		if past == 0 || past <= 32 && p.interestBits&(1<<(past-1)) != 0 {
			s.forget(sequence)
		}
	}
	s.advance()
}

func (s *requester) record(sequence uint32) *askedInterest { return &s.asked[sequence%mostAsked] }

func (s *requester) forget(sequence uint32) {
	if a := s.record(sequence); a.sequence == sequence {
		a.sequence = 0
	}
}

// advance leaves behind what is settled.
func (s *requester) advance() {
	s.oldest = max(s.oldest, s.sequence-min(s.sequence, mostAsked-1))
	for s.oldest <= s.sequence && s.record(s.oldest).sequence != s.oldest {
		s.oldest++
	}
}

// patience grows with each repeat that nothing answers.
func (s *requester) patience() time.Duration { return s.backedOff(s.law.rtt.patience()) }

func (s *requester) backedOff(base time.Duration) time.Duration {
	return max(base, min(mostBackoff, base<<min(s.backoff, 5)))
}

// repeat takes up again what unacknowledged interests said.
func (s *requester) repeat(now time.Duration) {
	if !s.options.RepeatsInterests {
		return
	}
	for sequence := s.oldest; sequence <= s.sequence; sequence++ {
		a := s.record(sequence)
		if a.sequence != sequence {
			continue
		}
		if now < a.at+s.patience() {
			break
		}
		s.retake(a)
		s.counts.RepeatedInterests++
		a.sequence = 0
	}
	s.advance()
}

// retake puts what an interest said back on the lists, as far as it is still true.
func (s *requester) retake(a *askedInterest) {
	s.losts = append(s.losts, a.losts[:a.nLosts]...)
	for _, run := range a.ranges[:a.nRanges] {
		a.flow.askPending(run.first, run.end, a.isAgain)
	}
}

// askPending asks again for what is pending of a run.
func (f *upFlow) askPending(first, end uint32, isAgain bool) {
	list := f.place.pending.list
	for i := f.place.pending.search(first); i < len(list) && list[i].first < end; i++ {
		run := span{first: max(first, list[i].first), end: min(end, list[i].end)}
		if isAgain {
			run.tries = 1
		}
		f.asks.put(run)
	}
}

func (s *requester) pending() bool {
	for _, f := range s.flows {
		if f.isOpen && !f.place.pending.empty() {
			return true
		}
	}
	return false
}

// keepalive is how often a hop hears its rate: seldom where interests take too large a share of the bytes.
func (s *requester) keepalive() time.Duration {
	if s.sinceInterest == 0 {
		return idlePause
	}
	if s.interestBytes > interestsShare*s.dataBytes+interestsBurst { // dear: the leases can wait
		return max(s.law.rtt.least(), leastLease/3)
	}
	return max(s.law.rtt.least()/2, leastWindow)
}

// probeAt is when silence on a hop on which something is pending makes a probe.
func (s *requester) probeAt() time.Duration {
	if !s.options.ProbesTails || !s.pending() {
		return never
	}
	return max(s.law.newest, s.probedAt, s.firstAsk()) + s.backedOff(s.law.rtt.silence())
}

// firstAsk is when the oldest of what is pending was asked for.
func (s *requester) firstAsk() time.Duration {
	first := never
	for _, f := range s.flows {
		if f.isOpen && !f.place.pending.empty() {
			first = min(first, f.place.pending.list[0].at)
		}
	}
	return first
}

// wake is when the requester has something to do next.
func (s *requester) wake() time.Duration {
	wake := s.greeting.wake()
	for _, f := range s.flows {
		switch {
		case f.refused != 0:
		case !f.isOpen:
			wake = min(wake, f.openedAt+openPause(f.opens))
		case !f.asks.empty():
			return 0
		case !f.place.pending.empty():
			wake = min(wake, f.toldAt+s.keepalive())
		}
	}
	if len(s.losts) > 0 {
		wake = min(wake, s.lossAt+lossPause)
	}
	if s.law.isNews && s.pending() {
		return 0
	}
	if s.options.RepeatsInterests && s.oldest <= s.sequence {
		if a := s.record(s.oldest); a.sequence == s.oldest {
			wake = min(wake, a.at+s.patience())
		}
	}
	return min(wake, s.probeAt())
}

// tick sends what is due.
func (s *requester) tick(now time.Duration, out *Outbox) {
	if now >= s.greeting.wake() {
		s.greet(now, out)
	}
	for _, f := range s.flows {
		if !f.isOpen && f.refused == 0 && now >= f.openedAt+openPause(f.opens) {
			f.sendOpen(now, out)
		}
	}
	if s.oldest <= s.sequence && now >= s.record(s.oldest).at+s.patience() {
		s.repeat(now)
	}
	if now >= s.probeAt() {
		s.probe(now, out)
	}
	if len(s.losts) > 0 && now >= s.lossAt+lossPause {
		s.lossAt = now
		s.reportLosses(now, out)
	}
	for _, f := range s.flows {
		for f.isOpen && !f.asks.empty() {
			s.sendInterest(now, f, 0, out)
		}
	}
	if s.pending() {
		s.tellRates(now, out)
	}
}

func (s *requester) reportLosses(now time.Duration, out *Outbox) {
	for len(s.losts) > 0 {
		f := s.openFlow()
		if f == nil {
			s.losts = s.losts[:0]
			return
		}
		s.sendInterest(now, f, 0, out)
	}
}

func (s *requester) openFlow() *upFlow {
	for _, f := range s.flows {
		if f.isOpen {
			return f
		}
	}
	return nil
}

func (s *requester) probe(now time.Duration, out *Outbox) {
	s.probedAt = now
	s.counts.Probes++
	for _, f := range s.flows {
		if f.isOpen && !f.place.pending.empty() {
			s.sendInterest(now, f, flagProbe, out)
			if s.backoff >= probesInVain {
				f.reopen(now, out)
			}
			break
		}
	}
	s.backoff++
}

// tellRates renews the leases that were not renewed for a while; those of all flows when there is another rate to share. Each flow
// has its own while: what another one of the hop asks for does not renew it.
func (s *requester) tellRates(now time.Duration, out *Outbox) {
	isNews, keepalive := s.law.isNews, s.keepalive()
	s.law.isNews = false
	for _, f := range s.flows {
		isDue := isNews || now >= f.toldAt+keepalive
		if isDue && f.isOpen && (!f.place.pending.empty() || f.told > 0) {
			s.sendInterest(now, f, 0, out)
		}
	}
}

// shareOut gives each flow its part of the hop's rate: max-min, with what a flow's buffers allow as its most.
func (s *requester) shareOut(now time.Duration) {
	turn := max(2*s.law.rtt.least(), 2*leastWindow)
	left, n := s.law.rate, 0
	for _, f := range s.flows {
		f.share = -1
		if f.isOpen {
			n++
		}
	}
	for changed := true; changed && n > 0; {
		changed = false
		for _, f := range s.flows {
			if f.isOpen && f.share < 0 {
				if most := max(0, f.place.allowance(now, turn, f.told*(s.law.rtt.least()+leastWindow).Seconds(), s.options)); most <= left/float64(n) {
					f.share, left, n, changed = most, left-most, n-1, true
				}
			}
		}
	}
	for _, f := range s.flows {
		if f.isOpen && f.share < 0 {
			f.share = left / float64(n)
		}
	}
}

func (s *requester) sendInterest(now time.Duration, f *upFlow, flags uint16, out *Outbox) {
	s.shareOut(now)
	s.sequence++
	p := &s.node.interest
	*p = interest{ranges: p.ranges[:0], losts: p.losts[:0]}
	a := s.record(s.sequence)
	*a = askedInterest{sequence: s.sequence, at: now, flow: f}
	s.fillLosts(a, p)
	f.fillRanges(a, p)
	if a.isAgain {
		flags |= flagAgain
	}
	if s.echoAt > 0 {
		flags |= flagEcho
		p.echoUs = s.echoUs + micros(now) - micros(s.echoAt)
	}
	p.head = head{kind: kindInterest, flags: flags, flow: f.key.flow, sequence: s.sequence, sentUs: micros(now)}
	p.rateKbps, p.highest, p.ttl = uint32(min(f.share/125, math.MaxUint32)), s.arrivals.highest, ttlHop
	if a.nRanges > 0 {
		p.ttl = ttlFar
	}
	f.told, f.toldAt = f.share, now
	s.sendSealed(p, out)
	if a.nRanges == 0 && a.nLosts == 0 {
		a.sequence = 0
		s.advance()
	}
}

func (s *requester) sendSealed(p *interest, out *Outbox) {
	size := p.size()
	b := out.room(s.hop.Peer, size)
	p.put(b)
	s.sealer.seal(upstream, s.salt, p.sequence, b, size-tagBytes)
	s.sinceInterest = 0
	s.interestBytes += float64(size + headerBytes)
	s.counts.Interests++
	s.counts.InterestBytes += uint64(size)
}

func (s *requester) fillLosts(a *askedInterest, p *interest) {
	a.nLosts = copy(a.losts[:], s.losts)
	s.losts = s.losts[:copy(s.losts, s.losts[a.nLosts:])]
	p.losts = append(p.losts, a.losts[:a.nLosts]...)
}

// fillRanges takes runs of one sort: asked for the first time, or again.
func (f *upFlow) fillRanges(a *askedInterest, p *interest) {
	size, left := uint64(f.place.UnitBytes), uint32(mostAskUnits)
	for a.nRanges < mostRanges && left > 0 && !f.asks.empty() {
		isAgain := f.asks.list[0].tries > 0
		if a.nRanges > 0 && isAgain != a.isAgain {
			return
		}
		run := f.asks.take(min(left, f.requester.node.policy.MaxAskBytes/uint32(size)))
		left -= run.units()
		a.isAgain = isAgain
		a.ranges[a.nRanges] = run
		a.nRanges++
		start := uint64(run.first) * size
		length := min(uint64(run.end)*size, f.place.Length) - start
		p.ranges = append(p.ranges, byteRange{start, uint32(length)})
	}
}
