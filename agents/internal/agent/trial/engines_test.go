package trial_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent/trial"
	"downlink/agents/internal/flow/chunk"
	"downlink/agents/internal/host/settings"
	"downlink/agents/internal/intcp"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/server/uplink"
	"downlink/agents/internal/testing/hosttest"
)

// engine is a transport as the shared tests drive it.
type engine struct {
	name      string
	transport protocol.Transport
	relays    int
}

var engines = []engine{
	{"tcp", protocol.Transport{Kind: protocol.TransportTCP, CC: "reno"}, 0},
	{"split", protocol.Transport{Kind: protocol.TransportSplit, CC: "reno", RelayCC: "cubic"}, 2},
	{"intcp", protocol.Transport{Kind: protocol.TransportINTCP, Options: map[string]any{
		"buffer_bytes": 150000.0, "window_bytes": 8388608.0, "cache": "on", "recovery": "hop", "rate": "hop", "handover": "ask",
		"hole_packets": 3.0,
	}}, 2},
}

// way is the agents of a run from the sender over the relays to the receiver.
type way struct {
	rigs   []*rig
	orders []*protocol.Prepare
	trials []*trial.Trial
	ended  []<-chan error
	cancel []context.CancelCauseFunc
}

func newWay(t *testing.T, e engine) *way {
	t.Helper()
	w := &way{}
	last := e.relays + 1
	peer := protocol.Peer{Agent: "peer", Host: "127.0.0.1"}
	neighbour := func(hop int) protocol.Neighbour {
		n := protocol.Neighbour{Peer: peer, Hop: hop}
		if e.transport.Kind == protocol.TransportINTCP {
			n.Key = fmt.Sprintf("%032x", 7*hop)
		}
		return n
	}
	for i := range last + 1 {
		role := protocol.RoleRelay
		switch i {
		case 0:
			role = protocol.RoleSender
		case last:
			role = protocol.RoleReceiver
		}
		r, order := newRig(t), makeOrder(role)
		r.env.Config.Roles = []string{string(role)}
		r.env.Config.Policy.RelayPrivate = true
		flow := &order.Flows[0]
		flow.Transport = e.transport
		if e.relays > 0 && i > 0 {
			flow.Upstream = new(neighbour(i))
		}
		if e.relays > 0 && i < last {
			flow.Downstream = []protocol.Neighbour{neighbour(i + 1)}
		}
		if role == protocol.RoleRelay {
			flow.Place = i
		} else if e.transport.Kind == protocol.TransportINTCP {
			flow.ContentSeed = "0123456789abcdef"
		}
		w.rigs, w.orders = append(w.rigs, r), append(w.orders, order)
	}
	return w
}

// patient gives a run time on a busy machine.
func (w *way) patient() {
	for _, order := range w.orders {
		order.DeadlineS = 240
	}
}

func (w *way) last() int { return len(w.rigs) - 1 }

func (w *way) stop(stop protocol.Stop) {
	for _, order := range w.orders {
		order.Stop = stop
	}
}

// start prepares all agents and gives them their go.
func (w *way) start(t *testing.T) {
	t.Helper()
	w.trials, w.ended, w.cancel = make([]*trial.Trial, len(w.rigs)), make([]<-chan error, len(w.rigs)), make([]context.CancelCauseFunc,
		len(w.rigs))
	addresses := make([]string, len(w.rigs))
	for i, r := range w.rigs {
		ctx, cancel := context.WithCancelCause(t.Context())
		w.cancel[i] = cancel
		w.trials[i], w.ended[i] = r.begin(ctx, w.orders[i])
	}
	for i, r := range w.rigs {
		if ready := <-r.ready; ready.DataAddress != nil {
			addresses[i] = *ready.DataAddress
		}
	}
	for i, tr := range slices.Backward(w.trials) { // those who ask first are the hardest to serve
		upstream := ""
		if i > 0 {
			upstream = addresses[i-1]
		}
		start := makeGo(upstream)
		for _, flow := range w.orders[i].Flows {
			start.Peers[flow.Flow] = upstream
		}
		tr.Go(start)
	}
}

func (w *way) await(t *testing.T) {
	t.Helper()
	for _, ended := range w.ended {
		require.NoError(t, <-ended)
	}
}

func forEachEngine(t *testing.T, test func(t *testing.T, e engine)) {
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			test(t, e)
		})
	}
}

