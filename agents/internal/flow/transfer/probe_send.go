package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"
)

// ProbeSender is the end of a probe flow that sends the probes, and takes their times.
type ProbeSender struct {
	*Sender
	probes ProbePlan
	// record is given every probe once, in order, as soon as it was answered or is lost.
	record func(<-chan Probe)

	key key
	udp *net.UDPConn
	// releaseUDP gives the context up that would close it.
	releaseUDP func() bool
	receiver   netip.AddrPort
	answers    chan answer
	// closed is closed when the receiver has ended the flow's connection.
	closed  chan struct{}
	settled chan Probe
	waiting []Probe
	// heardAt is when the receiver was last heard.
	heardAt time.Time
}

// answer is a datagram of the receiver.
type answer struct {
	number int64
	from   netip.AddrPort
	at     time.Time
	held   time.Duration
}

// NewProbeSender returns a sender that has done nothing yet. Of the plan, Stop is by time; record returns when its
// channel is closed.
func NewProbeSender(plan SendPlan, probes ProbePlan, record func(<-chan Probe)) *ProbeSender {
	s := &ProbeSender{probes: probes, record: record, key: newKey(), answers: make(chan answer, 64), closed: make(chan struct{}),
		settled: make(chan Probe, 64)}
	s.Sender = NewSender(plan, Hooks{})
	s.stillFor = func() time.Duration { return time.Since(s.heardAt) }
	return s
}

// Open waits for the receiver and its first datagram, and then for the flow's beginning.
func (s *ProbeSender) Open(ctx context.Context) error {
	s.hooks.Open = func(conn *net.TCPConn) error { return s.meet(ctx, conn) }
	err := s.Sender.Open(ctx)
	if err != nil && s.missed == nil && ctx.Err() == nil {
		s.missed = fmt.Errorf("%w: %w", ErrNoConnection, err)
	}
	return err
}

// Run sends probes until the flow's end, and waits for the last answers.
func (s *ProbeSender) Run(ctx context.Context, _ func()) {
	defer close(s.settled)
	listened, stop := context.WithCancel(ctx)
	var listening sync.WaitGroup
	listening.Go(func() { s.listen(listened) })
	go s.watchPeer()
	s.end(EndedStopRule, "")
	s.result.FirstByte = time.Now()
	s.heardAt = s.result.FirstByte
	stopAt := s.result.FirstByte.Add(s.plan.Stop.After)
	s.probe(ctx, earlier(stopAt, s.limits.Deadline))
	s.await(ctx)
	switch {
	case s.result.Ended != EndedStopRule:
	case s.isStalled(), stopAt.After(s.limits.Deadline):
		s.endByTimeout()
	}
	stop()
	_ = s.udp.Close()
	listening.Wait()
}

// Sample lets the probes be recorded.
func (s *ProbeSender) Sample(context.Context) { s.record(s.settled) }

// Close ends the flow at both ends.
func (s *ProbeSender) Close() (Result, error) {
	if s.udp != nil {
		s.releaseUDP()
		_ = s.udp.Close()
	}
	return s.Sender.Close()
}

// meet waits for the receiver's first datagram, which tells where its answers will come from, through any NAT.
func (s *ProbeSender) meet(ctx context.Context, conn *net.TCPConn) error {
	local := tcpAddress(conn.LocalAddr())
	udp, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(local))
	if err != nil {
		return fmt.Errorf("open the probes' UDP port: %w", err)
	}
	s.udp, s.releaseUDP = udp, watchUDP(ctx, udp)
	err = errors.Join(
		s.probes.Datagrams.Open(udp),
		udp.SetReadDeadline(earlier(s.limits.Deadline, time.Now().Add(s.limits.DialLimit()))),
	)
	if err == nil {
		_, err = io.WriteString(conn, s.key.line())
	}
	if err == nil {
		s.receiver, err = s.greeted(tcpAddress(conn.RemoteAddr()).Addr())
	}
	if err != nil {
		return fmt.Errorf("no datagram of the receiver came over UDP: %w; check that UDP port %d of this host can be reached as its TCP port can",
			err, local.Port())
	}
	return udp.SetReadDeadline(time.Time{})
}

// greeted waits for a datagram from the host of the flow's connection.
func (s *ProbeSender) greeted(peer netip.Addr) (netip.AddrPort, error) {
	for {
		heard, err := s.hear()
		if err != nil {
			return netip.AddrPort{}, err
		}
		if heard.from.Addr().Unmap() == peer {
			return heard.from, nil
		}
	}
}

