package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/netlab"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/testing/hosttest"
)

// killed is a state of a run in which one of its agents is killed. It returns once every other agent has ended the run.
type killed struct {
	state string
	kill  func(w *way, t *testing.T, transport protocol.Transport, victim int)
}

var (
	killedPrepared = killed{"prepared", (*way).killPrepared}
	killedAtStart  = killed{"started without it", (*way).killAtStart}
	killedRunning  = killed{"running", (*way).killRunning}
	killedDraining = killed{"draining", (*way).killDraining}
	killedEnded    = killed{"ended and not reported", (*way).killEnded}
)

// TestALostPlaceOrHopLeavesNothingBehind kills places of a way in the states of a run, and the agent that speaks for the relays
// of an emulated path; and it cuts a hop. After each of them the others have ended the run by a name, hosts are as they were, and
// a next run over the same agents, killed one included, is complete. The cases wait most of their time, and so all at once.
func TestALostPlaceOrHopLeavesNothingBehind(t *testing.T) {
	hosttest.Verify(t, hosttest.Faults, "kills processes in each state")
	var all sync.WaitGroup
	defer all.Wait()
	begin := func(name string, test func(t *testing.T)) { all.Go(func() { t.Run(name, test) }) }
	kill := func(kind string, newWay func(t *testing.T) *way, transport protocol.Transport, victim string, states ...killed) {
		begin(kind+" "+victim, func(t *testing.T) { newWay(t).killInEach(t, transport, victim, states) })
	}
	overTwo := func(t *testing.T) *way { return newWay(t, 2) }
	for _, transport := range wayTransports {
		kind := string(transport.Kind)
		kill(kind, overTwo, transport, "sender", killedPrepared, killedRunning, killedDraining, killedEnded)
		kill(kind, overTwo, transport, "relay-1", killedPrepared, killedRunning, killedDraining, killedEnded)
		kill(kind, overTwo, transport, "relay-2", killedAtStart, killedDraining)
		kill(kind, overTwo, transport, "receiver", receiverStates(transport)...)
		begin(kind+" hop", func(t *testing.T) { overTwo(t).cutLastHop(t, transport) })
	}
	intcp := wayTransports[0]
	kill("emulated", newEmulatedWay, intcp, "relay-1", killedPrepared, killedRunning, killedEnded)
	for _, end := range []string{"sender", "receiver"} {
		kill("emulated", newEmulatedWay, intcp, end, killedPrepared, killedRunning, killedEnded)
	}
}

// receiverStates: over INTCP a receiver ends at its stop moment and does not drain.
func receiverStates(transport protocol.Transport) []killed {
	if transport.Kind == protocol.TransportINTCP {
		return []killed{killedPrepared, killedRunning, killedEnded}
	}
	return []killed{killedPrepared, killedRunning, killedDraining, killedEnded}
}

// newEmulatedWay is a sender and a receiver at an emulated link of three hops, with the agent of the sites between them.
func newEmulatedWay(t *testing.T) *way {
	t.Helper()
	lane := emulate.Direction{Rate: emulate.Rate{ConstantBps: 50e6}, Queue: emulate.Queue{LimitBytes: 1_500_000},
		Delay: emulate.Delay{BaseMs: 2}}
	hop := emulate.Hop{Down: lane, Up: lane}
	profile := emulate.Profile{Name: "hops", Orbit: "LEO", Seed: 1, Hops: []emulate.Hop{hop, hop, hop},
		Facts: emulate.Facts{NominalRateBps: 50e6, BaseRttMs: 12}}
	w, _ := onLink(t, profile, map[string]string{"sender": "sender-1", "relay-1": netlab.Relays, "receiver": netlab.Receiver}, "sender",
		"relay-1", "receiver")
	return w
}

// labs numbers the emulated links of this process.
var labs atomic.Int64