func TestEveryEngineEndsAtItsSeconds(t *testing.T) {
	hosttest.Measures(t, hosttest.Faults, "needs enough samples of a run of a second")
	forEachEngine(t, func(t *testing.T, e engine) {
		w := newWay(t, e)
		w.stop(protocol.Stop{Seconds: new(1.0)})
		w.start(t)
		w.await(t)
		for i, r := range w.rigs {
			r.requireRestored(t)
			outcome := r.outcome(t)
			require.Equal(t, protocol.EndedStopRule, outcome.Ended, "%d %v", i, outcome.Detail)
			require.Equal(t, w.orders[i].Flows[0].Point(), outcome.Point)
			require.Positive(t, outcome.AppBytes)
			require.Positive(t, outcome.Samples)
			require.NotNil(t, outcome.FirstByteUs)
			require.Len(t, r.env.Spool.Keys(ref.RunID, ref.Attempt), outcome.Chunks)
		}
		sent := w.rigs[0].outcome(t)
		require.InDelta(t, 1e6, *sent.LastByteUs-*sent.FirstByteUs, 500e3)
	})
}

// TestEveryEngineEndsAtItsDeadline with data on their way that have no end. Who notices first closes the flow for the others.
func TestEveryEngineEndsAtItsDeadline(t *testing.T) {
	hosttest.Measures(t, hosttest.Faults, "needs enough samples of a run of a second")
	forEachEngine(t, func(t *testing.T, e engine) {
		w := newWay(t, e)
		w.stop(protocol.Stop{Bytes: new(int64(1 << 40))})
		for _, order := range w.orders {
			order.DeadlineS = 1.5
		}
		w.start(t)
		w.await(t)
		atDeadline := 0
		for i, r := range w.rigs {
			r.requireRestored(t)
			outcome := r.outcome(t)
			require.Contains(t, []protocol.Ended{protocol.EndedDeadline, protocol.EndedPeerClosed}, outcome.Ended, "%d %v", i, outcome.Detail)
			require.Positive(t, outcome.AppBytes)
			if outcome.Ended == protocol.EndedDeadline {
				require.Equal(t, "data was still moving at the deadline", *outcome.Detail)
				atDeadline++
			}
		}
		require.Positive(t, atDeadline)
	})
}

// TestEveryEngineDrainsWhatIsInFlightAtTheStop: over TCP all that was written is read. An INTCP receiver has its own stop moment,
// and closes the flow before the sender gives up waiting for that.
func TestEveryEngineDrainsWhatIsInFlightAtTheStop(t *testing.T) {
	hosttest.Measures(t, hosttest.Faults, "needs enough samples of a run of a second")
	forEachEngine(t, func(t *testing.T, e engine) {
		w := newWay(t, e)
		w.stop(protocol.Stop{Seconds: new(0.8)})
		w.start(t)
		w.await(t)
		for i, r := range w.rigs {
			outcome := r.outcome(t)
			require.Equal(t, protocol.EndedStopRule, outcome.Ended, "%d %v", i, outcome.Detail)
			require.Nil(t, outcome.Detail, "nothing was given up at %d", i)
		}
		sent, received := w.rigs[0].outcome(t).AppBytes, w.rigs[w.last()].outcome(t).AppBytes
		if e.name == "intcp" {
			require.LessOrEqual(t, received, sent)
			require.Greater(t, received, sent/2)
			return
		}
		require.Equal(t, sent, received)
	})
}

// TestEveryEnginesJournalPutsTheHostBack: a process that begins while data flow, as after a kill, needs no more than the journal.
func TestEveryEnginesJournalPutsTheHostBack(t *testing.T) {
	hosttest.Measures(t, hosttest.Faults, "needs enough samples of a run of a second")
	forEachEngine(t, func(t *testing.T, e engine) {
		w := newWay(t, e)
		w.stop(protocol.Stop{Seconds: new(9.0)})
		w.start(t)
		w.awaitData(t)
		for i, r := range w.rigs {
			next := settings.NewKeeper(r.host, r.place)
			require.True(t, next.Pending(), "%d", i)
			outcome, err := next.Restore()
			require.NoError(t, err)
			require.True(t, outcome.IsRestored)
			require.Empty(t, outcome.Differences, "the run's values were in force")
			r.requireRestored(t)
		}
		for i := range w.rigs {
			w.cancel[i](trial.ErrLost)
			require.NoError(t, <-w.ended[i])
		}
	})
}

