package virtualrun

import (
	"fmt"
	"time"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/tcpmodel"
)

// What a flow is carried by.
const (
	Probe = "probe" // an echo over UDP, on the idle link
	Cubic = "cubic" // TCP as Linux does it, by the model of tcpmodel
	Full  = "full"  // a constant window, whatever is lost: keeps the link full where a loss would slow CUBIC down
)

// Order says what to run: one flow, alone on its link.
type Order struct {
	Kind        string  `json:"kind"`
	Seconds     float64 `json:"seconds"`
	Seed        uint64  `json:"seed"`         // of the link's chances
	EveryMs     float64 `json:"every_ms"`     // of a probe flow
	HasHyStart  bool    `json:"has_hystart"`  // of CUBIC
	WindowBytes int64   `json:"window_bytes"` // that may be in flight, at most
}

// Record is what the flow's ends saw. Columns are those of docs/fields.csv; segments have 1,448 bytes.
type Record struct {
	Order       Order              `json:"order"`
	FirstByteUs int64              `json:"first_byte_us"`
	Sender      map[string][]int64 `json:"sender"`
	Receiver    map[string][]int64 `json:"receiver"`
}

const (
	mssBytes    = 1448
	mostSeconds = 3600
)

// Carry runs an order over a profile. The run begins anywhere in the link's course, as runs of a campaign do.
func Carry(profile emulate.Profile, order Order) (Record, error) {
	if err := order.check(); err != nil {
		return Record{}, err
	}
	start := emulate.Phase(profile, order.Seed)
	switch order.Kind {
	case Probe:
		return probe(emulate.New(profile, order.Seed), start, order), nil
	case Full:
		return fullFlow(emulate.New(profile, order.Seed), start, order), nil
	default:
		return cubicFlow(profile, start, order), nil
	}
}

func (o Order) check() error {
	switch {
	case o.Kind != Probe && o.Kind != Cubic && o.Kind != Full:
		return fmt.Errorf("a flow is a %s, %s or %s, not %q", Probe, Cubic, Full, o.Kind)
	case o.Seconds <= 0 || o.Seconds > mostSeconds:
		return fmt.Errorf("a flow lasts up to %d seconds, not %g", mostSeconds, o.Seconds)
	case o.Kind == Probe && (o.EveryMs < 1 || o.EveryMs > 10_000):
		return fmt.Errorf("probes are 1 to 10000 ms apart, not %g", o.EveryMs)
	case o.Kind != Probe && (o.WindowBytes < 10*mssBytes || o.WindowBytes > 1e9):
		return fmt.Errorf("a window has from %d to 1e9 bytes, not %d", 10*mssBytes, o.WindowBytes)
	}
	return nil
}

func (o Order) duration() time.Duration { return time.Duration(o.Seconds * float64(time.Second)) }

func cubicFlow(profile emulate.Profile, start time.Duration, order Order) Record {
	enough := int64(profile.PeakBps()/8*order.Seconds) + order.WindowBytes
	flow := tcpmodel.Run(emulate.New(profile, order.Seed), tcpmodel.Options{
		Bytes: enough, WindowBytes: order.WindowBytes, HasHyStart: order.HasHyStart, StartAt: start, Until: order.duration(),
	})
	record := Record{Order: order, FirstByteUs: flow.FirstByteAt.Microseconds(), Sender: map[string][]int64{}}
	for _, a := range flow.Acks {
		record.add(a.At, a.Bytes/mssBytes, a.Rtt, a.LostSegments)
	}
	return record
}

// add appends an acknowledgement as the sender's trace has it.
func (r Record) add(at time.Duration, delivered int64, rtt time.Duration, lost int64) {
	put(r.Sender, map[string]int64{
		"elapsed_us": at.Microseconds(), "delivered_segments": delivered, "ack_rtt_us": rtt.Microseconds(), "lost_total_segments": lost,
	})
}