// onLink is agents at places of an emulated link, which vanishes with everything at the test's end.
func onLink(t *testing.T, profile emulate.Profile, places map[string]string, names ...string) (*way, *netlab.Lab) {
	t.Helper()
	hosttest.NeedRoot(t)
	control, name := filepath.Join(t.TempDir(), "relays.sock"), fmt.Sprintf("kills-%d-%d", os.Getpid(), labs.Add(1))
	lab, err := netlab.Up(netlab.Options{Name: name, Profile: profile, Seed: 1, Senders: 1, RelayControl: control})
	require.NoError(t, err)
	t.Cleanup(func() { // after the agents have ended
		require.NoError(t, lab.Close())
		links, err := netlab.List()
		require.NoError(t, err)
		require.False(t, slices.ContainsFunc(links, func(l netlab.Found) bool { return l.Name == name }), "namespaces or devices are left")
	})
	hosts := lab.Hosts()
	at := func(i int) netlab.HostInfo { return hosts[places[names[i]]] }
	w := &way{backend: newFakeBackend(t), names: names}
	w.upper = func(k int) string { return at(k - 1).DataHost }
	w.lower = func(k int) string { return at(k).DataHost }
	for i, name := range names {
		p := newProcess(t, hosttest.Named(t, at(i).Namespace), w.backend, name, at(i).DataHost)
		if _, isRelay := roleOf(name); isRelay {
			p.config.RelayControl, p.config.Policy.RelayPrivate = control, true
			_, err := p.config.Save()
			require.NoError(t, err)
		}
		w.processes = append(w.processes, p)
		p.start(t)
	}
	return w, lab
}

func (w *way) killInEach(t *testing.T, transport protocol.Transport, name string, states []killed) {
	t.Helper()
	victim := slices.Index(w.names, name)
	for _, in := range states {
		t.Logf("%s is killed: %s", name, in.state)
		in.kill(w, t, transport, victim)
		w.requireNothingLeft(t)
		w.requireNextRun(t, transport)
	}
}

const settingOfRun = "/proc/sys/net/ipv4/tcp_no_metrics_save"

// steady is a run whose data come about at 2.8 Mb/s, so that many runs at once are carried without haste.
func (w *way) steady(transport protocol.Transport, stopS float64) *fakeRun {
	run := w.run(transport, protocol.Stop{Seconds: &stopS})
	for _, order := range run.prepare {
		order.Flows[0].Offer = &protocol.Offer{MessageBytes: 1400, EveryMs: 4}
	}
	return run
}

func (w *way) awaitData(t *testing.T) {
	t.Helper()
	w.backend.await(t, "data to flow", patience, func() bool { return w.progress().bytes > 100_000 })
}

type progress struct {
	bytes    int64
	elapsedS float64
}

// progress is what the sender said last of the present run. The caller holds the backend's lock.
func (w *way) progress() progress {
	polls := w.backend.polls["sender"]
	if len(polls) == 0 {
		return progress{}
	}
	last := polls[len(polls)-1]
	if last.Progress == nil || last.Attempt == nil || *last.Attempt != w.backend.run.ref.Attempt {
		return progress{}
	}
	return progress{*last.Progress.Bytes, *last.Progress.ElapsedS}
}

// kill ends an agent in the middle of a run: its host stays changed.
func (w *way) kill(t *testing.T, victim int) {
	t.Helper()
	w.processes[victim].end(t, syscall.SIGKILL)
	require.Equal(t, "1", w.processes[victim].setting(t, settingOfRun), "nobody can have put it back")
}

// restart starts the killed agent again, which says what happened.
func (w *way) restart(t *testing.T, victim int) {
	t.Helper()
	name := w.names[victim]
	w.processes[victim].start(t)
	w.backend.await(t, name+" to say what happened", patience, func() bool { return w.backend.has(name, w.backend.run.ref, "failed") })
	require.Equal(t, "agent_restarted", w.backend.said(name, "failed")["reason"])
}

