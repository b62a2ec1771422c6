package trial_test

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/agent/config"
	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/testing/hosttest"
)

func addFlow(order *protocol.Prepare) {
	flow := order.Flows[0]
	flow.Flow = len(order.Flows) + 1
	flow.Ticket = fmt.Sprintf("dlt_%043d", flow.Flow)
	order.Flows = append(order.Flows, flow)
}

func addFlows(order *protocol.Prepare, n int) {
	for range n {
		addFlow(order)
	}
}

// requireRefused gives a trial that is accepted nothing to wait for.
func (b *rig) requireRefused(t *testing.T, order *protocol.Prepare, want string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, ended := b.begin(ctx, order)
	select {
	case <-b.ready:
		cancel()
		require.NoError(t, <-ended)
		require.Fail(t, "the agent was ready for this run")
	case err := <-ended:
		require.NoError(t, err)
	}
	require.Equal(t, protocol.ReasonPolicyRefused, b.failure(t).Reason)
	require.Contains(t, b.failure(t).Detail, want)
	b.requireRestored(t)
}

func TestWhatTheHostsOwnerForbidsIsRefused(t *testing.T) {
	for _, example := range []struct {
		name   string
		policy config.Policy
		alter  func(order *protocol.Prepare)
		want   string
	}{
		{"setting", config.Policy{Settings: []string{"tcp_cubic.hystart"}}, nil, rmem},
		{"seconds", config.Policy{MaxSeconds: 0.1, Settings: []string{"*"}}, nil, "0 s"},
		{"bytes", config.Policy{MaxBytes: 10, Settings: []string{"*"}},
			func(o *protocol.Prepare) { o.Stop = protocol.Stop{Bytes: new(int64(11))} }, "11 bytes"},
		{"duration of a stop by bytes", config.Policy{MaxSeconds: 5, Settings: []string{"*"}},
			func(o *protocol.Prepare) { o.Stop = protocol.Stop{Bytes: new(int64(11))} }, "10 s"},
		{"unpaced flow", config.Policy{MaxRateBps: 1e6, Settings: []string{"*"}}, nil, "pacing"},
		{"fast flow", config.Policy{MaxRateBps: 1e6, Settings: []string{"*"}},
			func(o *protocol.Prepare) { o.Flows[0].Transport.PacingRateBps = new(int64(2e6)) }, "pacing"},
		{"bytes of all flows together", config.Policy{MaxBytes: 15, Settings: []string{"*"}}, func(o *protocol.Prepare) {
			o.Stop = protocol.Stop{Bytes: new(int64(8))}
			addFlow(o)
		}, "2 flows"},
		{"rate of all flows together", config.Policy{MaxRateBps: 15, Settings: []string{"*"}}, func(o *protocol.Prepare) {
			o.Flows[0].Transport.PacingRateBps = new(int64(8))
			addFlow(o)
		}, "together"},
		{"no stop", config.Policy{Settings: []string{"*"}}, func(o *protocol.Prepare) { o.Stop = protocol.Stop{} }, "stop rule"},
		{"role", config.Policy{Settings: []string{"*"}}, func(o *protocol.Prepare) { o.Roles = append(o.Roles, "relay") }, "relay"},
	} {
		t.Run(example.name, func(t *testing.T) {
			b, order := newRig(t), makeOrder(protocol.RoleSender)
			b.env.Config.Policy = example.policy
			if example.alter != nil {
				example.alter(order)
			}
			b.requireRefused(t, order, example.want)
		})
	}
}

