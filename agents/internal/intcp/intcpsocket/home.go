// Package intcpsocket runs an INTCP node behind a UDP socket, and carries flows over it: as their sender, as their
// receiver, and as a relay between neighbours.
package intcpsocket

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"downlink/agents/internal/intcp"
)

const (
	// leastSleep is how much a node's moments may be late, so that packets leave several at a time: a rate's bucket holds more.
	leastSleep = 200 * time.Microsecond
	// catchUp is what a home makes good that the machine let run late: no more than an epoch of the rate law.
	catchUp = 10 * time.Millisecond
	// farewell is how long a home goes on after its run: what tells the neighbours is sent three times.
	farewell = 60 * time.Millisecond
	// LateAfter is from when on a moment of a node counts as late: half an epoch of the rate law.
	LateAfter = 5 * time.Millisecond
	// longestSleep bounds the wait of a node that wants nothing.
	longestSleep = time.Minute
)

// Plan says what a home is for: one run.
type Plan struct {
	// Address is where neighbours downstream come to, with port 0 for one that the kernel picks; empty where none does.
	Address string
	Run     uint64
	Options intcp.Options
	Policy  intcp.Policy
	// Serves are the hops on which this node answers.
	Serves []intcp.Hop
	// Asks: Ask will name a neighbour upstream. It is asked from a socket of its own, whose address the kernel picks by the
	// route: the networks on both sides of a relay often know nothing of each other.
	Asks bool
}

// Lateness says how often a node acted late: on a datagram that had come, or at a moment of its own.
type Lateness struct {
	Moments, Late uint64
	Most          time.Duration
}

func (l *Lateness) note(by time.Duration) {
	l.Moments++
	if by > LateAfter {
		l.Late++
	}
	l.Most = max(l.Most, by)
}

// Home is a node behind one socket or two.
type Home struct {
	run     uint64
	began   time.Time
	running sync.WaitGroup
	ending  sync.Once
	closed  chan struct{}

	timer *time.Timer // for the moment at which the node wants to act next

	mu        sync.Mutex // of all below
	node      *intcp.Node
	served    *door // for neighbours downstream; nil where none comes
	asking    *door // for the neighbour upstream; nil where there is none
	upstream  intcp.Address
	taken     time.Duration // the newest moment that the node knows
	due       time.Duration // when the node wants to act next
	lateness  Lateness
	out       intcp.Outbox
	addresses map[intcp.Address]*net.UDPAddr
	published map[intcp.Name]int // flows that this end sends, by content
	watches   map[intcp.Name][]*intcp.Watch
}

// Open listens and lets the run begin. Nothing is sent before Ask.
func Open(plan Plan) (*Home, error) {
	node, err := newNode(plan)
	if err != nil {
		return nil, err
	}
	h := &Home{
		// A node's clock begins after 0, which means never.
		run: plan.Run, began: time.Now().Add(-time.Second), node: node, addresses: map[intcp.Address]*net.UDPAddr{},
		published: map[intcp.Name]int{}, watches: map[intcp.Name][]*intcp.Watch{},
		timer: time.NewTimer(longestSleep), closed: make(chan struct{}),
	}
	if plan.Address != "" {
		if h.served, err = openDoor(plan.Address); err != nil {
			return nil, err
		}
	}
	if plan.Asks {
		if h.asking, err = openDoor(":0"); err != nil {
			return nil, errors.Join(err, h.closeDoors())
		}
	}
	h.taken = h.now()
	for _, d := range h.doors() {
		h.running.Go(func() { h.serve(d) })
	}
	h.running.Go(h.keepTime)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.act()
	return h, nil
}

func newNode(plan Plan) (*intcp.Node, error) {
	var random [20]byte
	_, _ = rand.Read(random[:]) // never fails (crypto/rand)
	node := intcp.New(intcp.Config{Secret: [16]byte(random[:16]), Salt: binary.NativeEndian.Uint32(random[16:]), Policy: plan.Policy,
		CatchUp: catchUp})
	if err := node.Begin(plan.Run, plan.Options); err != nil {
		return nil, err
	}
	if plan.Asks {
		node.Expect(plan.Run)
	}
	for _, hop := range plan.Serves {
		if err := node.Serve(hop); err != nil {
			return nil, err
		}
	}
	return node, nil
}

