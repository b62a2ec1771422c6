package trial_test

import (
	"context"
	"maps"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/agent/trial"
	"downlink/agents/internal/agent/volume"
	"downlink/agents/internal/flow/controls"
	"downlink/agents/internal/host/settings"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/server/spool"
	"downlink/agents/internal/server/uplink"
)

const (
	rmem      = "net.ipv4.tcp_rmem"
	duringRun = "4096 131072 8388608"
	ticket    = "dlt_5e3c0a9b7d-ZzqGXnY3vKc2sWmT8hLr4uJpQeB1dFoA"
)

var ref = protocol.RunRef{RunID: "01890a5d-ac96-774b-bcce-b302099a8058", Attempt: 1}

// rig is one agent's end of a run over loopback: a fake host, everything else real.
type rig struct {
	env    trial.Env
	host   *settings.FakeHost
	keeper *settings.Keeper
	place  settings.Place
	free   int64
	on     func(run func()) // calls it where the agent is

	mu     sync.Mutex
	events []protocol.Event
	ready  chan protocol.Ready
}

func newRig(t *testing.T) *rig {
	t.Helper()
	b, err := newRigAt(t.TempDir())
	require.NoError(t, err)
	return b
}

func newRigAt(dir string) (*rig, error) {
	chunks, err := spool.Open(dir+"/spool", 0)
	if err != nil {
		return nil, err
	}
	b := &rig{
		host: &settings.FakeHost{Values: map[settings.Key]string{
			{Name: rmem}: "1 2 3", {Name: "net.ipv4.tcp_mem"}: "4 5 6",
		}, ReadOnly: map[settings.Key]bool{}},
		free:  1e12,
		on:    func(run func()) { run() },
		ready: make(chan protocol.Ready, 1),
	}
	b.place = settings.Place{StateDir: dir, LockDir: dir, BootID: "boot", Namespace: "net"}
	b.keeper = settings.NewKeeper(b.host, b.place)
	clock := &uplink.Clock{}
	now := time.Now()
	clock.Note(now, now, now)
	c := config.Default()
	c.DataHost = "127.0.0.1"
	b.env = trial.Env{
		Config: c, Version: "test", BootID: "boot", Keeper: b.keeper, Spool: chunks, Volume: volume.Open(dir, 0, 1), Controls: controls.Kernel{},
		Clock:     clock,
		FreeBytes: func() (int64, error) { return b.free, nil }, Report: b.report,
	}
	return b, nil
}

func (b *rig) report(_ protocol.RunRef, event protocol.Event) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, event)
	if ready, isReady := event.(protocol.Ready); isReady {
		b.ready <- ready
	}
	return nil
}

func (b *rig) kinds() (kinds []protocol.EventKind) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, event := range b.events {
		kinds = append(kinds, event.Head().Kind)
	}
	return kinds
}

// failure returns the failed event, which must be the last one.
func (b *rig) failure(t *testing.T) protocol.Failed {
	t.Helper()
	return lastEvent[protocol.Failed](t, b)
}

// restored returns the event of a host that was put back, which must be the last one.
func (b *rig) restored(t *testing.T) protocol.Restored {
	t.Helper()
	return lastEvent[protocol.Restored](t, b)
}

func lastEvent[E protocol.Event](t *testing.T, b *rig) E {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	require.NotEmpty(t, b.events)
	event, isIt := b.events[len(b.events)-1].(E)
	require.True(t, isIt, "%v", b.events)
	return event
}

// finished returns the event of a run that has finished.
func (b *rig) finished(t *testing.T) protocol.Finished {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, event := range b.events {
		if finished, isFinished := event.(protocol.Finished); isFinished {
			return finished
		}
	}
	require.Fail(t, "the run did not finish", "%v", b.events)
	return protocol.Finished{}
}

// outcome returns that of the run's first flow, which must have finished.
func (b *rig) outcome(t *testing.T) protocol.Outcome {
	t.Helper()
	return b.finished(t).Flows[0]
}

