package trial

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/flow/acks"
	"downlink/agents/internal/flow/socket"
	"downlink/agents/internal/flow/tcpinfo"
	"downlink/agents/internal/flow/transfer"
	"downlink/agents/internal/intcp/intcpsocket"
	"downlink/agents/internal/server/protocol"
)

// connectSlack is how much longer than the receiver's own patience a sender waits for it, because their clocks differ.
const connectSlack = 10 * time.Second

// stuckLimit is how long after the run's hard end its flows may still be busy with themselves.
const stuckLimit = 10 * time.Second

// runFlows carries all flows out side by side. The first that fails ends the others. There is an outcome of each in any case.
//
// Liveness: every call on a connection ends at the run's hard end. The context's own deadline is for what is not a call.
func (t *Trial) runFlows(ctx context.Context, ports *ports, peers map[int]string) ([]protocol.Outcome, error) {
	stuck := fail(protocol.ReasonDeadline, "the run's flows did not end within %s of their deadline", stuckLimit)
	ctx, expire := context.WithDeadlineCause(ctx, t.limits().Deadline.Add(stuckLimit), stuck)
	defer expire()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	group, ctx := errgroup.WithContext(ctx)
	outcomes := make([]protocol.Outcome, len(t.order.Flows))
	for i, flow := range t.order.Flows {
		run := &flowRun{trial: t, flow: flow, appBytes: t.counter(flow), breakOff: cancel}
		group.Go(func() (err error) {
			outcomes[i], err = run.carryOut(ctx, ports, peers[flow.Flow])
			return err
		})
	}
	err := group.Wait()
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	return outcomes, err
}

func (t *Trial) counter(flow protocol.Flow) *atomic.Int64 {
	if counter := t.sent[flow.Flow]; flow.Role == protocol.RoleSender {
		return counter
	}
	return new(atomic.Int64)
}

func (t *Trial) limits() transfer.Limits {
	lasts, overtime := duration(t.order, t.env.Config.Policy)
	return transfer.Limits{Deadline: t.zero.Add(lasts), Overtime: overtime, BaseRTT: seconds(t.order.BaseRTTMs / 1000)}
}

