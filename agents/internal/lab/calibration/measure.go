package calibration

import (
	"time"

	"downlink/agents/internal/lab/emulate"
)

// Effort says how much is reckoned. Zero leaves a part out.
type Effort struct {
	Probes      int   // of the idle link
	Flows       int   // beginnings of flows, with and without HyStart
	Downloads   int   // of two minutes, with and without HyStart; and as many pairs
	WindowBytes int64 // that receivers let be in flight
}

// apart is how far apart flows begin on the link's clock: not a multiple of any frame or slot.
const apart = 7*time.Second + 1234567*time.Nanosecond

// Measure reckons a profile's statistics.
func Measure(profile emulate.Profile, effort Effort) Values {
	values := Values{}
	if effort.Probes > 0 {
		measureIdle(profile, effort.Probes, values)
		measureCourse(profile, values)
	}
	if effort.Flows > 0 {
		measureStarts(profile, effort, values)
	}
	if effort.Downloads > 0 {
		measureDownloads(profile, effort, values)
		measurePairs(profile, effort, values)
	}
	return values
}