// runBoth carries a run out at both ends, all flows from the sender's data port.
func runBoth(t *testing.T, sender, receiver *rig, sent, received *protocol.Prepare) {
	t.Helper()
	sending, sendEnded := sender.begin(t.Context(), sent)
	receiving, receiveEnded := receiver.begin(t.Context(), received)
	start := makeGo(*(<-sender.ready).DataAddress)
	<-receiver.ready
	for _, flow := range received.Flows {
		start.Peers[flow.Flow] = start.Peers[1]
	}
	sending.Go(start)
	receiving.Go(start)
	require.NoError(t, <-sendEnded)
	require.NoError(t, <-receiveEnded)
}

func makeOrder(role protocol.Role) *protocol.Prepare {
	return &protocol.Prepare{
		RunRef: ref, Roles: []protocol.Role{role}, Stop: protocol.Stop{Seconds: new(0.3)}, DeadlineS: 10, BaseRTTMs: 1,
		Settings: map[string]string{rmem: duringRun}, Sampling: protocol.Sampling{SenderMs: 5, ReceiverMs: 10},
		// Reno is the one that every host lets every user have.
		Flows: []protocol.Flow{{
			Flow: 1, Role: role, Transport: protocol.Transport{Kind: protocol.TransportTCP, CC: "reno"}, Ticket: ticket,
			Sender: protocol.Peer{Agent: "peer", Host: "127.0.0.1"}, Receivers: []protocol.Peer{{Agent: "peer", Host: "127.0.0.1"}},
		}},
	}
}

// begin starts a trial; what Run returns comes over the channel.
func (b *rig) begin(ctx context.Context, order *protocol.Prepare) (*trial.Trial, <-chan error) {
	tr, ended := trial.New(b.env, order, func(protocol.Status) {}), make(chan error, 1)
	go b.on(func() { ended <- tr.Run(ctx) })
	return tr, ended
}

func makeGo(address string) *protocol.Go {
	return &protocol.Go{RunRef: ref, StartAt: protocol.Moment{Time: time.Now().Add(50 * time.Millisecond)}, Peers: map[int]string{1: address}}
}

func (b *rig) requireRestored(t *testing.T) {
	t.Helper()
	value, err := b.host.Get(settings.Key{Name: rmem})
	require.NoError(t, err)
	require.Equal(t, "1 2 3", value)
	require.False(t, b.keeper.Pending())
}

func TestARunOverLoopbackIsReportedInOrderAndUndone(t *testing.T) {
	sender, receiver := newRig(t), newRig(t)
	sending, sent := sender.begin(t.Context(), makeOrder(protocol.RoleSender))
	receiving, received := receiver.begin(t.Context(), makeOrder(protocol.RoleReceiver))
	address := (<-sender.ready).DataAddress
	require.NotNil(t, address)
	during := (<-receiver.ready).SettingsDuring
	require.Equal(t, duringRun, during[rmem])
	order := makeGo(*address)
	sending.Go(order)
	receiving.Go(order)
	require.NoError(t, <-sent)
	require.NoError(t, <-received)
	want := []protocol.EventKind{"ready", "finished", "restored"}
	require.Equal(t, want, sender.kinds())
	require.Equal(t, want, receiver.kinds())
	sender.requireRestored(t)
	receiver.requireRestored(t)
	require.Len(t, receiver.env.Spool.Keys(ref.RunID, ref.Attempt), 1)
}

func TestASenderTellsHowItsFlowsAreWhileTheyRun(t *testing.T) {
	sender, receiver := newRig(t), newRig(t)
	long := func(role protocol.Role) *protocol.Prepare {
		order := makeOrder(role)
		order.Stop, order.DeadlineS = protocol.Stop{Seconds: new(200.0)}, 240
		return order
	}
	ctx, breakOff := context.WithCancelCause(t.Context())
	sending, sent := sender.begin(ctx, long(protocol.RoleSender))
	receiving, received := receiver.begin(ctx, long(protocol.RoleReceiver))
	order := makeGo(*(<-sender.ready).DataAddress)
	require.Nil(t, sending.Progress(time.Now()), "before its zero there is nothing to tell")
	sending.Go(order)
	receiving.Go(order)
	var seen *protocol.Progress
	require.Eventually(t, func() bool {
		seen = sending.Progress(time.Now())
		return seen != nil && len(seen.Flows) == 1 && seen.Flows[0].AckedBytes > 1_000_000
	}, time.Minute, time.Millisecond)
	flow := seen.Flows[0]
	require.Equal(t, 1, flow.Flow)
	require.Positive(t, flow.RTTUs)
	require.Greater(t, flow.CwndBytes, int64(10_000))
	require.Nil(t, receiving.Progress(time.Now()), "receivers are silent")
	breakOff(&trial.Aborted{Reason: "cancelled"})
	require.NoError(t, <-sent)
	require.NoError(t, <-received)
	require.Empty(t, sending.Progress(time.Now()).Flows, "a connection that has ended is not looked at")
}