func TestAnOrderThatNoAgentShouldFollowIsRefused(t *testing.T) {
	for name, example := range map[string]struct {
		alter func(o *protocol.Prepare)
		want  string
	}{
		"an offset past the end of the run": {func(o *protocol.Prepare) { o.Flows[0].StartS = 2 }, "begins at 2 s"},
		"an offset at the end of the run":   {func(o *protocol.Prepare) { o.Flows[0].StartS = 0.3 }, "begins at 0.3 s"},
		"a negative offset":                 {func(o *protocol.Prepare) { o.Flows[0].StartS = -1 }, "begins at -1 s"},
		"an offset past the deadline": {func(o *protocol.Prepare) {
			o.Stop, o.Flows[0].StartS = protocol.Stop{Bytes: new(int64(1))}, 10
		}, "begins at 10 s"},
		"a deadline of 30 million years": {func(o *protocol.Prepare) { o.DeadlineS = 1e15 }, "deadline"},
		"a deadline of 7 days and more":  {func(o *protocol.Prepare) { o.DeadlineS = 604_801 }, "deadline"},
		"no deadline":                    {func(o *protocol.Prepare) { o.DeadlineS = 0 }, "deadline"},
		"no number as the deadline":      {func(o *protocol.Prepare) { o.DeadlineS = math.NaN() }, "deadline"},
		"seconds that overflow":          {func(o *protocol.Prepare) { o.Stop.Seconds = new(1e300) }, "stop rule"},
		"negative seconds":               {func(o *protocol.Prepare) { o.Stop.Seconds = new(-1.0) }, "stop rule"},
		"negative bytes":                 {func(o *protocol.Prepare) { o.Stop = protocol.Stop{Bytes: new(int64(-1))} }, "stop rule"},
		"a round trip of an hour":        {func(o *protocol.Prepare) { o.BaseRTTMs = 3_600_000 }, "round-trip"},
		"a negative round trip":          {func(o *protocol.Prepare) { o.BaseRTTMs = -1 }, "round-trip"},
		"no sampling interval":           {func(o *protocol.Prepare) { o.Sampling.SenderMs = 0 }, "sampling"},
		"a sampling interval of a year":  {func(o *protocol.Prepare) { o.Sampling.ReceiverMs = 1 << 35 }, "sampling"},
		"no flow":                        {func(o *protocol.Prepare) { o.Flows = nil }, "0 flows"},
		"a thousand flows": {func(o *protocol.Prepare) {
			addFlows(o, 999)
		}, "1000 flows"},
		"one flow too many":                      {func(o *protocol.Prepare) { addFlows(o, 64) }, "65 flows"},
		"a round trip beyond the longest":        {func(o *protocol.Prepare) { o.BaseRTTMs = 10_001 }, "round-trip"},
		"a sampling interval beyond the longest": {func(o *protocol.Prepare) { o.Sampling.SenderMs = 2001 }, "sampling"},
		"no bytes":                               {func(o *protocol.Prepare) { o.Stop = protocol.Stop{Bytes: new(int64(0))} }, "stop rule"},
		"a pacing rate of nothing": {func(o *protocol.Prepare) { o.Flows[0].Transport.PacingRateBps = new(int64(0)) },
			"pacing rate"},
		"a negative pacing rate": {func(o *protocol.Prepare) { o.Flows[0].Transport.PacingRateBps = new(int64(-8)) },
			"pacing rate"},
		"a flow twice": {func(o *protocol.Prepare) { o.Flows = append(o.Flows, o.Flows[0]) }, "twice"},
		"a flow in a role that the run does not have": {func(o *protocol.Prepare) { o.Flows[0].Role = protocol.RoleReceiver }, "receiver"},
		"two receivers of a flow over TCP": {func(o *protocol.Prepare) {
			o.Flows[0].Receivers = append(o.Flows[0].Receivers, protocol.Peer{Agent: "other"})
		}, "flow 1 has 2 receivers, and tcp carries a flow to one"},
		"no receiver":                {func(o *protocol.Prepare) { o.Flows[0].Receivers = nil }, "flow 1 has 0 receivers"},
		"an empty ticket":            {func(o *protocol.Prepare) { o.Flows[0].Ticket = "" }, "ticket"},
		"a ticket with a line in it": {func(o *protocol.Prepare) { o.Flows[0].Ticket = "FLUSHALL\n" + ticket }, "ticket"},
		"a ticket with a line end":   {func(o *protocol.Prepare) { o.Flows[0].Ticket = ticket + "\n" }, "ticket"},
	} {
		t.Run(name, func(t *testing.T) {
			b, order := newRig(t), makeOrder(protocol.RoleSender)
			example.alter(order)
			b.requireRefused(t, order, example.want)
		})
	}
}

