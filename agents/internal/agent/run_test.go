package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/flow/socket"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/testing/hosttest"
)

const runID = "01890a5d-ac96-774b-bcce-b302099a8058"

// makeRun describes a run with one flow per congestion control, all from the sender to the receiver.
func makeRun(attempt int, stop protocol.Stop, deadlineS float64, ccs ...string) *fakeRun {
	ref := protocol.RunRef{RunID: runID, Attempt: attempt}
	order := func(role protocol.Role, settings map[string]string) *protocol.Prepare {
		p := &protocol.Prepare{
			RunRef: ref, Roles: []protocol.Role{role}, Stop: stop, DeadlineS: deadlineS, BaseRTTMs: 1, Settings: settings,
			Sampling: protocol.Sampling{SenderMs: 5, ReceiverMs: 10},
		}
		for i, cc := range ccs {
			p.Flows = append(p.Flows, protocol.Flow{
				Flow: i + 1, Role: role, StartS: 0.3 * float64(i), Ticket: fmt.Sprintf("dlt_%043d", i),
				Transport: protocol.Transport{Kind: protocol.TransportTCP, CC: cc, PacingRateBps: new(int64(400e6))},
				Receivers: []protocol.Peer{{Agent: "receiver"}},
			})
		}
		return p
	}
	return &fakeRun{ref: ref, prepare: map[string]*protocol.Prepare{
		"sender": order(protocol.RoleSender, map[string]string{
			"net.ipv4.tcp_no_metrics_save": "1", "net.ipv4.tcp_wmem": "4096 16384 8388608",
		}),
		"receiver": order(protocol.RoleReceiver, map[string]string{
			"net.ipv4.tcp_no_metrics_save": "1", "net.ipv4.tcp_rmem": "4096 131072 8388608",
		}),
	}}
}

func (p *pair) begin(run *fakeRun) { p.backend.change(func() { p.backend.run = run }) }

func (p *pair) awaitBoth(t *testing.T, kind string) {
	t.Helper()
	p.backend.awaitEvent(t, "sender", kind, patience)
	p.backend.awaitEvent(t, "receiver", kind, patience)
}

const wmem, rmem = "/proc/sys/net/ipv4/tcp_wmem", "/proc/sys/net/ipv4/tcp_rmem"

func outcomeOf(t *testing.T, event map[string]any, flow int) map[string]any {
	t.Helper()
	outcome, isMap := event["flows"].([]any)[flow-1].(map[string]any)
	require.True(t, isMap)
	return outcome
}

func TestARunBetweenTwoNamespaces(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	p := newPair(t)
	before := p.sender.setting(t, wmem)
	p.begin(makeRun(1, protocol.Stop{Seconds: new(1.5)}, 20, "cubic"))
	ready := p.backend.awaitEvent(t, "sender", "ready", patience)
	require.Equal(t, "4096 16384 8388608", ready["settings_during"].(map[string]any)["net.ipv4.tcp_wmem"])
	require.Equal(t, before, ready["settings_before"].(map[string]any)["net.ipv4.tcp_wmem"])
	require.Equal(t, "data", ready["fingerprint"].(map[string]any)["interface"])
	p.awaitBoth(t, "uploaded")

	sent := outcomeOf(t, p.backend.awaitEvent(t, "sender", "finished", 0), 1)
	received := outcomeOf(t, p.backend.awaitEvent(t, "receiver", "finished", 0), 1)
	require.Equal(t, "stop_rule", sent["ended"])
	require.Equal(t, "stop_rule", received["ended"])
	require.Equal(t, sent["app_bytes"], received["app_bytes"], "what was written was read")
	require.Equal(t, "cubic", sent["actual_cc"])
	require.InDelta(t, 1.5e6, sent["last_byte_us"].(float64)-sent["first_byte_us"].(float64), 5e5)
	require.Len(t, p.backend.trace(t, 1, "sender", "elapsed_us"), int(sent["samples"].(float64)))
	require.Len(t, p.backend.trace(t, 1, "receiver", "elapsed_us"), int(received["samples"].(float64)))
	require.Equal(t, before, p.sender.setting(t, wmem))
	require.Empty(t, chunkFiles(t, p.sender), "every acknowledged chunk is gone")
}

