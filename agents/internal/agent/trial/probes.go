package trial

import (
	"time"

	"downlink/agents/internal/flow/chunk"
	"downlink/agents/internal/flow/socket"
	"downlink/agents/internal/flow/tcpinfo"
	"downlink/agents/internal/flow/transfer"
	"downlink/agents/internal/server/protocol"
)

// probeWireBytes is a probe with its UDP and IPv4 headers.
const probeWireBytes = transfer.ProbeBytes + 28

func probeInterval(flow protocol.Flow) time.Duration {
	return time.Duration(flow.Transport.EveryMs) * time.Millisecond
}

// rateBps is the most that the flow can send; nil where nothing limits it.
func rateBps(flow protocol.Flow) *int64 {
	if flow.Transport.Kind != protocol.TransportProbe {
		return flow.Transport.PacingRateBps
	}
	return new(8 * probeWireBytes * int64(time.Second) / int64(probeInterval(flow)))
}

func (f *flowRun) overProbes(ports *ports, peer string) transfer.Carrier {
	f.actualCC, f.sampling = f.flow.Transport.Name(), protocol.SamplingPolled
	plan := transfer.ProbePlan{
		Interval:  probeInterval(f.flow),
		Datagrams: transfer.Datagrams{Open: socket.StampArrivals, Read: socket.ReadStamped},
	}
	if f.flow.Role == protocol.RoleSender {
		return transfer.NewProbeSender(f.sendPlan(ports.tcp), plan, f.recordProbes)
	}
	return transfer.NewProbeReceiver(f.receivePlan(peer), plan, f.recordArrivals)
}

// recordProbes makes the sender's trace: a row for each probe, when it was sent.
func (f *flowRun) recordProbes(probes <-chan transfer.Probe) {
	rows := f.newProbeRows(tcpinfo.FieldProbeNumber, tcpinfo.FieldProbeRTT)
	for probe := range probes {
		rtt := int64(-1)
		if !probe.IsLost() {
			rtt = probe.RTT.Microseconds()
		}
		rows.add(probe.Sent, probe.Number, rtt)
	}
	rows.close()
}

// recordArrivals makes the receiver's trace: a row for each probe that came, when it came.
func (f *flowRun) recordArrivals(arrivals <-chan transfer.Arrival) {
	rows := f.newProbeRows(tcpinfo.FieldProbeNumber)
	for arrival := range arrivals {
		rows.add(arrival.At, arrival.Number)
	}
	rows.close()
}

// probeRows makes the trace of a probe flow at one end.
type probeRows struct {
	flow     *flowRun
	recorder *tcpinfo.Recorder
	lastUs   int64
}

func (f *flowRun) newProbeRows(names ...string) *probeRows {
	names = append([]string{tcpinfo.FieldElapsed}, names...)
	return &probeRows{flow: f, recorder: tcpinfo.NewRecorder(names, chunk.MaxSamples, f.keepOrBreakOff)}
}

// add sets rows within a microsecond one apart: the time of a trace strictly increases.
func (r *probeRows) add(at time.Time, values ...int64) {
	r.lastUs = max(at.Sub(r.flow.trial.zero).Microseconds(), r.lastUs+1)
	r.recorder.Row[0] = r.lastUs
	copy(r.recorder.Row[1:], values)
	r.recorder.Add()
}

// close leaves the error to keepOrBreakOff, which has said it.
func (r *probeRows) close() { r.flow.stats, _ = r.recorder.Close() }

// checkProbes tells a sender's trace that has too few probes; at a receiver those that did not come are a finding.
func checkProbes(flow protocol.Flow, stats tcpinfo.Stats, result transfer.Result) error {
	if stats.Samples == 0 {
		return fail(protocol.ReasonNoSamples, "%s: no probe came through", describe(flow))
	}
	if flow.Role == protocol.RoleReceiver {
		return nil
	}
	return checkTrace(flow.Flow, stats, probeInterval(flow), result)
}
