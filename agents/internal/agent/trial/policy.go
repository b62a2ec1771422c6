package trial

import (
	"slices"
	"time"

	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/flow/transfer"
	"downlink/agents/internal/server/protocol"
)

const (
	// longestS bounds every number of seconds in an order: a week, far above any run and far below an overflow.
	longestS = 7 * 24 * 3600
	// slowestRTTMs bounds the patience that grows with the round-trip time.
	slowestRTTMs = 10_000
	// mostFlows is as many as an event's list of outcomes holds.
	mostFlows = 64
	// widestIntervalMs is the pause that makes a trace thin.
	widestIntervalMs = 2_000
)

// checkOrder holds the order against what any agent accepts, and then against what this host's owner allows.
func checkOrder(order *protocol.Prepare, c config.Config) error {
	for _, check := range []func(*protocol.Prepare, config.Config) error{
		checkNumbers, checkFlows, checkTransports, checkOffers, checkRelays, checkRoles, checkSettings, checkSeconds, checkBytes, checkRates,
	} {
		if err := check(order, c); err != nil {
			return err
		}
	}
	return nil
}

func refuse(format string, values ...any) *Failure {
	return fail(protocol.ReasonPolicyRefused, format, values...)
}

func checkNumbers(order *protocol.Prepare, _ config.Config) error {
	stop, sampling := order.Stop, order.Sampling
	switch {
	case (stop.Seconds == nil) == (stop.Bytes == nil), stop.Seconds != nil && !isDuration(*stop.Seconds),
		stop.Bytes != nil && *stop.Bytes <= 0:
		return refuse("the stop rule must be a positive number of bytes, or of seconds up to %d", longestS)
	case !isDuration(order.DeadlineS):
		return refuse("the deadline of %g s is not above 0 and at most %d s", order.DeadlineS, longestS)
	case !(order.BaseRTTMs >= 0 && order.BaseRTTMs <= slowestRTTMs):
		return refuse("the base round-trip time of %g ms is not from 0 to %d ms", order.BaseRTTMs, slowestRTTMs)
	case !isInterval(sampling.SenderMs), !isInterval(sampling.ReceiverMs):
		return refuse("the sampling intervals of %d and %d ms are not from 1 to %d ms", sampling.SenderMs, sampling.ReceiverMs, widestIntervalMs)
	}
	return nil
}

func isDuration(s float64) bool { return s > 0 && s <= longestS }

func isInterval(ms int) bool { return ms >= 1 && ms <= widestIntervalMs }

func checkFlows(order *protocol.Prepare, _ config.Config) error {
	if len(order.Flows) < 1 || len(order.Flows) > mostFlows {
		return refuse("the run has %d flows; from 1 to %d are allowed", len(order.Flows), mostFlows)
	}
	type end struct {
		flow int
		role protocol.Role
	}
	seen := map[end]bool{}
	for _, flow := range order.Flows {
		place := end{flow.Flow, flow.Role}
		switch {
		case seen[place]:
			return refuse("flow %d comes twice", flow.Flow)
		case !(flow.StartS >= 0 && flow.StartS < lastStart(order)):
			return refuse("flow %d begins at %g s and the run has %g s", flow.Flow, flow.StartS, lastStart(order))
		case !transfer.IsTicket(flow.Ticket):
			return refuse("flow %d has no valid ticket", flow.Flow)
		}
		seen[place] = true
	}
	return nil
}

func checkTransports(order *protocol.Prepare, _ config.Config) error {
	for _, flow := range order.Flows {
		switch kind := flow.Transport.Kind; {
		case transports[kind] == nil:
			return fail(protocol.ReasonCCUnavailable,
				"flow %d asks for the transport %q, which this agent does not have; it has intcp, probe, split and tcp", flow.Flow, kind)
		case len(flow.Receivers) != 1 && kind != protocol.TransportINTCP:
			return refuse("flow %d has %d receivers, and %s carries a flow to one", flow.Flow, len(flow.Receivers), kind)
		}
	}
	return checkProbeFlows(order)
}

// checkOffers holds messages at a fixed rate against what senders can offer.
func checkOffers(order *protocol.Prepare, _ config.Config) error {
	for _, flow := range order.Flows {
		if flow.Offer == nil {
			continue
		}
		for name, value := range map[string]int{"message_bytes": flow.Offer.MessageBytes, "every_ms": flow.Offer.EveryMs} {
			if bounds := Offers()[name]; value < int(bounds.Min) || value > int(bounds.Max) {
				return refuse("flow %d offers %s %d, and %d to %d are possible", flow.Flow, name, value, bounds.Min, bounds.Max)
			}
		}
		if flow.Transport.Kind == protocol.TransportProbe {
			return refuse("flow %d offers messages over probes, which have none", flow.Flow)
		}
	}
	return nil
}

// Offers are the messages that a sender can offer, over any transport but probes.
func Offers() map[string]protocol.ControlOption {
	return map[string]protocol.ControlOption{
		"message_bytes": {Choices: []string{}, Min: 1, Max: 65_536}, "every_ms": {Choices: []string{}, Min: 1, Max: 1_000},
	}
}