func chunkFiles(t *testing.T, p *process) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(p.config.StateDir, "spool", "*", "*", "*"))
	require.NoError(t, err)
	return files
}

// A server that was restored from a copy orders again what it does not know to be measured, under the same name and another lease. It is
// measured again, and what waited here from before is kept.
func TestARestoredServersOrderIsCarriedOutAndNothingHeldIsOverwritten(t *testing.T) {
	p := newPair(t)
	leased := func(lease string) *fakeRun {
		run := makeRun(1, protocol.Stop{Bytes: new(int64(2e6))}, 20, "cubic")
		run.ref.Lease = lease
		for _, order := range run.prepare {
			order.Lease = lease
		}
		return run
	}
	p.begin(leased("aa"))
	p.awaitBoth(t, "finished")
	p.backend.change(func() { p.backend.run = nil }) // its samples are asked for by nobody: the server is gone
	var before []string
	require.Eventually(t, func() bool { before = chunkFiles(t, p.sender); return len(before) > 0 }, patience, 10*time.Millisecond)
	content, err := os.ReadFile(before[0])
	require.NoError(t, err)

	p.begin(leased("bb"))
	p.awaitBoth(t, "uploaded")
	place := strings.Replace(before[0], "/1/", "/1-before-1/", 1)
	kept, err := os.ReadFile(place)
	require.NoError(t, err)
	require.Equal(t, content, kept)
	require.Len(t, chunkFiles(t, p.sender), len(before), "what was measured again is uploaded, and nothing else")

	p.begin(leased("bb"))
	p.backend.await(t, "a poll", patience, func() bool { return len(p.backend.polls["sender"]) > 0 })
	require.Len(t, slices.DeleteFunc(slices.Clone(p.backend.events["sender"]), func(e map[string]any) bool { return e["kind"] != "ready" }), 2)
}

// A flow's seconds count from its first byte, which is late on a busy host: so it is their lengths that are compared.
func TestStaggeredFlowsEndTogether(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	const firstS, laterS, toleranceS = 2.0, 1.0, 0.5
	p, run := newPair(t), makeRun(1, protocol.Stop{Seconds: new(firstS)}, 20, "cubic", "bbr")
	for _, order := range run.prepare {
		order.Flows[1].StartS = laterS
	}
	p.begin(run)
	p.awaitBoth(t, "uploaded")
	finished := p.backend.awaitEvent(t, "sender", "finished", 0)
	first, second := outcomeOf(t, finished, 1), outcomeOf(t, finished, 2)
	require.Equal(t, "bbr", second["actual_cc"])
	require.GreaterOrEqual(t, second["first_byte_us"], laterS*1e6)
	lengthS := func(outcome map[string]any) float64 {
		return (outcome["last_byte_us"].(float64) - outcome["first_byte_us"].(float64)) / 1e6
	}
	require.InDelta(t, firstS, lengthS(first), toleranceS)
	require.InDelta(t, firstS-laterS, lengthS(second), toleranceS)
}

func TestAnObjectArrivesWhole(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	p := newPairAt(t, "2001:db8::1", "2001:db8::2")
	p.begin(makeRun(1, protocol.Stop{Bytes: new(int64(20e6))}, 20, "cubic"))
	p.awaitBoth(t, "uploaded")
	received := outcomeOf(t, p.backend.awaitEvent(t, "receiver", "finished", 0), 1)
	require.InDelta(t, 20e6, received["app_bytes"], 0)
	require.Equal(t, "stop_rule", received["ended"])
	acked := p.backend.trace(t, 1, "sender", "acked_bytes")
	require.GreaterOrEqual(t, acked[len(acked)-1], int64(20e6), "the last sample sees the object acknowledged")
}