func TestEveryEngineCarriesAnObjectWhole(t *testing.T) {
	hosttest.Measures(t, hosttest.Faults, "needs enough samples of a run of a second")
	const size = 1_000_000
	forEachEngine(t, func(t *testing.T, e engine) {
		w := newWay(t, e)
		w.stop(protocol.Stop{Bytes: new(int64(size))})
		w.start(t)
		w.await(t)
		for i, r := range w.rigs {
			outcome := r.outcome(t)
			require.Equal(t, protocol.EndedStopRule, outcome.Ended, "%d %v", i, outcome.Detail)
			require.EqualValues(t, size, outcome.AppBytes)
		}
		last := w.rigs[w.last()].outcome(t)
		want := map[string][2]string{"tcp": {"reno", ""}, "split": {"reno", "cubic"}, "intcp": {"intcp", "intcp"}}[e.name]
		require.Equal(t, want[0], w.rigs[0].outcome(t).ActualCC)
		if e.relays > 0 {
			require.Equal(t, want[1], w.rigs[1].outcome(t).ActualCC)
			require.Equal(t, want[1], w.rigs[1].outcome(t).AskedCC)
		}
		require.NotEmpty(t, last.PeerAddress)
	})
}

// TestEveryEngineOffersMessages: never more than has come about, and not much less.
func TestEveryEngineOffersMessages(t *testing.T) {
	hosttest.Measures(t, hosttest.Faults, "needs enough samples of a run of a second")
	forEachEngine(t, func(t *testing.T, e engine) {
		w := newWay(t, e)
		w.stop(protocol.Stop{Seconds: new(0.6)})
		for _, order := range w.orders {
			order.Flows[0].Offer = &protocol.Offer{MessageBytes: 16, EveryMs: 5}
		}
		w.start(t)
		w.await(t)
		for i, r := range w.rigs {
			outcome := r.outcome(t)
			require.Equal(t, protocol.EndedStopRule, outcome.Ended, "%d %v", i, outcome.Detail)
			require.Zero(t, outcome.AppBytes%16, "whole messages")
			require.Greater(t, outcome.AppBytes, int64(16*40))
			require.Less(t, outcome.AppBytes, int64(16*160))
		}
	})
}

func TestAnOfferThatNobodyCanMakeIsRefused(t *testing.T) {
	for why, offer := range map[string]protocol.Offer{"message_bytes": {MessageBytes: 0, EveryMs: 5},
		"every_ms": {MessageBytes: 5, EveryMs: 2000}} {
		w := newWay(t, engines[0])
		w.orders[0].Flows[0].Offer = &offer
		_, ended := w.rigs[0].begin(t.Context(), w.orders[0])
		require.NoError(t, <-ended)
		require.Contains(t, w.rigs[0].failure(t).Detail, why)
	}
}

func TestEveryEngineIsBrokenOffAtOnce(t *testing.T) {
	hosttest.Measures(t, hosttest.Faults, "needs enough samples of a run of a second")
	forEachEngine(t, func(t *testing.T, e engine) {
		w := newWay(t, e)
		w.stop(protocol.Stop{Seconds: new(200.0)})
		w.patient()
		w.start(t)
		w.awaitData(t)
		began := time.Now()
		for _, cancel := range w.cancel {
			cancel(&trial.Aborted{Reason: "cancelled"})
		}
		w.await(t)
		require.Less(t, time.Since(began), time.Minute)
		for _, r := range w.rigs {
			r.requireRestored(t)
			require.Equal(t, []protocol.EventKind{"ready", "restored"}, r.kinds())
		}
		for _, r := range w.rigs {
			flows := r.restored(t).Flows
			require.Len(t, flows, 1)
			require.Equal(t, protocol.EndedAborted, flows[0].Ended)
			require.Len(t, r.env.Spool.Keys(ref.RunID, ref.Attempt), flows[0].Chunks, "what it sampled is announced")
		}
		require.Greater(t, w.rigs[0].restored(t).Flows[0].AppBytes, int64(1_000_000))
	})
}

func (w *way) awaitData(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		progress := w.trials[0].Progress(time.Now())
		if progress == nil || *progress.Bytes <= 1_000_000 || len(progress.Flows) != 1 {
			return false
		}
		flow := progress.Flows[0] // people see it; one over INTCP has no window while its lease is renewed
		return min(flow.AckedBytes, flow.RTTUs, flow.CwndBytes) > 0
	}, time.Minute, 5*time.Millisecond)
}