func (w *way) awaitPrepared(t *testing.T, transport protocol.Transport, stopS float64) {
	t.Helper()
	run := w.steady(transport, stopS)
	run.held = true
	w.begin(run)
	w.backend.await(t, "everybody to be ready", patience, func() bool { return w.backend.allHave(run, "ready") })
}

// killPrepared: no data have moved, and the server takes the run back as soon as it hears of it.
func (w *way) killPrepared(t *testing.T, transport protocol.Transport, victim int) {
	w.awaitPrepared(t, transport, 30)
	w.kill(t, victim)
	w.restart(t, victim)
	w.backend.change(func() { w.backend.run.abort = true })
	for i, name := range w.names {
		if i != victim {
			w.backend.awaitEvent(t, name, "restored", patience)
			require.Nil(t, w.backend.said(name, "finished"))
		}
	}
}

// killAtStart: the others get their start all the same, and wait for one that does not come.
func (w *way) killAtStart(t *testing.T, transport protocol.Transport, victim int) {
	w.awaitPrepared(t, transport, 30)
	w.kill(t, victim)
	w.backend.change(func() { w.backend.run.held = false })
	w.awaitNamedEnds(t, victim, "link_lost", "peer_closed")
	w.restart(t, victim)
}

// killRunning: nobody says that the killed one has gone.
func (w *way) killRunning(t *testing.T, transport protocol.Transport, victim int) {
	w.begin(w.steady(transport, 30))
	w.awaitData(t)
	w.kill(t, victim)
	w.awaitNamedEnds(t, victim, "link_lost", "peer_closed")
	w.restart(t, victim)
}

// killDraining: the last hop is cut before the stop moment, so that what is on its way stays there until it is given up.
func (w *way) killDraining(t *testing.T, transport protocol.Transport, victim int) {
	const stopS = 2
	run := w.steady(transport, stopS)
	for _, order := range run.prepare {
		order.BaseRTTMs = 300 // the others drain for 5 s
	}
	w.begin(run)
	w.awaitData(t)
	lastRelay := w.processes[len(w.processes)-2]
	lastRelay.ns.SetLink(t, "down", false)
	w.backend.await(t, "the stop moment", patience, func() bool {
		return w.progress().elapsedS > stopS || w.backend.has("sender", run.ref, "finished")
	})
	w.kill(t, victim)
	lastRelay.ns.SetLink(t, "down", true)
	w.awaitNamedEnds(t, victim, "stop_rule", "link_lost", "peer_closed")
	w.restart(t, victim)
}

// killEnded: the run is complete on the agents' disks, and the server has not heard of it.
func (w *way) killEnded(t *testing.T, transport protocol.Transport, victim int) {
	w.awaitPrepared(t, transport, 1)
	w.backend.change(func() { w.backend.deaf, w.backend.run.held = true, false })
	for _, p := range w.processes {
		awaitUnreported(t, p)
	}
	w.processes[victim].end(t, syscall.SIGKILL)
	w.processes[victim].start(t)
	w.backend.change(func() { w.backend.deaf = false })
	w.requireComplete(t)
}

// requireComplete waits until everybody has ended the run by its stop rule.
func (w *way) requireComplete(t *testing.T) {
	t.Helper()
	for _, name := range w.names {
		require.Equal(t, true, w.backend.awaitEvent(t, name, "restored", patience)["is_restored"])
		outcome := outcomeOf(t, w.backend.said(name, "finished"), 1)
		require.Equal(t, "stop_rule", outcome["ended"], "%s: %v", name, outcome["detail"])
	}
}

