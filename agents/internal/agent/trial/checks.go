package trial

import (
	"time"

	"downlink/agents/internal/flow/tcpinfo"
	"downlink/agents/internal/flow/transfer"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/server/uplink"
)

const (
	// sampleBytes is several times what a packed sample of 30 fields takes.
	sampleBytes = 64
	// diskReserveBytes stays free whatever a run writes.
	diskReserveBytes = 64 << 20
)

// checkDisk estimates what the traces need, so that a run is refused rather than cut short.
func checkDisk(order *protocol.Prepare, lasts time.Duration, free int64) error {
	samples := 0.0
	for _, flow := range order.Flows {
		samples += lasts.Seconds() * rateHz(order, flow.Role)
	}
	needed := int64(samples*sampleBytes) + diskReserveBytes
	if free < needed {
		up, down := (needed+1e6-1)/1e6, free/1e6 // apart: two equal numbers would say nothing
		return fail(protocol.ReasonDiskFull, "the run may need %d MB of disk and %d MB are free; free some, or upload what waits", up, down)
	}
	return nil
}

// ackRateHz is that of a flow of 250 Mb/s whose receiver acknowledges every second segment.
const ackRateHz = 10_000

func rateHz(order *protocol.Prepare, role protocol.Role) float64 {
	if role == protocol.RoleSender && order.Sampling.Mode == protocol.SamplingPerAck {
		return ackRateHz
	}
	rate := 1 / interval(order, role).Seconds()
	if role == protocol.RoleRelay && order.Sampling.Sites {
		rate += siteRowsHz
	}
	return rate
}

func interval(order *protocol.Prepare, role protocol.Role) time.Duration {
	if role == protocol.RoleSender {
		return time.Duration(order.Sampling.SenderMs) * time.Millisecond
	}
	return time.Duration(order.Sampling.ReceiverMs) * time.Millisecond
}

func checkClock(clock ServerClock, now time.Time) error {
	estimate, known := clock.Estimate(now)
	if !known || estimate.Error > uplink.Tolerance {
		return fail(protocol.ReasonClockUnsure, "the server's clock is known only within %s here; the control channel is too slow",
			estimate.Error.Round(time.Millisecond))
	}
	return nil
}

const (
	// thinRatio is the part of the asked samples below which a trace is thin: at a fifth of 200 Hz a sample still
	// comes every 25 ms, several in every round trip of a LEO link.
	thinRatio = 0.2
	// gapLimit is the pause after which a series has missing bins (docs/method.md).
	gapLimit = 2 * time.Second
)

// checkAcks leaves pauses alone: without an acknowledgement there is nothing to record.
func checkAcks(flow int, stats tcpinfo.Stats) error {
	if stats.Samples == 0 {
		return fail(protocol.ReasonNoSamples, "flow %d has no samples: no acknowledgement came", flow)
	}
	return nil
}

// checkTrace tells a trace that can be analysed from one that cannot.
func checkTrace(flow int, stats tcpinfo.Stats, asked time.Duration, result transfer.Result) error {
	lasted := result.LastByte.Sub(result.FirstByte)
	expected := float64(lasted) / float64(asked)
	switch {
	case stats.Samples == 0:
		return fail(protocol.ReasonNoSamples, "flow %d has no samples: the kernel gave no TCP_INFO", flow)
	case float64(stats.Samples) < thinRatio*expected:
		return fail(protocol.ReasonThinTrace, "flow %d has %d samples where %.0f were asked for; this host was too busy",
			flow, stats.Samples, expected)
	case stats.LongestGapUs > gapLimit.Microseconds():
		return fail(protocol.ReasonThinTrace, "flow %d has no sample for %.1f s; this host was too busy", flow, float64(stats.LongestGapUs)/1e6)
	}
	return nil
}