// TestEveryEngineSaysWhenAPlaceIsLost: any agent of the way stops; each other one ends in a named state.
func TestEveryEngineSaysWhenAPlaceIsLost(t *testing.T) {
	hosttest.Measures(t, hosttest.Faults, "needs enough samples of a run of a second")
	forEachEngine(t, func(t *testing.T, e engine) {
		for lost := range e.relays + 2 {
			w := newWay(t, e)
			w.stop(protocol.Stop{Seconds: new(9.0)})
			w.start(t)
			w.awaitData(t)
			w.cancel[lost](trial.ErrStopping)
			w.await(t)
			for i, r := range w.rigs {
				r.requireRestored(t)
				if i == lost {
					require.Equal(t, protocol.ReasonAgentRestarted, r.failure(t).Reason)
					continue
				}
				if kinds := r.kinds(); kinds[len(kinds)-1] == protocol.KindFailed { // what was under way to it was dropped
					require.Contains(t, []protocol.Reason{protocol.ReasonConnectFailed, protocol.ReasonNoSamples}, r.failure(t).Reason, "lost %d, at %d",
						lost, i)
					continue
				}
				require.Contains(t, []protocol.Ended{protocol.EndedPeerClosed, protocol.EndedLinkLost}, r.outcome(t).Ended, "lost %d, at %d", lost, i)
			}
		}
	})
}

func TestEveryEngineKeepsTheOwnersBytes(t *testing.T) {
	hosttest.Measures(t, hosttest.Faults, "needs enough samples of a run of a second")
	const most = 2_000_000
	forEachEngine(t, func(t *testing.T, e engine) {
		for place := range e.relays + 2 {
			w := newWay(t, e)
			w.stop(protocol.Stop{Seconds: new(9.0)})
			w.rigs[place].env.Config.Policy.MaxBytes = most
			w.start(t)
			w.await(t)
			failed := w.rigs[place].failure(t)
			require.Equal(t, protocol.ReasonPolicyRefused, failed.Reason, failed.Detail)
			require.Contains(t, failed.Detail, "max_bytes")
			require.Len(t, failed.Flows, 1)
			moved := failed.Flows[0].AppBytes
			allowed := int64(most + 1)
			if e.name == "intcp" && place == w.last() { // it looks each 5 ms: what came until then has come, and counts
				allowed = w.rigs[0].outcome(t).AppBytes
			}
			require.LessOrEqual(t, moved, allowed, "at place %d", place)
			least := int64(most - 128<<10)
			if place != 0 && (place != w.last() || e.name == "intcp") {
				least /= 4 // the owner's bytes are those that came, too, also behind a gap
			}
			require.Greater(t, moved, least, "what it moved counts, at place %d", place)
		}
	})
}

// TestEveryEngineNeedsItsTicket: whoever shows another secret gets nothing, and says so.
func TestEveryEngineNeedsItsTicket(t *testing.T) {
	hosttest.Measures(t, hosttest.Faults, "needs enough samples of a run of a second")
	forEachEngine(t, func(t *testing.T, e engine) {
		w := newWay(t, e)
		flow := &w.orders[w.last()].Flows[0]
		flow.Ticket = strings.Replace(flow.Ticket, "5", "6", 1)
		if flow.Upstream != nil && flow.Upstream.Key != "" {
			flow.Upstream.Key = strings.Repeat("ab", 16)
		}
		w.orders[w.last()].DeadlineS = 1
		w.start(t)
		require.NoError(t, <-w.ended[w.last()])
		failed := w.rigs[w.last()].failure(t)
		require.Contains(t, []protocol.Reason{protocol.ReasonConnectFailed, protocol.ReasonRelayUnreachable}, failed.Reason, failed.Detail)
		require.Nil(t, w.trials[0].Progress(time.Now()), "not a byte was sent")
		for i := range w.last() {
			w.cancel[i](trial.ErrLost)
			require.NoError(t, <-w.ended[i])
		}
	})
}

func TestARelayThatIsNotThereIsNamed(t *testing.T) {
	w := newWay(t, engines[2])
	w.orders[1].DeadlineS = 1
	tr, ended := w.rigs[1].begin(t.Context(), w.orders[1])
	<-w.rigs[1].ready
	tr.Go(makeGo("127.0.0.1:9"))
	require.NoError(t, <-ended)
	failed := w.rigs[1].failure(t)
	require.Equal(t, protocol.ReasonRelayUnreachable, failed.Reason, failed.Detail)
	require.Contains(t, failed.Detail, "127.0.0.1:9")
}