// awaitNamedEnds waits until every agent but one has ended its part by itself: it says how, and has put its host back.
func (w *way) awaitNamedEnds(t *testing.T, victim int, endings ...string) {
	t.Helper()
	reasons := []string{"connect_failed", "relay_unreachable", "link_control_failed"}
	for i, name := range w.names {
		if i == victim {
			continue
		}
		ref := w.backend.run.ref
		w.backend.await(t, name+" to end", patience, func() bool {
			return w.backend.has(name, ref, "restored") || w.backend.has(name, ref, "failed")
		})
		if failed := w.backend.said(name, "failed"); failed != nil {
			t.Logf("%s failed: %s: %s", name, failed["reason"], failed["detail"])
			require.Contains(t, reasons, failed["reason"], "%s: %v", name, failed["detail"])
			continue
		}
		outcome := outcomeOf(t, w.backend.said(name, "finished"), 1)
		t.Logf("%s: %s: %v", name, outcome["ended"], outcome["detail"])
		require.Contains(t, endings, outcome["ended"], "%s: %v", name, outcome["detail"])
		require.Equal(t, true, w.backend.said(name, "restored")["is_restored"])
	}
}

// requireNothingLeft looks at each host once nobody has a run any more.
func (w *way) requireNothingLeft(t *testing.T) {
	t.Helper()
	for i, p := range w.processes {
		require.Equal(t, "0", p.setting(t, settingOfRun), w.names[i])
		for _, file := range []string{"settings-journal.json", "run.json"} {
			require.Eventually(t, func() bool {
				_, err := os.Stat(filepath.Join(p.config.StateDir, file))
				return os.IsNotExist(err)
			}, patience, 10*time.Millisecond, "%s of %s", file, w.names[i])
		}
		var left []string
		require.Eventually(t, func() bool {
			left = openSockets(t, p.ns)
			return len(left) == 0
		}, patience, 10*time.Millisecond, "%s of %s", &left, w.names[i])
	}
}

// openSockets are those over UDP and TCP in a namespace, but for connections that the kernel remembers to have been closed.
func openSockets(t *testing.T, ns *hosttest.Namespace) (found []string) {
	t.Helper()
	const stateAt, timeWait = 3, "06"
	ns.Do(t, func() {
		for _, table := range []string{"udp", "udp6", "tcp", "tcp6"} {
			content, err := os.ReadFile("/proc/thread-self/net/" + table)
			require.NoError(t, err)
			for _, line := range strings.Split(strings.TrimSpace(string(content)), "\n")[1:] {
				if strings.Fields(line)[stateAt] != timeWait {
					found = append(found, table+": "+line)
				}
			}
		}
	})
	return found
}

func (w *way) requireNextRun(t *testing.T, transport protocol.Transport) {
	t.Helper()
	const size = 300_000
	w.begin(w.run(transport, protocol.Stop{Bytes: new(int64(size))}))
	w.requireComplete(t)
	for _, name := range []string{"sender", "receiver"} { // relays count what they are asked for again
		require.InDelta(t, size, outcomeOf(t, w.backend.said(name, "finished"), 1)["app_bytes"], 0, name)
	}
}

// cutLastHop for a while, which delays the run, and permanently, which ends the next one.
func (w *way) cutLastHop(t *testing.T, transport protocol.Transport) {
	t.Helper()
	lastRelay := w.processes[len(w.processes)-2]
	w.begin(w.steady(transport, 6))
	w.awaitData(t)
	lastRelay.ns.SetLink(t, "down", false)
	time.Sleep(3 * time.Second)
	w.backend.mu.Lock()
	meanwhile := w.progress().bytes
	w.backend.mu.Unlock()
	lastRelay.ns.SetLink(t, "down", true)
	w.requireComplete(t)
	require.Greater(t, outcomeOf(t, w.backend.said("receiver", "finished"), 1)["app_bytes"], float64(meanwhile), "data moved again")

	run := w.steady(transport, 15)
	run.prepare["receiver"].DeadlineS = 600 // nobody waits for it
	w.begin(run)
	w.awaitData(t)
	lastRelay.ns.SetLink(t, "down", false)
	w.awaitNamedEnds(t, -1, "link_lost", "peer_closed")
	lastRelay.ns.SetLink(t, "down", true)
	w.requireNothingLeft(t)
	w.requireNextRun(t, transport)
}