func TestBothRolesInOneAgent(t *testing.T) {
	b := newRig(t)
	order := makeOrder(protocol.RoleSender)
	order.Roles = []protocol.Role{protocol.RoleSender, protocol.RoleReceiver}
	back := order.Flows[0]
	back.Role = protocol.RoleReceiver
	order.Flows = append(order.Flows, back)
	running, ended := b.begin(t.Context(), order)
	ready := <-b.ready
	running.Go(makeGo(*ready.DataAddress))
	require.NoError(t, <-ended)
	require.Equal(t, []protocol.EventKind{"ready", "finished", "restored"}, b.kinds())
}

func TestEveryFailureBeforeTheStartHasItsReasonAndLeavesTheHostAsItWas(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	for _, example := range []struct {
		name  string
		alter func(b *rig, order *protocol.Prepare)
		want  protocol.Reason
	}{
		{"full disk", func(b *rig, _ *protocol.Prepare) { b.free = 1e6 }, protocol.ReasonDiskFull},
		{"unknown clock", func(b *rig, _ *protocol.Prepare) { b.env.Clock = &uplink.Clock{} }, protocol.ReasonClockUnsure},
		{"slow control channel", func(b *rig, _ *protocol.Prepare) { b.env.Clock = slowClock() }, protocol.ReasonClockUnsure},
		{"congestion control", func(_ *rig, o *protocol.Prepare) { o.Flows[0].Transport.CC = "nosuchcc" }, protocol.ReasonCCUnavailable},
		{"transport", func(_ *rig, o *protocol.Prepare) { o.Flows[0].Transport.Kind = "pigeon" }, protocol.ReasonCCUnavailable},
		{"no transport", func(_ *rig, o *protocol.Prepare) { o.Flows[0].Transport = protocol.Transport{} }, protocol.ReasonCCUnavailable},
		{"unknown setting", func(_ *rig, o *protocol.Prepare) { o.Settings["kernel.panic"] = "1" }, protocol.ReasonSettingRefused},
		{"a value that would stop other connections", func(_ *rig, o *protocol.Prepare) { o.Settings["net.ipv4.tcp_mem"] = "1 1 1" },
			protocol.ReasonSettingRefused},
		{"route without a peer", func(_ *rig, o *protocol.Prepare) {
			o.Flows[0].Receivers[0].Host = ""
			o.Settings[settings.RouteInitCwnd] = "10"
		}, protocol.ReasonSettingRefused},
		{"clamped setting", func(b *rig, _ *protocol.Prepare) { b.host.Normalise = clampOnce() }, protocol.ReasonSettingFailed},
		{"taken port", func(b *rig, _ *protocol.Prepare) { b.env.Config.DataPort = taken.Addr().(*net.TCPAddr).Port }, protocol.ReasonPortFailed},
	} {
		t.Run(example.name, func(t *testing.T) {
			b, order := newRig(t), makeOrder(protocol.RoleSender)
			example.alter(b, order)
			_, ended := b.begin(t.Context(), order)
			require.NoError(t, <-ended)
			require.Equal(t, example.want, b.failure(t).Reason, "%s", b.failure(t).Detail)
			b.requireRestored(t)
		})
	}
}

func slowClock() *uplink.Clock {
	clock, now := &uplink.Clock{}, time.Now()
	clock.Note(now.Add(-10*time.Second), now, now)
	return clock
}

// clampOnce makes another value of the first one that is written.
func clampOnce() func(settings.Key, string) string {
	first := true
	return func(_ settings.Key, value string) string {
		if first {
			first = false
			return "7 7 7"
		}
		return value
	}
}

func TestAReceiverThatReachesNobodyFailsToConnect(t *testing.T) {
	b := newRig(t)
	receiving, ended := b.begin(t.Context(), makeOrder(protocol.RoleReceiver))
	<-b.ready
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	receiving.Go(makeGo(closed.Addr().String()))
	require.NoError(t, <-ended)
	require.Equal(t, protocol.ReasonConnectFailed, b.failure(t).Reason)
	b.requireRestored(t)
}