func TestAnUnavailableCongestionControlFailsBeforeDataMoves(t *testing.T) {
	p := newPair(t)
	before := p.sender.setting(t, wmem)
	p.begin(makeRun(1, protocol.Stop{Seconds: new(1.0)}, 20, "nosuchcc"))
	p.backend.await(t, "failure", patience, func() bool { return p.backend.has("sender", p.backend.run.ref, "failed") })
	failed := p.backend.said("sender", "failed")
	require.Equal(t, "cc_unavailable", failed["reason"])
	require.Contains(t, failed["detail"], "nosuchcc")
	require.Equal(t, before, p.sender.setting(t, wmem))
}

// What a receiver says after its own end is right, and its end may come before the sender's. That it is still ready it
// may say until it has got its start, which is late on a busy host.
func TestAReceiverIsSilentWhileDataFlows(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	p := newPair(t)
	p.begin(makeRun(1, protocol.Stop{Seconds: new(1.5)}, 20, "cubic"))
	p.backend.await(t, "data to flow", patience, func() bool { return bytesSent(p) > 0 })
	p.awaitBoth(t, "restored")
	p.backend.mu.Lock()
	defer p.backend.mu.Unlock()
	finished := p.backend.find("receiver", p.backend.run.ref, "finished")
	lastByte := time.Duration(outcomeOf(t, finished, 1)["last_byte_us"].(float64)) * time.Microsecond
	require.Greater(t, lastByte, time.Second, "data flowed for longer than the pause between polls")
	from, until := p.backend.run.startAt, p.backend.run.startAt.Add(lastByte)
	for _, said := range p.backend.heard["receiver"] {
		isDuring := said.at.After(from) && said.at.Before(until)
		require.False(t, isDuring && said.what != "ready", "the receiver said %q at %s, between %s and %s", said.what, said.at, from, until)
	}
}

func bytesSent(p *pair) int64 {
	polls := p.backend.polls["sender"]
	if len(polls) == 0 || polls[len(polls)-1].Progress == nil || polls[len(polls)-1].Progress.Bytes == nil {
		return 0
	}
	return *polls[len(polls)-1].Progress.Bytes
}

func isOffered(t *testing.T, control string) bool {
	t.Helper()
	names, err := socket.AvailableControls()
	require.NoError(t, err)
	return slices.Contains(names, control)
}

func TestAKilledSenderIsRestoredAtItsRestartAndTheNextAttemptSucceeds(t *testing.T) {
	hosttest.HoldControls(t)
	p := newPair(t)
	before := p.sender.setting(t, wmem)
	p.begin(makeRun(1, protocol.Stop{Seconds: new(30.0)}, 40, "dl_hybla"))
	p.backend.await(t, "data to flow", patience, func() bool { return bytesSent(p) > 0 })
	require.NotEqual(t, before, p.sender.setting(t, wmem))
	require.True(t, isOffered(t, "dl_hybla"))
	p.sender.end(t, syscall.SIGKILL)
	require.Eventually(t, func() bool { return !isOffered(t, "dl_hybla") }, patience, 10*time.Millisecond, "nothing stays registered")
	p.sender.start(t)
	p.backend.await(t, "the restarted sender's report", patience, func() bool { return p.backend.has("sender", p.backend.run.ref, "failed") })
	require.Equal(t, "agent_restarted", p.backend.said("sender", "failed")["reason"])
	require.Equal(t, before, p.sender.setting(t, wmem))
	p.backend.await(t, "the receiver's end", patience, func() bool { return p.backend.has("receiver", p.backend.run.ref, "restored") })

	p.begin(makeRun(2, protocol.Stop{Seconds: new(1.0)}, 20, "cubic"))
	p.awaitBoth(t, "uploaded")
}

