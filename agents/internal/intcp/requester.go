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