// hear reads the next datagram that has the flow's key.
func (s *ProbeSender) hear() (answer, error) {
	// One byte more than a probe has, so that a longer datagram is known.
	buffer := make([]byte, ProbeBytes+1)
	for {
		n, from, waited, err := s.probes.Datagrams.Read(s.udp, buffer)
		if err != nil {
			return answer{}, err
		}
		at := time.Now().Add(-waited)
		if number, held, isOurs := s.key.read(buffer[:n]); isOurs {
			return answer{number, from, at, held}, nil
		}
	}
}

// listen passes the receiver's datagrams on until the socket is closed.
func (s *ProbeSender) listen(ctx context.Context) {
	defer close(s.answers)
	for {
		heard, err := s.hear()
		if err != nil {
			return
		}
		if heard.from != s.receiver {
			continue
		}
		select {
		case s.answers <- heard:
		case <-ctx.Done():
			return
		}
	}
}

// watchPeer waits for the end of the connection, over which nothing comes.
func (s *ProbeSender) watchPeer() {
	_, _ = s.conn.Read(make([]byte, 1))
	close(s.closed)
}

// probe sends until the moment comes or the flow ends otherwise.
func (s *ProbeSender) probe(ctx context.Context, until time.Time) {
	ticker := time.NewTicker(s.probes.Interval)
	defer ticker.Stop()
	over := time.NewTimer(time.Until(until))
	defer over.Stop()
	for number := int64(1); s.send(number); number++ {
		if !s.hearUntil(ctx, ticker.C, over.C) {
			return
		}
	}
}

// await waits until every probe was answered or is lost.
func (s *ProbeSender) await(ctx context.Context) {
	over := time.NewTimer(s.limits.DrainLimit())
	defer over.Stop()
	for len(s.waiting) > 0 && s.result.Ended == EndedStopRule {
		if !s.hearUntil(ctx, nil, over.C) {
			break
		}
	}
	for _, probe := range s.waiting {
		s.settled <- probe
	}
	s.waiting = nil
}

// hearUntil takes answers until a tick, or until one of them in await; false means that no probe is to follow.
func (s *ProbeSender) hearUntil(ctx context.Context, tick, over <-chan time.Time) bool {
	for {
		select {
		case heard, isOpen := <-s.answers:
			if !isOpen {
				s.endByError(ctx, net.ErrClosed)
				return false
			}
			s.note(heard)
			if tick == nil {
				return true
			}
		case <-tick:
			s.settle(time.Now())
			return true
		case <-over:
			return false
		case <-s.closed:
			// The context's end closes the connection too, and either may be seen first.
			if ctx.Err() != nil {
				s.endByError(ctx, context.Cause(ctx))
				return false
			}
			s.end(EndedPeerClosed, "the peer closed the connection early")
			return false
		case <-ctx.Done():
			s.endByError(ctx, context.Cause(ctx))
			return false
		}
	}
}

// send sends one probe; false means that the flow's budget is used up. A probe that cannot be sent counts as lost.
func (s *ProbeSender) send(number int64) bool {
	if s.plan.Budget.Take(ProbeBytes) < ProbeBytes {
		s.end(EndedAborted, s.plan.Budget.Exceeded())
		s.reset()
		return false
	}
	datagram := make([]byte, ProbeBytes)
	s.key.write(datagram, number, 0)
	s.waiting = append(s.waiting, Probe{Number: number, Sent: time.Now(), RTT: -1})
	n, _ := s.udp.WriteToUDPAddrPort(datagram, s.receiver)
	s.move(n)
	return true
}

// note takes an answer in. Numbers follow each other, so that one tells the probe's place.
func (s *ProbeSender) note(heard answer) {
	s.heardAt = heard.at
	if len(s.waiting) == 0 {
		return
	}
	place := heard.number - s.waiting[0].Number
	if place < 0 || place >= int64(len(s.waiting)) {
		return
	}
	if probe := &s.waiting[place]; probe.IsLost() {
		probe.RTT = max(0, heard.at.Sub(probe.Sent)-heard.held)
	}
	s.settle(heard.at)
}

// settle gives away, in order, the probes that were answered, and those that nothing will answer any more.
func (s *ProbeSender) settle(now time.Time) {
	for len(s.waiting) > 0 && (!s.waiting[0].IsLost() || now.Sub(s.waiting[0].Sent) > s.limits.DrainLimit()) {
		s.settled <- s.waiting[0]
		s.waiting = s.waiting[1:]
	}
}

func tcpAddress(address net.Addr) netip.AddrPort {
	whole := address.(*net.TCPAddr).AddrPort() //nolint:forcetypeassert // a TCP connection has no other
	return netip.AddrPortFrom(whole.Addr().Unmap(), whole.Port())
}