// TestAFlowThatReachesNobodySpoilsItsRunButNotTheCountOfOthers: the sender has not heard of the second flow.
func TestAFlowThatReachesNobodySpoilsItsRunButNotTheCountOfOthers(t *testing.T) {
	b, order := newRig(t), makeOrder(protocol.RoleReceiver)
	order.Stop.Seconds = new(9.0)
	addFlow(order)
	order.Flows[1].StartS = 0.5
	receiving, ended := b.begin(t.Context(), order)
	<-b.ready
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	start := makeGo(newFlood(t).address)
	start.Peers[2] = closed.Addr().String()
	receiving.Go(start)
	require.NoError(t, <-ended)
	failed := b.failure(t)
	require.Equal(t, protocol.ReasonConnectFailed, failed.Reason)
	require.Len(t, failed.Flows, 1, "of a flow without a connection there is nothing to say")
	require.Equal(t, 1, failed.Flows[0].Flow)
	require.Positive(t, failed.Flows[0].AppBytes)
	require.Len(t, b.env.Spool.Keys(ref.RunID, ref.Attempt), failed.Flows[0].Chunks)
}

func TestAFullSpoolEndsTheRun(t *testing.T) {
	sender, receiver := newRig(t), newRig(t)
	var err error
	sender.env.Spool, err = spool.Open(t.TempDir(), 1)
	require.NoError(t, err)
	sending, sent := sender.begin(t.Context(), makeOrder(protocol.RoleSender))
	receiving, received := receiver.begin(t.Context(), makeOrder(protocol.RoleReceiver))
	order := makeGo(*(<-sender.ready).DataAddress)
	sending.Go(order)
	receiving.Go(order)
	require.NoError(t, <-sent)
	require.NoError(t, <-received)
	require.Equal(t, protocol.ReasonDiskFull, sender.failure(t).Reason)
	sender.requireRestored(t)
}

func TestTheEndOfABrokenOffRunFollowsFromItsCause(t *testing.T) {
	for _, example := range []struct {
		cause error
		want  []protocol.EventKind
	}{
		{&trial.Aborted{Reason: "cancelled"}, []protocol.EventKind{"ready", "restored"}},
		{trial.ErrStopping, []protocol.EventKind{"ready", "failed"}},
		{trial.ErrLost, []protocol.EventKind{"ready"}},
	} {
		b := newRig(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		_, ended := b.begin(ctx, makeOrder(protocol.RoleReceiver))
		<-b.ready
		cancel(example.cause)
		require.NoError(t, <-ended)
		require.Equal(t, example.want, b.kinds())
		b.requireRestored(t)
	}
}

func TestAHostThatCannotBePutBackIsReportedSo(t *testing.T) {
	b := newRig(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	_, ended := b.begin(ctx, makeOrder(protocol.RoleReceiver))
	<-b.ready
	b.host.ReadOnly[settings.Key{Name: rmem}] = true
	cancel(trial.ErrStopping)
	require.Error(t, <-ended)
	require.Equal(t, []protocol.EventKind{"ready", "failed", "restored"}, b.kinds())
	restored := b.events[2].(protocol.Restored)
	require.False(t, restored.IsRestored)
	require.NotEmpty(t, restored.Differences)
	require.Equal(t, protocol.ReasonNotRestored, b.events[1].(protocol.Failed).Reason)
	require.True(t, b.keeper.Pending())
}

func TestReadyTellsTheSettingsBeforeAndDuring(t *testing.T) {
	b := newRig(t)
	before := maps.Clone(b.keeper.Snapshot(""))
	ctx, cancel := context.WithCancelCause(t.Context())
	_, ended := b.begin(ctx, makeOrder(protocol.RoleReceiver))
	ready := <-b.ready
	cancel(trial.ErrLost)
	require.NoError(t, <-ended)
	require.Equal(t, before, ready.SettingsBefore)
	require.Nil(t, ready.DataAddress, "a receiver has none")
	require.NotEmpty(t, ready.Fingerprint.Kernel)
	require.Equal(t, "lo", ready.Fingerprint.Interface)
}