func TestWhatIsJustWithinItsBoundsIsTaken(t *testing.T) {
	const week = 604_800.0
	allowed := func(o *protocol.Prepare, p *config.Policy) {
		p.MaxSeconds, p.MaxBytes, p.MaxRateBps = *o.Stop.Seconds, 16, 16
		o.Flows[0].Transport.PacingRateBps = new(int64(8))
		addFlow(o)
	}
	for name, alter := range map[string]func(o *protocol.Prepare, p *config.Policy){
		"the longest run": func(o *protocol.Prepare, p *config.Policy) {
			p.MaxSeconds, o.Stop.Seconds, o.DeadlineS = 0, new(week), week
		},
		"the slowest link":   func(o *protocol.Prepare, _ *config.Policy) { o.BaseRTTMs = 10_000 },
		"no round-trip time": func(o *protocol.Prepare, _ *config.Policy) { o.BaseRTTMs = 0 },
		"the widest sampling": func(o *protocol.Prepare, _ *config.Policy) {
			o.Sampling = protocol.Sampling{SenderMs: 2000, ReceiverMs: 2000}
		},
		"the most flows":             func(o *protocol.Prepare, _ *config.Policy) { addFlows(o, 63) },
		"the latest flow":            func(o *protocol.Prepare, _ *config.Policy) { o.Flows[0].StartS = 0.299 },
		"all that the policy allows": allowed,
		"all the bytes that the policy allows": func(o *protocol.Prepare, p *config.Policy) {
			allowed(o, p)
			p.MaxSeconds, o.Stop = o.DeadlineS, protocol.Stop{Bytes: new(int64(8))}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, order := newRig(t), makeOrder(protocol.RoleSender)
			alter(order, &b.env.Config.Policy)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			_, ended := b.begin(ctx, order)
			select {
			case <-b.ready:
			case err := <-ended:
				require.Fail(t, "refused", "%v %v", b.failure(t), err)
			}
			cancel()
			require.NoError(t, <-ended)
			b.requireRestored(t)
		})
	}
}

func TestAStartThatIsLateOrFarAheadIsRefused(t *testing.T) {
	now := time.Now()
	for _, start := range []time.Time{now.Add(-time.Minute), now.Add(2 * time.Minute), now.AddDate(1, 0, 0), now.AddDate(9000, 0, 0)} {
		b := newRig(t)
		receiving, ended := b.begin(t.Context(), makeOrder(protocol.RoleReceiver))
		<-b.ready
		order := makeGo("127.0.0.1:1")
		order.StartAt.Time = start
		receiving.Go(order)
		require.NoError(t, <-ended)
		require.Equal(t, protocol.ReasonDeadline, b.failure(t).Reason, start)
		b.requireRestored(t)
	}
}

// flood is a data port whose sender never stops. It counts its connections.
type flood struct {
	address     string
	connections atomic.Int64
}

// receiveFlood lets a run of two flows receive from a sender that does not stop, to its end.
func (b *rig) receiveFlood(t *testing.T, order *protocol.Prepare) {
	t.Helper()
	source := newFlood(t)
	receiving, ended := b.begin(t.Context(), order)
	<-b.ready
	start := makeGo(source.address)
	start.Peers[2] = source.address
	receiving.Go(start)
	require.NoError(t, <-ended)
}

