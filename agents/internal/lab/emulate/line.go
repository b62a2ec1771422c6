// Package emulate carries packets across an emulated link.
//
// The middle is pure: nodes and the lines made of them read no clock and never sleep. They are told what time it is and
// say when they want to be called again, so that the same profile, seed and arrivals give every packet the same fate, in
// a test's virtual time and in the pump alike. Only the pump reads a clock and moves bytes.
package emulate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Never is the wake time of a node that waits for nothing.
const Never = time.Duration(math.MaxInt64)

// Cause says why a packet was lost. The zero value means that it was not.
type Cause uint8

const (
	NotLost      Cause = iota
	QueueFull          // tail drop: the queue had no room for it
	EarlyDrop          // the queue's random drop above its threshold
	RandomLoss         // independent loss
	OutageLoss         // it crossed the link during an outage
	HandoverLoss       // it crossed the link during a lossy handover gap
	PathChange         // it was at a satellite, or on its way to one, that left the path
	Thinned            // an acknowledgement that a later one made needless while it waited
	causes
)

// LostCauses are all the ways to be lost, in their order.
func LostCauses() (all []Cause) {
	for cause := NotLost + 1; cause < causes; cause++ {
		all = append(all, cause)
	}
	return all
}

func (c Cause) String() string {
	return [causes]string{"not lost", "queue full", "early drop", "random loss", "outage", "handover", "path change", "thinned"}[c]
}

// Packet is one IP packet on its way. A simulation may leave Data nil and give only the size.
type Packet struct {
	Data      []byte
	SizeBytes int
	Lost      Cause
	// LeftAt is when the packet left its line by the line's own reckoning, however late the caller comes for it.
	LeftAt time.Duration
	// StopsAtSites: the owner of the link's sites takes the packet at the next one.
	StopsAtSites bool
	// Tag is theirs.
	Tag int
	// Branch is the further receiver that the packet goes to, from 1, or that it comes from where relays take it; 0: none.
	Branch int

	due time.Duration // when the node that holds the packet lets it go
}

// Node is one stage of a link.
//
// Process takes the packet that arrives at now, or nil when the node only asked to be called, and gives back a packet
// that leaves at now, or nil, and when it wants to be called next (Never: only with the next packet; now: at once, for
// there is more). A packet marked Lost leaves too: each packet that enters comes out exactly once. now never decreases.
type Node interface {
	Process(now time.Duration, in *Packet) (out *Packet, wake time.Duration)
	// Held is the number of packets inside.
	Held() int
	// Least is the shortest time that any packet spends inside.
	Least() time.Duration
}

// foresees is a node of many stages: when it wants to be called next says little of when a packet can be through it.
type foresees interface {
	firstExit() time.Duration
}

// Line is one direction of a link: nodes in the order in which packets pass them.
type Line struct {
	nodes  []Node
	wakes  []time.Duration // changed by sleep alone
	soon   int             // the node that earliest finds; -1: to be looked for
	ahead  []time.Duration // the shortest time from each node's exit to the end of the line
	counts Counts
	borders
}

// Counts are what a line did so far. Received + given = delivered + taken + sum of lost + queued, always, in packets and in
// bytes; given and taken are what relays put in and took out at the sites between hops.
type Counts struct {
	Received, Delivered           uint64
	ReceivedBytes, DeliveredBytes uint64
	Given, Taken                  uint64
	GivenBytes, TakenBytes        uint64
	Lost, LostBytes               [causes]uint64
	Queued                        int
}

// QueuedBytes is what is inside.
func (c Counts) QueuedBytes() uint64 {
	bytes := c.ReceivedBytes + c.GivenBytes - c.DeliveredBytes - c.TakenBytes
	for _, lost := range c.LostBytes {
		bytes -= lost
	}
	return bytes
}

// Plus adds what two lines did.
func (c Counts) Plus(other Counts) Counts {
	c.Received += other.Received
	c.Delivered += other.Delivered
	c.ReceivedBytes += other.ReceivedBytes
	c.DeliveredBytes += other.DeliveredBytes
	c.Given += other.Given
	c.Taken += other.Taken
	c.GivenBytes += other.GivenBytes
	c.TakenBytes += other.TakenBytes
	c.Queued += other.Queued
	for cause := range c.Lost {
		c.Lost[cause] += other.Lost[cause]
		c.LostBytes[cause] += other.LostBytes[cause]
	}
	return c
}