// stop is the rule for one flow. With seconds a flow that begins later lasts less, so that all end together.
func (t *Trial) stop(flow protocol.Flow) transfer.Stop {
	if t.order.Stop.Bytes != nil {
		return transfer.Stop{Bytes: *t.order.Stop.Bytes}
	}
	return transfer.Stop{After: seconds(*t.order.Stop.Seconds - flow.StartS)}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// flowRun is one flow at this end.
type flowRun struct {
	trial    *Trial
	flow     protocol.Flow
	appBytes *atomic.Int64
	// breakOff ends the whole run.
	breakOff context.CancelCauseFunc

	actualCC string
	// handshakeRTT is nil where the connection's handshake tells none.
	handshakeRTT *int64
	stats        tcpinfo.Stats
	// acks is nil for a flow that is polled.
	acks     *acks.Reader
	sampling protocol.SamplingMode
	// ccVersion is BBR's.
	ccVersion *int
	before    hystartCount
	// relay is nil for flows that do not pass this host over TCP; consumer for those that do not end here over INTCP.
	relay    *transfer.Relay
	consumer *intcpsocket.Receiver
	deliveries
	// sites is the table of an emulated link's sites; nil: none was kept.
	sites *protocol.SiteTable
	// note is a sentence about the trace for people, empty without one.
	note string
	// way is how packets left when the flow had begun; nil: not known.
	way *protocol.Way
}

func (f *flowRun) carryOut(ctx context.Context, ports *ports, peer string) (protocol.Outcome, error) {
	defer f.unwatch()
	defer f.endHalf()
	if host, _, err := net.SplitHostPort(peer); err == nil {
		f.way = wayTo("", host) // over TCP its connection tells more
	}
	if f.flow.Transport.Kind == protocol.TransportTCP || f.flow.Transport.Kind == protocol.TransportSplit {
		f.before = countHystart()
	}
	result, err := transfer.Carry(ctx, f.carrier(ports, peer))
	cause := context.Cause(ctx) // asked once: another flow may break the run off meanwhile
	switch {
	case errors.Is(cause, errBudgetOver):
		return f.overBudget(result), nil
	case cause != nil:
		return f.outcome(brokenOff(result, cause)), cause
	case errors.Is(err, intcpsocket.ErrUnreachable), errors.Is(err, transfer.ErrUpstream):
		return f.outcome(result), fail(protocol.ReasonRelayUnreachable, "%s: %v", describe(f.flow), err)
	case errors.Is(err, transfer.ErrNoConnection):
		return f.outcome(result), fail(protocol.ReasonConnectFailed, "%s: %v", describe(f.flow), err)
	case err != nil:
		return f.outcome(result), err
	case result.Ended == transfer.EndedAborted:
		// The context had not ended, so it was the budget. With either ending nobody tries the run again.
		if f.trial.isRest {
			f.breakOff(errBudgetOver)
			return f.overBudget(result), nil
		}
		return f.outcome(result), refuse("%s: %s", describe(f.flow), result.Detail)
	}
	switch {
	case f.flow.Transport.Kind == protocol.TransportProbe:
		return f.outcome(result), checkProbes(f.flow, f.stats, result)
	case f.sampling == protocol.SamplingPerAck:
		return f.outcome(result), checkAcks(f.flow.Flow, f.stats)
	}
	return f.outcome(result), checkTrace(f.flow.Flow, f.stats, interval(f.trial.order, f.flow.Role), result)
}

// brokenOff names the end of a flow whose run was broken off. All places of a run are told so at about the same time, and a
// flow may hear that its neighbour has ended before it hears of its own end.
func brokenOff(result transfer.Result, cause error) transfer.Result {
	if result.Ended == transfer.EndedPeerClosed {
		result.Ended, result.Detail = transfer.EndedAborted, cause.Error()
	}
	return result
}

// transports are the ways to carry a flow, by their kind.
var transports = map[protocol.TransportKind]func(f *flowRun, ports *ports, peer string) transfer.Carrier{
	protocol.TransportTCP:   (*flowRun).overTCP,
	protocol.TransportProbe: (*flowRun).overProbes,
	protocol.TransportSplit: (*flowRun).overTCP,
	protocol.TransportINTCP: (*flowRun).overINTCP,
}

// Transports are the kinds of flow that an agent carries, in order. The relays of an emulated link are INTCP's alone.
func Transports(c config.Config) []protocol.TransportKind {
	if c.RelayControl != "" {
		return []protocol.TransportKind{protocol.TransportINTCP}
	}
	return slices.Sorted(maps.Keys(transports))
}

// carrier is this end of the flow over its transport, which was checked with the order.
func (f *flowRun) carrier(ports *ports, peer string) transfer.Carrier {
	return transports[f.flow.Transport.Kind](f, ports, peer)
}

func (f *flowRun) overTCP(ports *ports, peer string) transfer.Carrier {
	hooks := transfer.Hooks{Open: f.open, Sample: f.sample, Silence: silence}
	switch f.flow.Role {
	case protocol.RoleSender:
		return transfer.NewSender(f.sendPlan(ports.tcp), hooks)
	case protocol.RoleRelay:
		f.relay = transfer.NewRelay(f.sendPlan(ports.tcp), f.receivePlan(peer), hooks)
		return f.relay
	case protocol.RoleReceiver:
	}
	return transfer.NewReceiver(f.receivePlan(peer), hooks)
}

func (f *flowRun) sendPlan(port *transfer.Port) transfer.SendPlan {
	limits := f.trial.limits()
	return transfer.SendPlan{
		Port: port, Flow: f.flow.Flow, Patience: limits.DialLimit() + connectSlack, Stop: f.trial.stop(f.flow),
		Limits: limits, Begin: f.begin(), AppBytes: f.appBytes, Budget: f.trial.budget,
		UnsentBytes: transfer.UnsentBytes(f.flow.Transport.PacingRateBps),
		Offer:       offerOf(f.flow), Write: f.write,
	}
}

func (f *flowRun) receivePlan(peer string) transfer.ReceivePlan {
	return transfer.ReceivePlan{
		Address: peer, Ticket: f.flow.Ticket, Stop: f.trial.stop(f.flow), Limits: f.trial.limits(), DialAt: f.begin(),
		Silence: f.mostSilence(), AppBytes: f.appBytes, Budget: f.trial.budget, MayBeLoopback: isLoopback(f.trial.env.Config.DataHost),
		MayDial: f.trial.mayDial(f.flow), Read: f.read,
	}
}

// mostSilence is how long a receiver behind relays hopes. They end a flow on which nothing moves for the stall limit, and nobody
// tells the receiver of it if the last hop is what is lost. After an outage TCP may be silent for as long again as that lasted.
func (f *flowRun) mostSilence() time.Duration {
	if f.flow.Transport.Kind != protocol.TransportSplit {
		return 0
	}
	return 2 * f.trial.limits().StallLimit()
}

func (f *flowRun) begin() time.Time { return f.trial.zero.Add(seconds(f.flow.StartS)) }

// silence is none when it cannot be read: the connection's own error tells more then.
func silence(conn *net.TCPConn) time.Duration {
	silence, err := tcpinfo.SinceLastAck(conn)
	if err != nil {
		return 0
	}
	return silence
}

// open prepares a connection before its first byte: the sender owns congestion control.
func (f *flowRun) open(conn *net.TCPConn) (err error) {
	f.sampling = protocol.SamplingPolled
	f.handshakeRTT = handshakeRTT(conn)
	f.way = wayBetween(conn.LocalAddr().String(), conn.RemoteAddr().String())
	if f.flow.Role == protocol.RoleReceiver {
		f.stampArrivals(conn)
		f.actualCC, err = f.trial.env.Controls.Actual(conn)
		return err
	}
	cc, options := sendingControl(f.flow)
	f.actualCC, err = f.trial.env.Controls.Set(conn, cc, options)
	if err != nil {
		f.breakOff(fail(protocol.ReasonCCUnavailable, "%s: %v", describe(f.flow), err))
		return err
	}
	if f.ccVersion, err = socket.BBRVersion(conn, f.actualCC); err != nil {
		return err
	}
	if f.flow.Transport.PacingRateBps != nil && f.flow.Role == protocol.RoleSender {
		if err := socket.LimitPacing(conn, *f.flow.Transport.PacingRateBps); err != nil {
			return err
		}
	}
	if err := socket.LimitUnsent(conn, transfer.UnsentBytes(f.flow.Transport.PacingRateBps)); err != nil {
		return err
	}
	if f.flow.Role == protocol.RoleRelay {
		return nil
	}
	f.watch(conn)
	f.trial.show(f.flow.Flow, conn)
	return f.stampDepartures(conn)
}

// handshakeRTT is what the kernel knows before the first byte: it takes none of packets that it had to repeat.
func handshakeRTT(conn *net.TCPConn) *int64 {
	seen, err := tcpinfo.Look(conn)
	if err != nil || seen.RTTUs == 0 {
		return nil
	}
	return &seen.RTTUs
}

// outcome is what came of the flow, however it ended: also of one that was broken off before it had a connection.
func (f *flowRun) outcome(result transfer.Result) protocol.Outcome {
	if result.Ended == "" {
		result.Ended = transfer.EndedAborted
	}
	outcome := protocol.Outcome{
		Flow: f.flow.Flow, Point: f.flow.Point(), AskedCC: f.askedCC(), ActualCC: f.actualCC, CCVersion: f.ccVersion,
		HystartExits: countHystart().since(f.before),
		StartedUs:    f.sinceZero(result.Connected), FirstByteUs: f.sinceZero(result.FirstByte), LastByteUs: f.sinceZero(result.LastByte),
		AppBytes: f.appBytes.Load(), LocalAddress: result.Local, PeerAddress: result.Peer, HandshakeRTTUs: f.handshakeRTT,
		TCPInfoBytes: f.stats.TCPInfoBytes, Samples: f.stats.Samples, Chunks: f.stats.Blocks,
		Sampling: cmp.Or(f.sampling, protocol.SamplingPolled), DroppedSamples: f.stats.Dropped,
		AchievedRateHz: f.stats.AchievedRateHz, LatenessMeanUs: f.stats.LatenessMeanUs, LatenessMaxUs: f.stats.LatenessMaxUs,
		Way: f.way, WayAtEnd: wayBetween(result.Local, result.Peer), Ended: protocol.Ended(result.Ended), WrongAt: f.wrongAt(),
		Delivery: f.endHalf(), Sites: f.sites,
	}
	if detail := strings.Join(slices.DeleteFunc([]string{result.Detail, f.note}, isEmpty), "; "); detail != "" {
		outcome.Detail = new(protocol.Sentence(detail))
	}
	return outcome
}

// wrongAt is where the content was wrong; nil where it was not.
func (f *flowRun) wrongAt() *protocol.WrongAt {
	if f.consumer == nil || f.consumer.Wrong() == nil {
		return nil
	}
	wrong := f.consumer.Wrong()
	return &protocol.WrongAt{Offset: wrong.Offset, Hop: int(wrong.Hop)}
}

func isEmpty(text string) bool { return text == "" }

// sinceZero returns nil for a moment that never came. A peer whose clock is a little ahead may connect before this
// end's zero; that counts as at the zero.
func (f *flowRun) sinceZero(moment time.Time) *int64 {
	if moment.IsZero() {
		return nil
	}
	elapsed := max(0, moment.Sub(f.trial.zero).Microseconds())
	return &elapsed
}
