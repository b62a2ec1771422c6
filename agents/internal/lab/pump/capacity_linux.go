package pump

import (
	"fmt"
	"runtime"
	"time"

	"downlink/agents/internal/lab/emulate"
)

const (
	// capacityPackets is how many packets each way a link is tried with: some hundredths of a second for 15 hops.
	capacityPackets = 10_000
	// deviceCost is what reading a packet from one device and writing it to another takes (docs/link-profiles.md has the
	// benchmark that measures it), within a factor of two on any machine of today.
	deviceCost = 5 * time.Microsecond
	largest    = 1500
	smallest   = 52 // an acknowledgement, of which there is one for two packets
)

// ErrTooMuch says that a machine cannot carry a link.
type ErrTooMuch struct {
	Profile          string
	Hops             int
	PeakBps, MostBps float64
}

func (e *ErrTooMuch) Error() string {
	return fmt.Sprintf("one core of this machine carries at most %.0f Mb/s over the %d hops of profile %s, which has %.0f Mb/s: "+
		"let it have fewer hops or a lower rate, or take a faster machine",
		e.MostBps/1e6, e.Hops, e.Profile, e.PeakBps/1e6)
}

// Capacity is the rate that one core of this machine carries over a profile, by a trial in virtual time.
func Capacity(profile emulate.Profile) (bps float64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	network := emulate.New(profile, 1)
	spacing := time.Duration(largest * 8 / profile.PeakBps() * float64(time.Second))
	before := threadBusy()
	fly(network.Line(emulate.Gateway, emulate.Receiver), spacing, largest, capacityPackets)
	fly(network.Line(emulate.Receiver, emulate.Gateway), 2*spacing, smallest, capacityPackets/2)
	each := (threadBusy()-before)/capacityPackets + deviceCost*3/2
	return budgetRatio * largest * 8 / each.Seconds()
}

func fly(line *emulate.Line, spacing time.Duration, sizeBytes, n int) {
	packets := make([]emulate.Packet, n)
	out := make([]*emulate.Packet, 0, n)
	for i := range packets {
		packets[i].SizeBytes = sizeBytes
		out, _ = line.Step(time.Duration(i)*spacing, &packets[i], out[:0])
	}
	_, _ = line.Step(time.Duration(n)*spacing+time.Minute, nil, out[:0])
}

// Check refuses a profile of several hops that this machine cannot carry. Links of one hop are as they always were:
// a rate that is only a bound, as of a benchmark, is no promise there.
func Check(profile emulate.Profile) error {
	if profile.MostHops() < 2 {
		return nil
	}
	if most := Capacity(profile); most < profile.PeakBps() {
		return &ErrTooMuch{profile.Name, profile.MostHops(), profile.PeakBps(), most}
	}
	return nil
}
