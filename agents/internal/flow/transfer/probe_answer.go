package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"
)

// greetingInterval is how often a receiver shows its address until the first probe comes.
const greetingInterval = 200 * time.Millisecond

// ProbeReceiver is the end of a probe flow that answers each probe at once.
type ProbeReceiver struct {
	*Receiver
	probes ProbePlan
	// record is given every probe that comes, as it comes.
	record func(<-chan Arrival)

	key        key
	udp        *net.UDPConn
	releaseUDP func() bool
	arrivals   chan Arrival
}

// NewProbeReceiver returns a receiver that has done nothing yet. record returns when its channel is closed.
func NewProbeReceiver(plan ReceivePlan, probes ProbePlan, record func(<-chan Arrival)) *ProbeReceiver {
	r := &ProbeReceiver{probes: probes, record: record, arrivals: make(chan Arrival, 64)}
	r.Receiver = NewReceiver(plan, Hooks{Open: func(*net.TCPConn) error { return nil }})
	return r
}

// Open dials, shows the ticket, and learns the flow's key.
func (r *ProbeReceiver) Open(ctx context.Context) error {
	err := r.Receiver.Open(ctx)
	if err == nil {
		if err = r.meet(ctx); err != nil {
			r.missed = errors.Join(ErrNoConnection, err)
		}
	}
	return err
}

func (r *ProbeReceiver) meet(ctx context.Context) error {
	line := make([]byte, len(key{}.line()))
	err := r.conn.SetReadDeadline(earlier(r.limits.Deadline, time.Now().Add(r.limits.DialLimit())))
	if err == nil {
		_, err = io.ReadFull(r.conn, line)
	}
	if err == nil {
		r.key, err = parseKey(line)
	}
	if err != nil {
		return err
	}
	// Connected, so that the kernel drops what others send here. From the port number of the flow's connection, with which
	// an emulated link counts its losses.
	local, remote := net.UDPAddrFromAddrPort(tcpAddress(r.conn.LocalAddr())), net.UDPAddrFromAddrPort(tcpAddress(r.conn.RemoteAddr()))
	r.udp, err = net.DialUDP("udp", local, remote)
	if errors.Is(err, syscall.EADDRINUSE) {
		local.Port = 0
		r.udp, err = net.DialUDP("udp", local, remote)
	}
	if err != nil {
		return err
	}
	r.releaseUDP = watchUDP(ctx, r.udp)
	return errors.Join(r.probes.Datagrams.Open(r.udp), r.conn.SetReadDeadline(r.limits.Deadline))
}

// Run answers probes until the sender closes the connection.
func (r *ProbeReceiver) Run(ctx context.Context, _ func()) {
	defer close(r.arrivals)
	met, stop := context.WithCancel(ctx)
	var answering sync.WaitGroup
	answering.Go(func() { r.greet(met) })
	answering.Go(func() { r.answer(stop) })
	_, err := r.conn.Read(make([]byte, 1))
	stop()
	_ = r.udp.Close()
	answering.Wait()
	if r.result.Ended == "" {
		r.endBy(ctx, err)
	}
	if r.result.FirstByte.IsZero() && r.result.Ended != EndedAborted {
		r.missed = fmt.Errorf("%w: %s took the connection over TCP, and no probe came from there over UDP (%s); "+
			"check that the sender's UDP port can be reached as its TCP port can", ErrNoConnection, r.result.Peer, r.result.Ended)
	}
}

// Sample lets the arrivals be recorded.
func (r *ProbeReceiver) Sample(context.Context) { r.record(r.arrivals) }

// Close ends the flow here.
func (r *ProbeReceiver) Close() (Result, error) {
	if r.udp != nil {
		r.releaseUDP()
		_ = r.udp.Close()
	}
	return r.Receiver.Close()
}

// greet shows the sender where answers will come from, until ctx ends with the first probe.
func (r *ProbeReceiver) greet(ctx context.Context) {
	ticker := time.NewTicker(greetingInterval)
	defer ticker.Stop()
	datagram := make([]byte, ProbeBytes)
	r.key.write(datagram, greeting, 0)
	for {
		_, _ = r.udp.Write(datagram) // what does not get through is sent again
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// answer sends each probe back until the socket is closed or the budget is used up. It calls met with the first.
func (r *ProbeReceiver) answer(met func()) {
	buffer := make([]byte, ProbeBytes+1)
	for {
		n, _, waited, err := r.probes.Datagrams.Read(r.udp, buffer)
		if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.EHOSTUNREACH) || errors.Is(err, syscall.ENETUNREACH) {
			continue // what ICMP says of an earlier datagram
		}
		if err != nil {
			return
		}
		at := time.Now().Add(-waited)
		number, _, isOurs := r.key.read(buffer[:n])
		if !isOurs || number == greeting {
			continue
		}
		met()
		if !r.plan.Budget.Spend(n) || r.plan.Budget.Take(n) < n {
			r.end(EndedAborted, r.plan.Budget.Exceeded())
			r.reset()
			return
		}
		r.key.write(buffer, number, time.Since(at))
		_, _ = r.udp.Write(buffer[:n])
		r.move(n)
		if r.result.FirstByte.IsZero() {
			r.result.FirstByte = at
		}
		r.arrivals <- Arrival{number, at}
	}
}