func newFlood(t *testing.T) *flood {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	f := &flood{address: listener.Addr().String()}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			f.connections.Add(1)
			go func() {
				defer func() { _ = conn.Close() }()
				_, err := bufio.NewReader(conn).ReadString('\n')
				for block := make([]byte, 64<<10); err == nil; {
					_, err = conn.Write(block)
				}
			}()
		}
	}()
	return f
}

func TestAReceiversOwnerCapsItsBytesWhateverTheSenderDoes(t *testing.T) {
	const most = 1 << 20
	b, order := newRig(t), makeOrder(protocol.RoleReceiver)
	b.env.Config.Policy.MaxBytes = most
	order.Stop.Seconds = new(9.0)
	addFlow(order)
	b.receiveFlood(t, order)
	require.Equal(t, protocol.ReasonPolicyRefused, b.failure(t).Reason, "another try would spend as much again")
	require.Contains(t, b.failure(t).Detail, "max_bytes")
	b.requireRestored(t)
}

func TestASendersOwnerCapsTheBytesOfAllFlowsTogether(t *testing.T) {
	const most = 1 << 20
	sender, receiver := newRig(t), newRig(t)
	sender.env.Config.Policy.MaxBytes = most
	sent, received := makeOrder(protocol.RoleSender), makeOrder(protocol.RoleReceiver)
	for _, order := range []*protocol.Prepare{sent, received} {
		order.Stop.Seconds = new(9.0)
		addFlow(order)
	}
	runBoth(t, sender, receiver, sent, received)
	require.Equal(t, protocol.ReasonPolicyRefused, sender.failure(t).Reason, sender.failure(t).Detail)
}

// A sender may stop late by what connecting and draining take, and no more.
func TestAReceiversOwnerCapsItsSecondsWhateverTheSenderDoes(t *testing.T) {
	hosttest.Measures(t, hosttest.Faults, "compares seconds")
	t.Parallel()
	const most, margin = 1.0, 5.0
	b, order := newRig(t), makeOrder(protocol.RoleReceiver)
	b.env.Config.Policy.MaxSeconds = most
	order.DeadlineS = 3600
	receiving, ended := b.begin(t.Context(), order)
	<-b.ready
	receiving.Go(makeGo(newFlood(t).address))
	require.NoError(t, <-ended)
	outcome := b.outcome(t)
	require.Equal(t, protocol.EndedDeadline, outcome.Ended)
	require.Contains(t, *outcome.Detail, "max_seconds")
	require.Less(t, float64(*outcome.LastByteUs)/1e6, most+margin+0.1)
	b.requireRestored(t)
}

func TestNothingIsDialledThatIsNotTheSendersOwn(t *testing.T) {
	for name, example := range map[string]struct {
		peerHost, dataHost, address string
	}{
		"another host":                    {"198.51.100.4", "127.0.0.1", ""},
		"a name instead of an address":    {"127.0.0.1", "127.0.0.1", "localhost"},
		"this host's own services":        {"127.0.0.1", "198.51.100.9", ""},
		"its own services, by their name": {"localhost", "198.51.100.9", "localhost"},
	} {
		t.Run(name, func(t *testing.T) {
			target := newFlood(t)
			b, order := newRig(t), makeOrder(protocol.RoleReceiver)
			b.env.Config.DataHost, order.Flows[0].Sender.Host = example.dataHost, example.peerHost
			order.DeadlineS = 5
			address := target.address
			if example.address != "" {
				_, port, err := net.SplitHostPort(address)
				require.NoError(t, err)
				address = net.JoinHostPort(example.address, port)
			}
			receiving, ended := b.begin(t.Context(), order)
			<-b.ready
			receiving.Go(makeGo(address))
			require.NoError(t, <-ended)
			require.Contains(t, []protocol.Reason{protocol.ReasonPolicyRefused, protocol.ReasonConnectFailed}, b.failure(t).Reason)
			require.Zero(t, target.connections.Load())
			b.requireRestored(t)
		})
	}
}