func TestATerminatedAgentRestoresItsHost(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	p := newPair(t)
	before := p.receiver.setting(t, rmem)
	p.begin(makeRun(1, protocol.Stop{Seconds: new(30.0)}, 40, "cubic"))
	p.backend.await(t, "data to flow", patience, func() bool { return bytesSent(p) > 0 })
	require.NotEqual(t, before, p.receiver.setting(t, rmem))
	began := time.Now()
	p.receiver.end(t, syscall.SIGTERM)
	require.Less(t, time.Since(began), 5*time.Second)
	require.Equal(t, before, p.receiver.setting(t, rmem))
	failed := p.backend.said("receiver", "failed")
	require.Equal(t, "agent_restarted", failed["reason"])
}

func TestAnAbortedRunIsRestoredAtOnce(t *testing.T) {
	p := newPair(t)
	p.begin(makeRun(1, protocol.Stop{Seconds: new(30.0)}, 40, "cubic"))
	p.backend.await(t, "data to flow", patience, func() bool { return bytesSent(p) > 0 })
	p.backend.change(func() { p.backend.run.abort = true })
	restored := p.backend.awaitEvent(t, "sender", "restored", patience)
	require.Equal(t, true, restored["is_restored"])
	require.Nil(t, p.backend.said("sender", "finished"))
	flows := restored["flows"].([]any)
	require.Len(t, flows, 1)
	require.Positive(t, flows[0].(map[string]any)["app_bytes"])
	p.backend.await(t, "the sender to hold its chunks", patience, func() bool {
		polls := p.backend.polls["sender"]
		last := polls[len(polls)-1]
		return last.Status == protocol.StatusRestored && len(last.Spool) == 1
	})
	p.backend.awaitEvent(t, "receiver", "restored", patience)
}

func TestARunGoesOnWhileTheBackendIsAway(t *testing.T) {
	p := newPair(t)
	p.begin(makeRun(1, protocol.Stop{Seconds: new(1.5)}, 20, "cubic"))
	p.backend.await(t, "data to flow", patience, func() bool { return bytesSent(p) > 0 })
	p.backend.change(func() { p.backend.down = true })
	time.Sleep(2 * time.Second) // the run ends meanwhile
	p.backend.change(func() { p.backend.down = false })
	p.awaitBoth(t, "uploaded")
	require.NotEmpty(t, p.backend.trace(t, 1, "receiver", "received_bytes"))
}

// TestAClockThatIsSetEndsNoRun: by an hour while data flow, and again before the next run. An agent counts time by its monotonic
// clock, so that its own clock and the server's can differ by anything; a test cannot set the clock of one process.
func TestAClockThatIsSetEndsNoRun(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	for _, step := range []time.Duration{time.Hour, -time.Hour} {
		p := newPair(t)
		p.begin(makeRun(1, protocol.Stop{Seconds: new(1.5)}, 20, "cubic"))
		p.backend.await(t, "data to flow", patience, func() bool { return bytesSent(p) > 0 })
		p.backend.change(func() { p.backend.ahead = step })
		p.awaitBoth(t, "uploaded")
		for attempt, ahead := range []time.Duration{step, 0} {
			p.backend.change(func() { p.backend.ahead = ahead })
			p.begin(makeRun(attempt+2, protocol.Stop{Seconds: new(0.5)}, 20, "cubic"))
			p.awaitAttempt(t, attempt+2)
		}
	}
}

// awaitAttempt waits until both have delivered all of an attempt.
func (p *pair) awaitAttempt(t *testing.T, attempt int) {
	t.Helper()
	ref := protocol.RunRef{RunID: runID, Attempt: attempt}
	p.backend.await(t, fmt.Sprintf("attempt %d to end", attempt), patience, func() bool {
		return p.backend.allHave(p.backend.run, "uploaded") || p.backend.has("sender", ref, "failed") || p.backend.has("receiver", ref, "failed")
	})
	for _, end := range []string{"sender", "receiver"} {
		require.Nil(t, p.backend.find(end, ref, "failed"), "attempt %d at the %s", attempt, end)
	}
}