// now is the node's clock.
func (h *Home) now() time.Duration { return time.Since(h.began) }

// At is a moment of the node's clock; the zero time for 0.
func (h *Home) At(moment time.Duration) time.Time {
	if moment == 0 {
		return time.Time{}
	}
	return h.began.Add(moment)
}

// Do calls a function with the node, which nobody else uses meanwhile, and then does what has become due.
func (h *Home) Do(act func(now time.Duration, node *intcp.Node)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.taken = h.moment()
	act(h.taken, h.node)
	h.act()
}

// wakeUp answers what time it is, and notes by how much the node is late if it wanted to act before.
func (h *Home) wakeUp() (now time.Duration) {
	now = h.now()
	if h.due > 0 && now >= h.due {
		h.lateness.note(now - h.due)
	}
	return now
}

// Lateness is that of all moments so far.
func (h *Home) Lateness() Lateness {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lateness
}

// Look looks at a content, and does what has become due.
func (h *Home) Look(content intcp.Content) (l intcp.Look, now time.Duration) {
	h.Do(func(at time.Duration, node *intcp.Node) { l, now = node.Look(at, content.Run, content.Name), at })
	return l, now
}

// IsMet tells whether the neighbour upstream has ever answered.
func (h *Home) IsMet() (isMet bool) {
	h.Do(func(_ time.Duration, node *intcp.Node) { isMet = node.IsMet(h.run) })
	return isMet
}

// Err is nil: a home's node lasts as long as the home.
func (h *Home) Err() error { return nil }

// moment answers what time it is for the node. The caller holds the lock.
//
// While datagrams wait, it is the moment at which the newest one that the node knows came. Otherwise its timers would ask
// again for data that has arrived already, and a busy machine would get more to do.
func (h *Home) moment() time.Duration {
	now := h.wakeUp()
	if slices.ContainsFunc(h.doors(), (*door).hasMore) {
		return h.taken
	}
	return max(h.taken, now)
}

// act lets the node do what is due.
func (h *Home) act() { h.leave(h.taken, h.node.Step(h.taken, intcp.Address{}, nil, &h.out)) }

// leave sends what the node gave, and sets when it acts next. The caller holds the lock.
func (h *Home) leave(now, wake time.Duration) {
	for i := range h.out.Datagrams {
		to := h.out.Datagrams[i].To
		h.way(to).batch.Add(h.address(to), h.out.Datagrams[i].Bytes)
	}
	for _, d := range h.doors() {
		_ = d.batch.Flush() // a closed socket ends serve as well
	}
	h.out.Reset()
	sleep := min(max(wake-now, leastSleep), longestSleep)
	h.due = now + sleep
	h.timer.Reset(sleep)
}

// mostAddresses bounds what strangers can have remembered.
const mostAddresses = 1024

// serve ends when the socket is closed.
func (h *Home) serve(d *door) {
	for {
		if errors.Is(d.batch.Wait(), net.ErrClosed) {
			return
		}
		d.isBrought.Store(true)
		h.step(d)
	}
}

func (h *Home) step(d *door) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	d.batch.Each(func(from netip.AddrPort, datagram []byte, waited time.Duration) {
		h.lateness.note(waited)
		h.taken = max(h.taken, now-waited)
		h.node.Take(h.taken, AddressOf(from), datagram, &h.out)
	})
	d.isBrought.Store(false)
	h.taken = h.moment()
	h.act()
}

// keepTime lets the node act at its moments, until the home is closed.
func (h *Home) keepTime() {
	for {
		select {
		case <-h.timer.C:
			h.Do(func(time.Duration, *intcp.Node) {})
		case <-h.closed:
			return
		}
	}
}

// Ask names the neighbour upstream and tries to reach it.
func (h *Home) Ask(hop intcp.Hop) (err error) {
	h.Do(func(_ time.Duration, node *intcp.Node) {
		h.upstream = hop.Peer
		if err = node.Ask(hop); err == nil {
			err = node.Greet(h.run)
		}
	})
	return err
}

// Close ends the run here, tells the neighbours, and closes the socket.
func (h *Home) Close() error {
	h.Do(func(_ time.Duration, node *intcp.Node) { node.End(h.run) })
	time.Sleep(farewell)
	h.ending.Do(func() { close(h.closed) })
	err := h.closeDoors()
	h.running.Wait()
	return err
}