func TestARelaysOwnerSaysWhom(t *testing.T) {
	for _, example := range []struct {
		alter func(r *rig, order *protocol.Prepare)
		why   string
	}{
		{func(r *rig, _ *protocol.Prepare) { r.env.Config.Policy.RelayPrivate = false }, "relay_private"},
		{func(r *rig, o *protocol.Prepare) {
			r.env.Config.Policy.RelayPrivate = false
			o.Flows[0].Upstream.Host, o.Flows[0].Downstream[0].Host = "198.18.0.9", "10.1.2.3"
		}, "10.1.2.3"},
		{func(_ *rig, o *protocol.Prepare) { o.Flows[0].Upstream = nil }, "upstream"},
		{func(_ *rig, o *protocol.Prepare) { o.Flows[0].Downstream = nil }, "downstream"},
		{func(_ *rig, o *protocol.Prepare) { o.Flows[0].Place = 0 }, "place"},
		{func(r *rig, _ *protocol.Prepare) { r.env.Config.Roles = []string{"sender"} }, "relay"},
		{func(r *rig, o *protocol.Prepare) {
			r.env.Config.Policy.RelayFlows = 1
			second := o.Flows[0]
			second.Flow = 2
			o.Flows = append(o.Flows, second)
		}, "relay_flows"},
	} {
		for _, e := range engines[1:] {
			w := newWay(t, e)
			example.alter(w.rigs[1], w.orders[1])
			_, ended := w.rigs[1].begin(t.Context(), w.orders[1])
			require.NoError(t, <-ended)
			failed := w.rigs[1].failure(t)
			require.Equal(t, protocol.ReasonPolicyRefused, failed.Reason)
			require.Contains(t, failed.Detail, example.why)
			w.rigs[1].requireRestored(t)
		}
	}
	w := newWay(t, engines[2])
	w.rigs[1].env.Config.Policy.RelayBufferBytes = 1000
	_, ended := w.rigs[1].begin(t.Context(), w.orders[1])
	require.NoError(t, <-ended)
	require.Contains(t, w.rigs[1].failure(t).Detail, "relay_buffer_bytes")
}

func TestOptionsOfINTCPAreJudged(t *testing.T) {
	for name, value := range map[string]any{"buffer_bytes": 12.0, "cache": "maybe", "hole_packets": 2.5, "colour": "red"} {
		w := newWay(t, engines[2])
		options := map[string]any{name: value}
		w.orders[0].Flows[0].Transport.Options = options
		_, ended := w.rigs[0].begin(t.Context(), w.orders[0])
		require.NoError(t, <-ended)
		failed := w.rigs[0].failure(t)
		require.Equal(t, protocol.ReasonPolicyRefused, failed.Reason)
		require.Contains(t, failed.Detail, name)
	}
}

func TestAnOwnerWhoAllowsLittleIsAskedForANumber(t *testing.T) {
	require.Zero(t, trial.INTCPOptions(0)["buffer_bytes"].Min)
	require.Zero(t, trial.INTCPOptions(intcp.MostRoom)["buffer_bytes"].Min)
	require.EqualValues(t, 1500, trial.INTCPOptions(intcp.MostRoom - 1)["buffer_bytes"].Min, "0 may need more than that")
}

// TestRowsOfARelayBeginAtItsZero: its clock is behind that of its neighbours, who begin before.
func TestRowsOfARelayBeginAtItsZero(t *testing.T) {
	w := newWay(t, engines[2])
	w.stop(protocol.Stop{Seconds: new(0.6)})
	clock, now := &uplink.Clock{}, time.Now()
	clock.Note(now, now, now.Add(-200*time.Millisecond))
	w.rigs[1].env.Clock = clock
	w.start(t)
	w.await(t)
	keys := w.rigs[1].env.Spool.Keys(ref.RunID, ref.Attempt)
	require.NotEmpty(t, keys)
	packed, err := w.rigs[1].env.Spool.Get(keys[0])
	require.NoError(t, err)
	header, columns, err := chunk.Decode(packed)
	require.NoError(t, err)
	require.Equal(t, "elapsed_us", header.Fields[0])
	require.GreaterOrEqual(t, columns[0][0], int64(0))
}
