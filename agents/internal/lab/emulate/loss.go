package emulate

import (
	"math/rand/v2"
	"time"
)

// independentLoss loses each packet with the same probability.
type independentLoss struct {
	ratio float64
	draws *course
}

func (n *independentLoss) Process(now time.Duration, in *Packet) (*Packet, time.Duration) {
	if in != nil && n.draws.draw(now).Float64() < n.ratio {
		in.Lost = RandomLoss
	}
	return in, Never
}

func (n *independentLoss) Held() int { return 0 }

func (n *independentLoss) Least() time.Duration { return 0 }

// outages lose everything that passes while one lasts. Lengths, and the spaces between them, are exponential in time:
// a flow that fills the link loses a burst, a slow probe mostly single packets.
type outages struct {
	meanLength, meanSpacing time.Duration
	rng                     *rand.Rand

	from, to time.Duration // the outage that lasts or comes next
	past     time.Duration // the lengths of those before it
}

func newOutages(meanLength, meanSpacing time.Duration, rng *rand.Rand) *outages {
	n := &outages{meanLength: meanLength, meanSpacing: meanSpacing, rng: rng}
	n.draw()
	return n
}

func (n *outages) draw() {
	n.past += n.to - n.from
	n.from = n.to + exponential(n.rng, n.meanSpacing)
	n.to = n.from + exponential(n.rng, n.meanLength)
}

func exponential(rng *rand.Rand, mean time.Duration) time.Duration {
	return time.Duration(rng.ExpFloat64() * float64(mean))
}

func (n *outages) Process(now time.Duration, in *Packet) (*Packet, time.Duration) {
	for now >= n.to {
		n.draw()
	}
	if in != nil && now >= n.from {
		in.Lost = OutageLoss
	}
	return in, Never
}

func (n *outages) Held() int { return 0 }

func (n *outages) Least() time.Duration { return 0 }

// lossyGaps lose everything that passes in a handover gap.
type lossyGaps struct{ gaps gaps }

func (n lossyGaps) Process(now time.Duration, in *Packet) (*Packet, time.Duration) {
	if in != nil {
		if inside, _ := n.gaps.next(now); inside {
			in.Lost = HandoverLoss
		}
	}
	return in, Never
}

func (n lossyGaps) Held() int { return 0 }

func (n lossyGaps) Least() time.Duration { return 0 }
