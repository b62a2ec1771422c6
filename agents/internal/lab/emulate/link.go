package emulate

import (
	"math/rand/v2"
	"time"
)

// seeds hands out independent random streams of one seed.
type seeds struct{ seed, stream uint64 }

// Of a seed's streams, those of the way up begin at upStreams, and each hop has hopStreams of a way's.
const (
	upStreams  = 1 << 32
	hopStreams = 1 << 20
)

// hop is the number of the hop that draws, from 0.
func (s *seeds) hop() uint64 { return s.stream % upStreams / hopStreams }

func (s *seeds) next() *rand.Rand {
	s.stream++
	return rand.New(rand.NewPCG(s.seed, s.stream))
}

// line is that of a way by itself.
func (d Direction) line(s seeds) *Line { return NewLine(d.nodes(&s)...) }

// nodes are in the order of the real path: the queue before the satellite hop, what can happen on the air, and the way
// through space.
func (d Direction) nodes(s *seeds) []Node {
	return append(append([]Node{d.channel(s)}, d.losses(s)...), d.way(s))
}

// channel is where packets wait for the hop.
func (d Direction) channel(s *seeds) Node {
	twin := *s // of the same chances: who sends asks for moments to come, who looks for the present one
	r, shown := d.gapped(s, d.capacity(s)), d.gapped(s, d.capacity(&twin))
	if d.Frames != nil {
		return newFrames(*d.Frames, r, shown, d.Queue.LimitBytes)
	}
	return &bottleneck{rate: r, shown: shown, rule: d.Queue.rule(), drops: newCourse(s.next())}
}

func (d Direction) gapped(s *seeds, r rate) rate {
	if d.Gap != nil && !d.Gap.IsLossy {
		return gappedRate{r, d.Gap.gaps(s)}
	}
	return r
}

// capacity is the rate of the hop, without its gaps.
func (d Direction) capacity(s *seeds) (r rate) {
	if d.recorded != nil && d.recorded.Bps != nil {
		r = recordedRate{d.recorded}
	} else {
		r = d.Rate.process(s)
	}
	if d.Rate.Varies != nil {
		r = varyingRate{r, newWander(*d.Rate.Varies, newCourse(s.next()))}
	}
	return r
}

func (r Rate) process(s *seeds) rate {
	rng := s.next()
	switch {
	case r.Steps != nil:
		return &stepRate{period: seconds(r.Steps.PeriodS), offset: seconds(r.Steps.OffsetS), lowBps: r.Steps.LowBps, highBps: r.Steps.HighBps,
			course: newCourse(rng)}
	case r.Trace != nil:
		return recordedRate{r.Trace.recorded()}
	default:
		return constantRate(r.ConstantBps)
	}
}

func (t RateTrace) recorded() *Trace {
	trace := &Trace{Repeat: seconds(t.RepeatS)}
	for _, point := range t.Points {
		trace.At, trace.Bps = append(trace.At, seconds(point.AtS)), append(trace.Bps, point.Bps)
	}
	return trace
}

func (q Queue) rule() dropRule {
	rule := dropRule{limitBytes: q.LimitBytes}
	if q.RandomDrop != nil {
		rule.aboveBytes, rule.dropRatio = q.RandomDrop.AboveBytes, q.RandomDrop.Ratio
	}
	return rule
}

// gapStream is the random stream of the first hop's handovers, the same for both ways: it is one satellite that goes.
const gapStream = 1 << 40

func (g Gap) gaps(s *seeds) gaps {
	made := gaps{every: seconds(g.EveryS), offset: seconds(g.OffsetS), length: milliseconds(g.LengthMs)}
	if len(g.Lengths) > 0 {
		made.draw, made.course = fromQuantiles(quantilePoints(g.Lengths)), newCourse(rand.New(rand.NewPCG(s.seed, gapStream+s.hop())))
	}
	made.seen = made.unseen()
	return made
}

func quantilePoints(points []QuantilesMs) []quantile {
	all := make([]quantile, len(points))
	for i, point := range points {
		all[i] = quantile{point.Ratio, milliseconds(point.DelayMs)}
	}
	return all
}

func (d Direction) losses(s *seeds) (nodes []Node) {
	if d.Gap != nil && d.Gap.IsLossy {
		nodes = append(nodes, lossyGaps{d.Gap.gaps(s)})
	}
	if o := d.Loss.Outages; o != nil {
		nodes = append(nodes, newOutages(milliseconds(o.MeanLengthMs), seconds(o.MeanSpacingS), s.next()))
	}
	if d.Loss.IndependentRatio > 0 {
		nodes = append(nodes, &independentLoss{d.Loss.IndependentRatio, newCourse(s.next())})
	}
	if d.recorded != nil && d.recorded.Loss != nil {
		nodes = append(nodes, &recordedLoss{d.recorded, newCourse(s.next())})
	}
	return nodes
}

// way is the hop's way through space.
func (d Direction) way(s *seeds) Node {
	node := &delay{base: milliseconds(d.Delay.BaseMs), reorders: d.Delay.Reorders}
	if d.recorded != nil && d.recorded.Delay != nil {
		node.variations = append(node.variations, recordedDelay(d.recorded))
	}
	for _, v := range d.Delay.Variations {
		draw, least := v.distribution()
		node.variations = append(node.variations, newVariation(milliseconds(v.HoldMs), milliseconds(v.OffsetMs), draw, least, s.next()))
	}
	return node
}

// distribution is how values are drawn, and the least of them.
func (v Variation) distribution() (draw func(*rand.Rand) time.Duration, least time.Duration) {
	switch {
	case v.Normal != nil:
		low := milliseconds(v.Normal.LowMs)
		return truncatedNormal(milliseconds(v.Normal.SdMs), low, milliseconds(v.Normal.HighMs)), low
	case v.Uniform != nil:
		low := milliseconds(v.Uniform.LowMs)
		return uniform(low, milliseconds(v.Uniform.HighMs)), low
	default:
		points := quantilePoints(v.Quantiles)
		return fromQuantiles(points), points[0].value
	}
}

func seconds(s float64) time.Duration       { return time.Duration(s * float64(time.Second)) }
func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
