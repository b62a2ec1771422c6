package calibration

import (
	"math"
	"math/cmplx"
	"time"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/tcpmodel"
)

const (
	mb        = 1e6
	mostStart = 40 * time.Second
	// beginning is how long the acknowledgements of a flow's beginning are looked at; coherent, for bursts in step with frames.
	beginning = 1800 * time.Millisecond
	coherent  = 10 * time.Second
	// burstGap separates bursts of acknowledgements.
	burstGap      = 5 * time.Millisecond
	usualFrame    = 40 * time.Millisecond
	initialWindow = 10 * 1448
	// fullRatio: the link is full when so much of rate times least RTT is in flight.
	fullRatio = 1.0
)

var objects = []struct {
	key   string
	bytes int64
}{{"1mb_s", 1 * mb}, {"5mb_s", 5 * mb}, {"30mb_s", 30 * mb}}

func measureStarts(profile emulate.Profile, effort Effort, values Values) {
	off := starts(profile, effort, false)
	measureObjects("off_", off, values)
	measureBursts(profile, off, values)
	measureSearch(profile, off, values)
	on := starts(profile, effort, true)
	measureObjects("on_", on, values)
	measureExits(on, values)
}

// starts runs flows one after the other over links of other seeds, until they have brought 30 MB and lost something.
func starts(profile emulate.Profile, effort Effort, hasHyStart bool) (flows []tcpmodel.Flow) {
	for i := range effort.Flows {
		flows = append(flows, tcpmodel.Run(emulate.New(profile, profile.Seed+uint64(i)), tcpmodel.Options{
			Bytes: 1000 * mb, WindowBytes: effort.WindowBytes, HasHyStart: hasHyStart,
			EndsAtLoss: true, LeastBytes: 30 * mb, StartAt: time.Duration(i) * apart, Until: mostStart,
		}))
	}
	return flows
}

// measureObjects takes means, as the published curve does.
func measureObjects(prefix string, flows []tcpmodel.Flow, values Values) {
	for _, object := range objects {
		var times []time.Duration
		for _, flow := range flows {
			times = append(times, flow.TimeTo(object.bytes))
		}
		came := seconds(times)
		if len(came) < len(flows) {
			came = nil // a mean over the others would be one of the lucky
		}
		values.set(prefix+object.key, mean(came))
	}
}

func measureExits(flows []tcpmodel.Flow, values Values) {
	var exits []time.Duration
	by := map[tcpmodel.Detector]float64{}
	for _, flow := range flows {
		by[flow.ExitBy]++
		if flow.ExitBy == tcpmodel.Delay || flow.ExitBy == tcpmodel.Train {
			exits = append(exits, flow.ExitAt-flow.FirstByteAt)
		}
	}
	values.set("exit_s", mean(seconds(exits)))
	values.set("by_delay_percent", 100*by[tcpmodel.Delay]/float64(len(flows)))
	values.set("by_train_percent", 100*by[tcpmodel.Train]/float64(len(flows)))
}

// measureBursts looks at when acknowledgements reach the sender.
func measureBursts(profile emulate.Profile, flows []tcpmodel.Flow, values Values) {
	frame := usualFrame
	if profile.Up.Frames != nil {
		frame = time.Duration(profile.Up.Frames.LengthMs * float64(time.Millisecond))
	}
	var coherence, perFrame, spread, grants, widths []float64
	for _, flow := range flows {
		bursts := bursts(flow.Acks)
		coherence = append(coherence, coherenceAt(frame, bursts))
		perFrame = append(perFrame, acksABurst(bursts))
		spread = append(spread, spreadOf(flow.Acks, initialWindow))
		grants = append(grants, firstGroup(bursts))
		widths = append(widths, smallWidths(bursts)...)
	}
	values.set("frame_coherence", mean(coherence))
	values.set("acks_a_frame", mean(perFrame))
	values.set("initial_spread_ms", mean(spread))
	values.set("grants_begin_s", mean(grants))
	values.set("burst_width_ms", quantile(widths, 0.9))
}

// burst is a group of acknowledgements, from the first one of the flow on.
type burst struct {
	from, to time.Duration
	acks     int
}

func bursts(acks []tcpmodel.Ack) (found []burst) {
	for _, ack := range acks {
		at, last := ack.At-acks[0].At, len(found)-1
		if last < 0 || at-found[last].to > burstGap {
			found = append(found, burst{at, at, 1})
		} else {
			found[last].to, found[last].acks = at, found[last].acks+1
		}
	}
	return found
}

// coherenceAt is 1 when all bursts of the first 10 s begin at one phase of a period, and about 0 when they do at any.
func coherenceAt(period time.Duration, all []burst) float64 {
	sum, n := complex(0, 0), 0
	for _, b := range all {
		if b.from < coherent {
			sum += cmplx.Rect(1, 2*math.Pi*float64(b.from)/float64(period))
			n++
		}
	}
	return cmplx.Abs(sum) / float64(n)
}

func acksABurst(all []burst) float64 {
	acks, n := 0, 0
	for _, b := range all {
		if b.from <= beginning {
			acks, n = acks+b.acks, n+1
		}
	}
	return float64(acks) / float64(n)
}

// firstGroup is when acknowledgements begin to come together, in seconds from the first one: from a burst of two or more
// on, when of five bursts at least three are such. A single one may be what the handshake had asked for.
func firstGroup(all []burst) float64 {
	for i := range max(0, len(all)-4) {
		groups := 0
		for _, b := range all[i : i+5] {
			if b.acks > 1 {
				groups++
			}
		}
		if all[i].acks > 1 && groups >= 3 {
			return all[i].from.Seconds()
		}
	}
	return math.NaN()
}

// smallWidths are those of bursts whose width says how fast the channel sends, and not how much.
func smallWidths(all []burst) (widths []float64) {
	for _, b := range all {
		if b.acks >= 2 && b.acks <= 4 {
			widths = append(widths, milliseconds(b.to-b.from))
		}
	}
	return widths
}

// spreadOf is the time from the first acknowledgement to that of so many bytes, in ms.
func spreadOf(acks []tcpmodel.Ack, bytes int64) float64 {
	for _, ack := range acks {
		if ack.Bytes >= bytes {
			return milliseconds(ack.At - acks[0].At)
		}
	}
	return math.NaN()
}
