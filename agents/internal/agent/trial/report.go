package trial

import (
	"net"
	"strconv"
	"time"

	"downlink/agents/internal/host"
	"downlink/agents/internal/host/settings"
	"downlink/agents/internal/server/protocol"
)

func (t *Trial) head(kind protocol.EventKind) protocol.EventHead {
	return protocol.EventHead{Kind: kind, Attempt: t.order.Attempt, At: protocol.Moment{Time: time.Now()}}
}

func (t *Trial) reportReady(before map[string]string, ports *ports) error {
	ready := protocol.Ready{
		EventHead: t.head(protocol.KindReady), SettingsBefore: before, SettingsDuring: t.snapshot(), Fingerprint: t.fingerprint(),
	}
	if number := ports.number(); number > 0 && t.isAsked() {
		address := net.JoinHostPort(t.env.Config.DataHost, strconv.Itoa(number))
		ready.DataAddress = &address
	}
	return t.env.Report(t.Ref(), ready)
}

func (t *Trial) fingerprint() protocol.Fingerprint {
	path := host.ReadPath(t.boundAddress(), t.peerHost())
	fingerprint := protocol.Fingerprint{
		Kernel: host.Read().Kernel, BootID: t.env.BootID, Version: t.env.Version,
		Interface: path.Interface, Qdisc: path.Qdisc, Offloads: path.Offloads, Route: path.Route, MTUBytes: path.MTUBytes,
	}
	if estimate, known := t.env.Clock.Estimate(time.Now()); known {
		fingerprint.ClockOffsetMs = milliseconds(estimate.Offset)
		fingerprint.ClockErrorMs = milliseconds(estimate.Error)
	}
	return fingerprint
}

// boundAddress is what this host's data ports listen at. A receiver dials: its routes choose.
func (t *Trial) boundAddress() string {
	if t.isAsked() || !net.ParseIP(t.peerHost()).IsGlobalUnicast() {
		return t.env.Config.DataHost
	}
	return ""
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (t *Trial) reportFinished() error {
	return t.env.Report(t.Ref(), protocol.Finished{EventHead: t.head(protocol.KindFinished), Flows: t.recorded.Flows, Link: t.recorded.Link})
}

func (t *Trial) reportFailed(failure *Failure) error {
	return t.env.Report(t.Ref(), protocol.Failed{EventHead: t.head(protocol.KindFailed), Reason: failure.Reason,
		Detail: protocol.Sentence(failure.Detail), Recorded: t.begun()})
}

func (t *Trial) reportRestored(outcome settings.Outcome, recorded protocol.Recorded) error {
	event := RestoredEvent(t.Ref(), outcome, t.snapshot())
	event.Recorded = recorded
	return t.env.Report(t.Ref(), event)
}

// begun is what there is of a run that was broken off: of the flows that had a connection, and of the link if there is one. What
// they moved counts, and what was sampled is kept.
func (t *Trial) begun() protocol.Recorded {
	var begun []protocol.Outcome
	for _, outcome := range t.recorded.Flows {
		if outcome.StartedUs != nil || outcome.AppBytes > 0 || outcome.Chunks > 0 {
			begun = append(begun, outcome)
		}
	}
	if len(begun) == 0 {
		return protocol.Recorded{}
	}
	return protocol.Recorded{Flows: begun, Link: t.recorded.Link}
}

// RestoredEvent says how a host stands after an attempt.
func RestoredEvent(ref protocol.RunRef, outcome settings.Outcome, after map[string]string) protocol.Restored {
	differences := outcome.Differences
	if differences == nil {
		differences = []string{}
	}
	return protocol.Restored{
		EventHead:     protocol.EventHead{Kind: protocol.KindRestored, Attempt: ref.Attempt, At: protocol.Moment{Time: time.Now()}},
		SettingsAfter: after, IsRestored: outcome.IsRestored, Differences: differences,
	}
}