// NewLine joins nodes into one direction of a link.
func NewLine(nodes ...Node) *Line {
	line := &Line{soon: -1, nodes: nodes, wakes: make([]time.Duration, len(nodes)), ahead: make([]time.Duration, len(nodes))}
	least := time.Duration(0)
	for i, node := range slices.Backward(nodes) {
		line.wakes[i], line.ahead[i] = Never, least
		least += node.Least()
	}
	return line
}

// Step runs the line from its last event up to now, event by event at their exact times, and then takes in, if any.
// A late caller therefore adds no delay to what happens inside. Packets that left, lost ones included, are appended to
// out in the order of their leaving. wake is the first moment at which another packet can be through: what happens
// inside until then can wait for it.
func (l *Line) Step(now time.Duration, in *Packet, out []*Packet) (_ []*Packet, wake time.Duration) {
	for l.next() <= now {
		out = l.happen(out)
	}
	if in != nil {
		l.counts.Received++
		l.counts.ReceivedBytes += uint64(in.SizeBytes)
		out = l.pass(0, now, in, out)
	}
	return out, l.firstExit()
}

// next is when something happens inside; Never: nothing will.
func (l *Line) next() time.Duration {
	_, at := l.earliest()
	return at
}

// happen lets the next event happen.
func (l *Line) happen(out []*Packet) []*Packet {
	node, at := l.earliest()
	p, wake := l.nodes[node].Process(at, nil)
	l.sleep(node, wake)
	if l.stops(node, at, p) {
		return out
	}
	return l.pass(node+1, at, p, out)
}

// firstExit is when the next packet can be through the whole line.
func (l *Line) firstExit() time.Duration {
	first := Never
	for i, wake := range l.wakes {
		if far, isFar := l.nodes[i].(foresees); isFar && wake != Never {
			wake = far.firstExit()
		}
		if wake != Never {
			first = min(first, wake+l.ahead[i])
		}
	}
	return first
}

// pass hands a packet to node after node until one keeps it, it is lost, or it is through.
func (l *Line) pass(node int, now time.Duration, p *Packet, out []*Packet) []*Packet {
	for ; p != nil && p.Lost == NotLost && node < len(l.nodes); node++ {
		var wake time.Duration
		p, wake = l.nodes[node].Process(now, p)
		l.sleep(node, wake)
		if l.stops(node, now, p) {
			return out
		}
	}
	if p == nil {
		return out
	}
	return l.leave(now, p, out)
}

// leave counts a packet that is through or lost.
func (l *Line) leave(now time.Duration, p *Packet, out []*Packet) []*Packet {
	p.LeftAt = now
	if p.Lost != NotLost {
		l.counts.Lost[p.Lost]++
		l.counts.LostBytes[p.Lost] += uint64(p.SizeBytes)
	} else {
		l.counts.Delivered++
		l.counts.DeliveredBytes += uint64(p.SizeBytes)
	}
	return append(out, p)
}

// sleep lets a node be until it wants to be called.
func (l *Line) sleep(node int, wake time.Duration) {
	l.wakes[node] = wake
	switch soon := l.soon; {
	case soon < 0:
	case node == soon:
		l.soon = -1
	case wake < l.wakes[soon] || wake == l.wakes[soon] && node > soon:
		l.soon = node
	}
}

// earliest finds the next event; of several at one moment the one furthest down the line, so that packets keep their order.
func (l *Line) earliest() (node int, at time.Duration) {
	if l.soon < 0 {
		l.soon = 0
		for i, wake := range l.wakes {
			if wake <= l.wakes[l.soon] {
				l.soon = i
			}
		}
	}
	return l.soon, l.wakes[l.soon]
}

// Counts returns what the line did so far.
func (l *Line) Counts() Counts {
	counts := l.counts
	for _, node := range l.nodes {
		counts.Queued += node.Held()
	}
	return counts
}

// String tells the counts in one line.
func (c Counts) String() string {
	parts := []string{fmt.Sprintf("%d received, %d delivered, %d queued", c.Received, c.Delivered, c.Queued)}
	if c.Given+c.Taken > 0 {
		parts = append(parts, fmt.Sprintf("%d given by relays, %d taken by them", c.Given, c.Taken))
	}
	for cause := NotLost + 1; cause < causes; cause++ {
		if c.Lost[cause] > 0 {
			parts = append(parts, fmt.Sprintf("%d lost (%v)", c.Lost[cause], cause))
		}
	}
	return strings.Join(parts, ", ")
}
