package agent_test

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/hosttest"
	"downlink/agents/internal/protocol"
)

// wayNames are the agents of a way in the order of the data.
var wayNames = []string{"sender", "relay-1", "relay-2", "relay-3", "receiver"}

// way is the processes of an origin, three relays and a consumer, each in a namespace that knows its neighbours alone.
type way struct {
	backend   *fakeBackend
	processes []*process
}

// upperHost and lowerHost are the ends of hop k, counted from 1 at the sender.
func upperHost(k int) string { return fmt.Sprintf("203.0.113.%d", 4*k+1) }
func lowerHost(k int) string { return fmt.Sprintf("203.0.113.%d", 4*k+2) }

func newWay(t *testing.T) *way {
	t.Helper()
	w := &way{backend: newFakeBackend(t)}
	last := len(wayNames) - 1
	spaces := make([]*hosttest.Namespace, len(wayNames))
	for i := range wayNames {
		spaces[i] = hosttest.NewNamespace(t)
	}
	for k := 1; k <= last; k++ {
		hosttest.JoinAs(t, spaces[k-1], "down", upperHost(k)+"/30", spaces[k], "up", lowerHost(k)+"/30")
	}
	for i, name := range wayNames {
		host := upperHost(i + 1)
		if i == last {
			host = lowerHost(last)
		}
		w.processes = append(w.processes, newProcess(t, spaces[i], w.backend, name, host))
		w.processes[i].start(t)
	}
	return w
}

func wayRun(transport protocol.Transport, stop protocol.Stop) *fakeRun {
	run := &fakeRun{ref: protocol.RunRef{RunID: runID, Attempt: 1}, prepare: map[string]*protocol.Prepare{}, upstream: map[string]string{}}
	last := len(wayNames) - 1
	for i, name := range wayNames {
		role, _ := roleOf(name)
		flow := protocol.Flow{Flow: 1, Role: protocol.Role(role), Transport: transport, Ticket: fmt.Sprintf("dlt_%043d", 1), Sender: protocol.Peer{Agent: "sender"}, Receivers: []protocol.Peer{{Agent: "receiver"}}}
		neighbour := func(hop int, agent, host string) protocol.Neighbour {
			n := protocol.Neighbour{Peer: protocol.Peer{Agent: agent, Host: host}, Hop: hop}
			if transport.Kind == protocol.TransportINTCP {
				n.Key = fmt.Sprintf("%032x", 1000+hop)
			}
			return n
		}
		if i > 0 {
			flow.Upstream = new(neighbour(i, wayNames[i-1], upperHost(i)))
			run.upstream[name] = wayNames[i-1]
		}
		if i < last {
			flow.Downstream = []protocol.Neighbour{neighbour(i+1, wayNames[i+1], lowerHost(i+1))}
		}
		switch {
		case role == "relay":
			flow.Place = i
		case transport.Kind == protocol.TransportINTCP:
			flow.ContentSeed = "00000000000000ff"
		}
		run.prepare[name] = &protocol.Prepare{
			RunRef: run.ref, Roles: []protocol.Role{flow.Role}, Stop: stop, DeadlineS: 40, BaseRTTMs: 1, Settings: map[string]string{"net.ipv4.tcp_no_metrics_save": "1"},
			Sampling: protocol.Sampling{SenderMs: 5, ReceiverMs: 10}, Flows: []protocol.Flow{flow},
		}
	}
	return run
}

var wayTransports = []protocol.Transport{
	{Kind: protocol.TransportINTCP, Options: map[string]any{"buffer_bytes": 150000}},
	{Kind: protocol.TransportSplit, CC: "cubic", RelayCC: "reno"},
}

// TestAnOriginThreeRelaysAndAConsumer: an object crosses three relays that know their neighbours alone, and every place has
// its samples.
func TestAnOriginThreeRelaysAndAConsumer(t *testing.T) {
	for _, transport := range wayTransports {
		w := newWay(t)
		w.backend.change(func() { w.backend.run = wayRun(transport, protocol.Stop{Bytes: new(int64(2e6))}) })
		for i, name := range wayNames {
			w.backend.awaitEvent(t, name, "uploaded", patience)
			outcome := outcomeOf(t, w.backend.awaitEvent(t, name, "finished", 0), 1)
			require.Equal(t, "stop_rule", outcome["ended"], "%s %v", name, outcome["detail"])
			require.InDelta(t, 2e6, outcome["app_bytes"], 0)
			point := name
			if role, isRelay := roleOf(name); isRelay {
				require.Equal(t, "relay", role)
				point = fmt.Sprintf("hop-%d", i)
			}
			require.Equal(t, point, outcome["point"])
			require.Len(t, w.backend.trace(t, 1, point, "elapsed_us"), int(outcome["samples"].(float64)))
		}
		field := map[protocol.TransportKind]string{protocol.TransportINTCP: "arrived_bytes", protocol.TransportSplit: "received_bytes"}[transport.Kind]
		for _, point := range []string{"hop-1", "hop-2", "hop-3"} {
			values := w.backend.trace(t, 1, point, field)
			require.InDelta(t, 2e6, values[len(values)-1], 1, "%s at %s: the kernel counts the end of the data as a byte", field, point)
		}
	}
}

// TestAKilledRelayEndsTheRunInANamedState: nothing is left behind, and the next run over the same agents succeeds.
func TestAKilledRelayEndsTheRunInANamedState(t *testing.T) {
	w := newWay(t)
	w.backend.change(func() { w.backend.run = wayRun(wayTransports[0], protocol.Stop{Seconds: new(30.0)}) })
	w.backend.await(t, "data to flow", patience, func() bool {
		polls := w.backend.polls["sender"]
		return len(polls) > 0 && polls[len(polls)-1].Progress != nil && *polls[len(polls)-1].Progress.Bytes > 100_000
	})
	killed := w.processes[2]
	killed.end(t, syscall.SIGKILL)
	began := time.Now()
	for _, i := range []int{0, 1, 3, 4} {
		name := wayNames[i]
		w.backend.await(t, name+" to finish", patience, func() bool { return w.backend.has(name, w.backend.run.ref, "finished") })
		outcome := outcomeOf(t, w.backend.said(name, "finished"), 1)
		require.Contains(t, []any{"link_lost", "peer_closed"}, outcome["ended"], "%s: %v", name, outcome["detail"])
	}
	require.Less(t, time.Since(began), 40*time.Second)
	killed.start(t)
	w.backend.await(t, "the relay to say what happened", patience, func() bool { return w.backend.has("relay-2", w.backend.run.ref, "failed") })
	require.Equal(t, "agent_restarted", w.backend.said("relay-2", "failed")["reason"])
	for _, i := range []int{0, 1, 3, 4} {
		name := wayNames[i]
		w.backend.await(t, name+" to be restored", patience, func() bool { return w.backend.has(name, w.backend.run.ref, "restored") })
	}
	_, err := os.Stat(killed.config.StateDir + "/run.json")
	require.ErrorIs(t, err, os.ErrNotExist)
}
