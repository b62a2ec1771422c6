package tcpmodel

import (
	"slices"
	"time"

	"downlink/agents/internal/emulate"
)

// Objects are the sizes whose times a summary has, bytes.
var Objects = []int64{1e6, 5e6, 30e6}

const (
	mostBytes = 200_000_000
	mostTime  = 60 * time.Second
	// spread is how far apart the flows begin on the link's clock: not a multiple of any frame or slot.
	spread = 7*time.Second + 1234567*time.Nanosecond
	// burstGap separates bursts of acknowledgements.
	burstGap = 5 * time.Millisecond
	// beginning is how long the acknowledgements of a flow's beginning are looked at.
	beginning = 1800 * time.Millisecond
)

// Summary is what flows of one kind saw, each value in the order of the flows; emulate.Never stands for what never came.
type Summary struct {
	ObjectTimes   [][]time.Duration // by object
	FirstLosses   []time.Duration
	Exits         []time.Duration
	ExitsBy       map[Detector]int
	InitialSpread []time.Duration // from the first to the last acknowledgement of the initial window
	AcksABurst    []float64       // of the flow's first 1.8 s
}

// Summarise runs flows over links of a profile, one after the other, each from another moment of its course.
func Summarise(profile emulate.Profile, flows int, windowBytes int64, hasHyStart bool) Summary {
	s := Summary{ObjectTimes: make([][]time.Duration, len(Objects)), ExitsBy: map[Detector]int{}}
	for i := range flows {
		flow := Run(emulate.New(profile, profile.Seed+uint64(i)), Options{
			Bytes: mostBytes, WindowBytes: windowBytes, HasHyStart: hasHyStart, EndsAtLoss: true, StartAt: time.Duration(i) * spread, Until: mostTime,
		})
		for object, bytes := range Objects {
			s.ObjectTimes[object] = append(s.ObjectTimes[object], flow.TimeTo(bytes))
		}
		s.FirstLosses = append(s.FirstLosses, flow.FirstLossAt)
		s.Exits = append(s.Exits, flow.ExitAt)
		s.ExitsBy[flow.ExitBy]++
		s.InitialSpread = append(s.InitialSpread, flow.initialSpread())
		s.AcksABurst = append(s.AcksABurst, flow.acksABurst())
	}
	return s
}

func (f Flow) initialSpread() time.Duration {
	last := slices.IndexFunc(f.Acks, func(a Ack) bool { return a.Bytes >= initialWindow*mssBytes })
	if last < 0 {
		return emulate.Never
	}
	return f.Acks[last].At - f.Acks[0].At
}

func (f Flow) acksABurst() float64 {
	acks, bursts, last := 0, 0, -burstGap
	for _, a := range f.Acks {
		if a.At-f.Acks[0].At > beginning {
			break
		}
		acks++
		if bursts == 0 || a.At-last > burstGap {
			bursts++
		}
		last = a.At
	}
	return float64(acks) / float64(max(bursts, 1))
}