// checkProbeFlows lets a sender have one: all would share the UDP port of its data port.
func checkProbeFlows(order *protocol.Prepare) error {
	sent := 0
	for _, flow := range order.Flows {
		if flow.Transport.Kind != protocol.TransportProbe {
			continue
		}
		if flow.Role == protocol.RoleSender {
			sent++
		}
		switch every := probeInterval(flow); {
		case every < transfer.LeastProbeInterval, every > transfer.MostProbeInterval:
			return refuse("flow %d asks for a probe every %s, and from %s to %s are allowed",
				flow.Flow, every, transfer.LeastProbeInterval, transfer.MostProbeInterval)
		case order.Stop.Seconds == nil:
			return refuse("flow %d sends probes, and the run stops by bytes; probes need a stop rule in seconds", flow.Flow)
		case sent > 1:
			return refuse("flow %d is a second probe flow of this sender; one is allowed", flow.Flow)
		}
	}
	return nil
}

// lastStart is the offset that every flow's must be below.
func lastStart(order *protocol.Prepare) float64 {
	if order.Stop.Seconds != nil {
		return min(*order.Stop.Seconds, order.DeadlineS)
	}
	return order.DeadlineS
}

func checkRoles(order *protocol.Prepare, c config.Config) error {
	for _, role := range order.Roles {
		if !slices.Contains(c.Roles, string(role)) {
			return refuse("this agent may not be a %s; add the role to its configuration to allow it", role)
		}
	}
	for _, flow := range order.Flows {
		if !slices.Contains(order.Roles, flow.Role) {
			return refuse("flow %d makes this agent a %s, and the run does not", flow.Flow, flow.Role)
		}
	}
	return nil
}

func checkSettings(order *protocol.Prepare, c config.Config) error {
	for name := range order.Settings {
		if !order.LeavesUnset && !c.Policy.AllowsSetting(name) {
			return refuse("this host's policy does not let %s be changed", name)
		}
	}
	return nil
}

// checkSeconds takes the deadline of a run by bytes for its seconds: it is refused rather than cut short.
func checkSeconds(order *protocol.Prepare, c config.Config) error {
	asked := order.DeadlineS
	if order.Stop.Seconds != nil {
		asked = *order.Stop.Seconds
	}
	if most := c.Policy.MaxSeconds; most > 0 && asked > most {
		return refuse("the run may last %.0f s and this host's policy (max_seconds) allows %.0f s", asked, most)
	}
	return nil
}

func checkBytes(order *protocol.Prepare, c config.Config) error {
	most := c.Policy.MaxBytes
	if order.Stop.Bytes == nil || most == 0 {
		return nil
	}
	// Divided rather than multiplied: the product may overflow.
	if flows := int64(len(order.Flows)); *order.Stop.Bytes > most/flows {
		return refuse("the run asks for %d flows of %d bytes and this host's policy (max_bytes) allows %d", flows, *order.Stop.Bytes, most)
	}
	return nil
}

// checkRates refuses a rate that is not held down rather than holding it down itself: the run would not be the one
// that was asked for. An INTCP node is asked for its rate hop by hop in any case, and has what paced flows leave.
func checkRates(order *protocol.Prepare, c config.Config) error {
	most := c.Policy.MaxRateBps
	left := most
	for _, flow := range order.Flows {
		rate := rateBps(flow)
		if rate != nil && *rate <= 0 {
			return refuse("flow %d asks for a pacing rate of %d b/s", flow.Flow, *rate)
		}
		if most == 0 || !isPacedHere(flow) {
			continue
		}
		if rate == nil || *rate > left {
			return refuse("this host's policy (max_rate_bps) allows %d b/s for all flows together; give each flow a pacing rate within that", most)
		}
		left -= *rate
	}
	if each, askers := intcpShareBps(order, most); most > 0 && askers > 0 && each == 0 {
		return refuse("this host's policy (max_rate_bps) allows %d b/s for all flows together, and the paced flows leave %d b/s for INTCP; "+
			"give them lower pacing rates", most, left)
	}
	return nil
}

// isPacedHere: this host sends the flow, and not over INTCP.
func isPacedHere(flow protocol.Flow) bool {
	return flow.Role != protocol.RoleReceiver && flow.Transport.Kind != protocol.TransportINTCP
}

// intcpShareBps is what each neighbour may be sent of an INTCP flow where all that this host sends has so much together, and how
// many there are, each flow's own: a node holds each of them to a rate.
func intcpShareBps(order *protocol.Prepare, most int64) (each int64, askers int) {
	for _, flow := range order.Flows {
		switch rate := rateBps(flow); {
		case isPacedHere(flow) && rate != nil:
			most -= *rate
		case flow.Transport.Kind == protocol.TransportINTCP:
			askers += len(flow.Downstream)
		}
	}
	return max(0, most) / int64(max(1, askers)), askers
}

// mostOverrun bounds what a long round-trip time may add to a run.
const mostOverrun = 30 * time.Second

// overrun is how much longer than its seconds a run may take: its connections are made after its zero, and what is
// under way at its end is drained.
func overrun(order *protocol.Prepare) time.Duration {
	return min(5*time.Second+20*seconds(order.BaseRTTMs/1000), mostOverrun)
}

// duration is from a run's zero to its hard end, in both roles, and what it means when data still moves then.
func duration(order *protocol.Prepare, policy config.Policy) (d time.Duration, overtime string) {
	asked := seconds(order.DeadlineS)
	if policy.MaxSeconds > 0 {
		if allowed := seconds(min(policy.MaxSeconds, longestS)) + overrun(order); allowed < asked {
			return allowed, "data was still moving when this host's policy (max_seconds) ended the run"
		}
	}
	return asked, "data was still moving at the deadline"
}
