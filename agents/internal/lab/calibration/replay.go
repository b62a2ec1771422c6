package calibration

import (
	"cmp"
	"math"
	"slices"
	"time"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/tcpmodel"
)

const (
	// replayed is how much of a recorded flow is sent again over a return channel, by steps of waitStep. In the development
	// trace the channel's queue has filled, emptied and begun to fill again by then; later its share moves without regard to
	// what waits.
	replayed = 4500 * time.Millisecond
	waitStep = 500 * time.Millisecond
	// mostInOne is how many segments an acknowledgement stands for; where it stands for more, the log has a hole.
	mostInOne = 2
	ackBytes  = 52
	// early covers what a recorded burst is off its frame.
	early = time.Millisecond
)

// FillHoles adds the acknowledgements that a recorded flow's log left out while the flow went on, one for each segment. Where
// the window is full, an acknowledgement came when the flow sent what it had room for by it, which later acknowledgements tell
// by their RTTs. A log that does not say what had been sent stays as it is.
func FillHoles(acks []tcpmodel.Ack, segmentBytes int64) (whole []tcpmodel.Ack) {
	before := int64(0)
	for i, ack := range acks {
		if missing := ack.Bytes - before; i > 0 && missing > mostInOne*segmentBytes && acks[i-1].SentBytes > 0 {
			window := ack.SentBytes - (ack.Bytes - segmentBytes)
			for bytes := before + segmentBytes; bytes < ack.Bytes; bytes += segmentBytes {
				at := min(max(leftAt(acks[i:], bytes+window), acks[i-1].At), ack.At)
				whole = append(whole, tcpmodel.Ack{At: at, Bytes: bytes, SentBytes: bytes + window - segmentBytes, Rtt: at - sentAt(acks, bytes)})
			}
		}
		whole, before = append(whole, ack), ack.Bytes
	}
	return whole
}

// leftAt is when a flow sent its bytes up to here, by the RTT of their acknowledgement.
func leftAt(acks []tcpmodel.Ack, bytes int64) time.Duration {
	i := slices.IndexFunc(acks, func(a tcpmodel.Ack) bool { return a.Bytes >= bytes })
	if i < 0 {
		return emulate.Never
	}
	return acks[i].At - acks[i].Rtt
}

// sentAt is the same, by the acknowledgement that gave room for them: the one before the first that knows of them as sent.
func sentAt(acks []tcpmodel.Ack, bytes int64) time.Duration {
	i := slices.IndexFunc(acks, func(a tcpmodel.Ack) bool { return a.SentBytes >= bytes })
	return acks[max(i-1, 0)].At
}

// Demand is when the acknowledgements of a recorded flow came to the return channel, and when they were through. Both are by
// the sender's clock: an acknowledgement that does not wait has the flow's least RTT.
type Demand struct {
	arrivals []arrival
}

type arrival struct{ at, seenAt time.Duration }

// DemandOf takes a recorded flow's first seconds.
func DemandOf(acks []tcpmodel.Ack) (d Demand) {
	first, least := acks[0].At, emulate.Never
	n := slices.IndexFunc(acks, func(a tcpmodel.Ack) bool { return a.At-first > replayed })
	if n < 0 {
		n = len(acks)
	}
	for _, ack := range acks[:n] {
		least = min(least, ack.Rtt)
	}
	for _, ack := range acks[:n] {
		d.arrivals = append(d.arrivals, arrival{ack.At - ack.Rtt - first + least, ack.At - first})
	}
	slices.SortStableFunc(d.arrivals, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	return d
}

// Waits are how long acknowledgements waited for the return channel, recorded and over a profile's, in ms: means by steps of
// half a second. NaN: none was seen.
func (d Demand) Waits(profile emulate.Profile) (recorded, emulated []float64) {
	line := emulate.New(profile, profile.Seed).Line(emulate.Receiver, emulate.Gateway)
	through := send(line, d.arrivals)
	base := time.Duration(profile.Up.Delay.BaseMs * float64(time.Millisecond))
	sums := make([][2][]float64, replayed/waitStep)
	for i, a := range d.arrivals {
		if step := int(a.seenAt / waitStep); step < len(sums) {
			sums[step][0] = append(sums[step][0], milliseconds(a.seenAt-a.at))
			sums[step][1] = append(sums[step][1], milliseconds(through[i]-base-a.at))
		}
	}
	for _, sum := range sums {
		recorded, emulated = append(recorded, mean(sum[0])), append(emulated, mean(sum[1]))
	}
	return recorded, emulated
}

// send gives a line its arrivals, on a frame's beginning at zero, and says when each has left.
func send(line *emulate.Line, arrivals []arrival) []time.Duration {
	index := map[*emulate.Packet]int{}
	through := make([]time.Duration, len(arrivals))
	note := func(out []*emulate.Packet) {
		for _, p := range out {
			through[index[p]] = p.LeftAt - origin
		}
	}
	for i, a := range arrivals {
		p := &emulate.Packet{SizeBytes: ackBytes}
		index[p] = i
		out, _ := line.Step(max(a.at+origin-early, 0), p, nil)
		note(out)
	}
	out, _ := line.Step(emulate.Never-1, nil, nil)
	note(out)
	return through
}

// origin is where on the link's clock the recorded flow's first acknowledgement is put: a multiple of any usual frame.
const origin = 10 * time.Second

// waitError is the root of the mean squared difference of waits, in ms.
func waitError(recorded, emulated []float64) float64 {
	sum, n := 0.0, 0.0
	for i := range recorded {
		if off := emulated[i] - recorded[i]; !math.IsNaN(off) {
			sum, n = sum+off*off, n+1
		}
	}
	return math.Sqrt(sum / n)
}
