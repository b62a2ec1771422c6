package agent_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/testing/hosttest"
)

// way is the processes of an origin, its relays and a consumer, in the order of the data.
type way struct {
	backend   *fakeBackend
	names     []string
	processes []*process
	// upper and lower are the ends of hop k, counted from 1 at the sender.
	upper, lower func(k int) string
	attempt      int
}

// newWay is a way of so many relays, each place in a namespace that knows its neighbours alone.
func newWay(t *testing.T, relays int) *way {
	t.Helper()
	w := &way{
		backend: newFakeBackend(t), names: []string{"sender"},
		upper: func(k int) string { return fmt.Sprintf("203.0.113.%d", 4*k+1) },
		lower: func(k int) string { return fmt.Sprintf("203.0.113.%d", 4*k+2) },
	}
	for i := range relays {
		w.names = append(w.names, fmt.Sprintf("relay-%d", i+1))
	}
	w.names = append(w.names, "receiver")
	last := len(w.names) - 1
	spaces := make([]*hosttest.Namespace, len(w.names))
	for i := range w.names {
		spaces[i] = hosttest.NewNamespace(t)
	}
	for k := 1; k <= last; k++ {
		hosttest.JoinAs(t, spaces[k-1], "down", w.upper(k)+"/30", spaces[k], "up", w.lower(k)+"/30")
	}
	for i, name := range w.names {
		host := w.upper(i + 1)
		if i == last {
			host = w.lower(last)
		}
		w.processes = append(w.processes, newProcess(t, spaces[i], w.backend, name, host))
		w.processes[i].start(t)
	}
	return w
}

// run describes the way's next attempt.
func (w *way) run(transport protocol.Transport, stop protocol.Stop) *fakeRun {
	w.attempt++
	run := &fakeRun{ref: protocol.RunRef{RunID: runID, Attempt: w.attempt}, prepare: map[string]*protocol.Prepare{},
		upstream: map[string]string{}}
	last := len(w.names) - 1
	for i, name := range w.names {
		role, _ := roleOf(name)
		flow := protocol.Flow{Flow: 1, Role: protocol.Role(role), Transport: transport, Ticket: fmt.Sprintf("dlt_%043d", w.attempt),
			Sender: protocol.Peer{Agent: "sender"}, Receivers: []protocol.Peer{{Agent: "receiver"}}}
		neighbour := func(hop int, agent, host string) protocol.Neighbour {
			n := protocol.Neighbour{Peer: protocol.Peer{Agent: agent, Host: host}, Hop: hop}
			if transport.Kind == protocol.TransportINTCP {
				n.Key = fmt.Sprintf("%032x", 1000*w.attempt+hop)
			}
			return n
		}
		if i > 0 {
			flow.Upstream = new(neighbour(i, w.names[i-1], w.upper(i)))
			run.upstream[name] = w.names[i-1]
		}
		if i < last {
			flow.Downstream = []protocol.Neighbour{neighbour(i+1, w.names[i+1], w.lower(i+1))}
		}
		switch {
		case role == "relay":
			flow.Place = i
		case transport.Kind == protocol.TransportINTCP:
			flow.ContentSeed = "00000000000000ff"
		}
		run.prepare[name] = &protocol.Prepare{
			RunRef: run.ref, Roles: []protocol.Role{flow.Role}, Stop: stop, DeadlineS: 40, BaseRTTMs: 1,
			Settings: map[string]string{"net.ipv4.tcp_no_metrics_save": "1"},
			Sampling: protocol.Sampling{SenderMs: 5, ReceiverMs: 10}, Flows: []protocol.Flow{flow},
		}
	}
	return run
}

func (w *way) begin(run *fakeRun) { w.backend.change(func() { w.backend.run = run }) }

var wayTransports = []protocol.Transport{
	{Kind: protocol.TransportINTCP, Options: map[string]any{"buffer_bytes": 150000}},
	{Kind: protocol.TransportSplit, CC: "cubic", RelayCC: "reno"},
}

// again is what of these 2 MB a relay may have had twice: over INTCP units that a busy machine made late are asked for again.
func again(bytes float64, transport protocol.Transport) float64 {
	if transport.Kind != protocol.TransportINTCP {
		return 0
	}
	return min(max(0, bytes-2e6), 2e5)
}

// TestAnOriginThreeRelaysAndAConsumer: an object crosses three relays that know their neighbours alone, and every place has
// its samples.
func TestAnOriginThreeRelaysAndAConsumer(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	for _, transport := range wayTransports {
		w := newWay(t, 3)
		w.begin(w.run(transport, protocol.Stop{Bytes: new(int64(2e6))}))
		for i, name := range w.names {
			w.backend.awaitEvent(t, name, "uploaded", patience)
			outcome := outcomeOf(t, w.backend.awaitEvent(t, name, "finished", 0), 1)
			require.Equal(t, "stop_rule", outcome["ended"], "%s %v", name, outcome["detail"])
			point, passed := name, outcome["app_bytes"].(float64)
			if role, isRelay := roleOf(name); isRelay {
				require.Equal(t, "relay", role)
				passed -= again(passed, transport)
				point = fmt.Sprintf("hop-%d", i)
			}
			require.InDelta(t, 2e6, passed, 0)
			require.Equal(t, point, outcome["point"])
			require.Len(t, w.backend.trace(t, 1, point, "elapsed_us"), int(outcome["samples"].(float64)))
		}
		field := map[protocol.TransportKind]string{protocol.TransportINTCP: "arrived_bytes",
			protocol.TransportSplit: "received_bytes"}[transport.Kind]
		for _, point := range []string{"hop-1", "hop-2", "hop-3"} {
			values := w.backend.trace(t, 1, point, field)
			arrived := float64(values[len(values)-1])
			require.InDelta(t, 2e6, arrived-again(arrived, transport), 1, "%s at %s: the kernel counts the end of the data as a byte", field, point)
		}
	}
}