func TestARevokedAgentStops(t *testing.T) {
	p := newPair(t)
	p.backend.await(t, "a first poll", patience, func() bool { return len(p.backend.polls["sender"]) > 0 })
	p.backend.change(func() { p.backend.revoked = true })
	require.Error(t, p.sender.command.Wait())
	log, err := os.ReadFile(p.sender.log.Name())
	require.NoError(t, err)
	require.Contains(t, string(log), "downlink-agent join")
}

func TestAShortOutageIsSurvivedAndALostLinkIsNamed(t *testing.T) {
	p := newPair(t)
	p.begin(makeRun(1, protocol.Stop{Seconds: new(15.0)}, 18, "cubic"))
	p.backend.await(t, "data to flow", patience, func() bool { return bytesSent(p) > 0 })
	p.receiver.ns.SetLink(t, "data", false)
	time.Sleep(500 * time.Millisecond)
	p.receiver.ns.SetLink(t, "data", true)
	p.backend.change(func() { p.backend.polls["sender"] = nil })
	p.backend.await(t, "data to flow again", patience, func() bool { return bytesSent(p) > 100e6 })
	p.receiver.ns.SetLink(t, "data", false)
	p.awaitBoth(t, "uploaded")
	for _, end := range []string{"sender", "receiver"} {
		require.Equal(t, "link_lost", outcomeOf(t, p.backend.awaitEvent(t, end, "finished", 0), 1)["ended"], end)
		require.NotEmpty(t, p.backend.trace(t, 1, end, "elapsed_us"), "what was sampled is kept")
	}
}

func TestARestartedAgentStillReportsAFinishedRun(t *testing.T) {
	p := newPair(t)
	p.begin(makeRun(1, protocol.Stop{Seconds: new(1.0)}, 20, "cubic"))
	p.backend.await(t, "data to flow", patience, func() bool { return bytesSent(p) > 0 })
	p.backend.change(func() { p.backend.down = true })
	require.Eventually(t, func() bool { return len(chunkFiles(t, p.receiver)) > 0 }, patience, 10*time.Millisecond)
	awaitUnreported(t, p.receiver)
	p.receiver.end(t, syscall.SIGKILL)
	p.receiver.start(t)
	p.backend.change(func() { p.backend.down = false })
	p.awaitBoth(t, "uploaded")
}

// awaitUnreported waits until an agent has the end of its run on disk. The run's ready may be there as well: its answer is cut
// off where the run begins at once.
func awaitUnreported(t *testing.T, p *process) {
	t.Helper()
	require.Eventually(t, func() bool {
		return holdsEvent(t, p, protocol.KindFinished) && holdsEvent(t, p, protocol.KindRestored)
	}, patience, 10*time.Millisecond, "finished and restored wait on disk")
}

func holdsEvent(t *testing.T, p *process, kind protocol.EventKind) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(p.config.StateDir, "events", "*.json"))
	require.NoError(t, err)
	return slices.ContainsFunc(files, func(path string) bool {
		content, err := os.ReadFile(path)
		return err == nil && strings.Contains(string(content), fmt.Sprintf("%q", kind))
	})
}

func TestAnAgentWithAnUnrestorableHostTakesNoRun(t *testing.T) {
	a := hosttest.NewNamespace(t)
	backend := newFakeBackend(t)
	sender := newProcess(t, a, backend, "sender", "127.0.0.1")
	require.NoError(t, os.WriteFile(filepath.Join(sender.config.StateDir, "settings-journal.json"), []byte("{"), 0o600))
	sender.start(t)
	backend.change(func() { backend.run = makeRun(1, protocol.Stop{Seconds: new(1.0)}, 20, "cubic") })
	var last protocol.PollRequest
	backend.await(t, "a poll", patience, func() bool {
		polls := backend.polls["sender"]
		if len(polls) > 0 {
			last = polls[len(polls)-1]
		}
		return len(polls) > 0
	})
	require.Equal(t, protocol.StatusBlocked, last.Status)
	require.Contains(t, *last.Detail, "restore")
}
