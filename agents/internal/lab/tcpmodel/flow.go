package tcpmodel

import (
	"slices"
	"time"

	"downlink/agents/internal/lab/emulate"
)

const (
	mssBytes      = 1448
	segmentBytes  = 1500 // as an IP packet, with timestamps
	ackBytes      = 52
	initialWindow = 10
	// quickAcks is how many segments a receiver acknowledges one by one at first (TCP_MAX_QUICKACKS, include/net/tcp.h).
	quickAcks = 16
	// delayedAck is the longest that a receiver holds an acknowledgement back (TCP_DELACK_MIN).
	delayedAck = 40 * time.Millisecond
)

// Options of a flow.
type Options struct {
	Bytes       int64 // of the object; the flow ends with it
	WindowBytes int64 // that the receiver lets be in flight
	HasHyStart  bool
	IsHybla     bool          // TCP Hybla instead of CUBIC
	EndsAtLoss  bool          // the first loss ends it …
	LeastBytes  int64         // … as soon as so many bytes have arrived
	StartAt     time.Duration // on the link's clock
	Until       time.Duration // the flow ends so long after its start at the latest
}

// Ack is an acknowledgement as the sender saw it.
type Ack struct {
	At           time.Duration // from the receiver's first packet on, as all times of a flow
	Bytes        int64         // delivered up to here
	SentBytes    int64         // new ones
	Rtt          time.Duration
	CwndSegments int64
	LostSegments int64 // that the sender has found lost up to here
}

// Detector is what ended slow start.
type Detector string

const (
	None  Detector = ""
	Train Detector = "train"
	Delay Detector = "delay"
	Loss  Detector = "loss"
)

// Flow is what became of it. FirstLossAt: when the sender first learned of a loss, as a trace taken there shows it. It and
// ExitAt are emulate.Never where there was none. ReceivedAt: when so many bytes of the object were there in order, by segment.
// Losses: how often the window was cut.
type Flow struct {
	FirstByteAt time.Duration
	Acks        []Ack
	ReceivedAt  []time.Duration
	FirstLossAt time.Duration
	ExitAt      time.Duration
	ExitBy      Detector
	Losses      int
}

// TimeTo is how long the receiver waited for the first so many bytes, the handshake included; emulate.Never if they did not come.
func (f Flow) TimeTo(bytes int64) time.Duration {
	segment := (bytes + mssBytes - 1) / mssBytes
	if segment > int64(len(f.ReceivedAt)) {
		return emulate.Never
	}
	return f.ReceivedAt[segment-1]
}

// RateBps is what of the object came between two moments, per second.
func (f Flow) RateBps(from, to time.Duration) float64 {
	first, _ := slices.BinarySearch(f.ReceivedAt, from)
	last, _ := slices.BinarySearch(f.ReceivedAt, to)
	return float64(last-first) * mssBytes * 8 / (to - from).Seconds()
}

// Run carries out one flow over a fresh link, which it has to itself.
func Run(network emulate.Network, options Options) Flow {
	return RunTogether(network, options)[0]
}

// RunTogether carries out flows that share a fresh link, until the last one ends.
func RunTogether(network emulate.Network, all ...Options) []Flow {
	w := newWorld(network, all)
	for w.hasMore() {
		w.step()
	}
	flows := make([]Flow, len(all))
	for i, r := range w.flows {
		r.flow.ExitAt, r.flow.ExitBy = r.control.exitAt, r.control.exitBy
		flows[i] = r.flow
	}
	return flows
}
