package transfer_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/flow/transfer"
)

// plain datagrams are read without the kernel's stamps.
var plain = transfer.Datagrams{
	Open: func(*net.UDPConn) error { return nil },
	Read: func(conn *net.UDPConn, buffer []byte) (int, netip.AddrPort, time.Duration, error) {
		n, from, err := conn.ReadFromUDPAddrPort(buffer)
		return n, from, 0, err
	},
}

type probed struct {
	result transfer.Result
	err    error
	probes []transfer.Probe
}

func sendProbes(ctx context.Context, port *transfer.Port, plan transfer.SendPlan) <-chan probed {
	plan.Port, plan.Flow, plan.Patience = port, 1, time.Minute
	ended := make(chan probed, 1)
	go func() {
		var found probed
		flow := transfer.NewProbeSender(plan, transfer.ProbePlan{Interval: 20 * time.Millisecond, Datagrams: plain},
			func(probes <-chan transfer.Probe) {
				for probe := range probes {
					found.probes = append(found.probes, probe)
				}
			})
		found.result, found.err = transfer.Carry(ctx, flow)
		ended <- found
	}()
	return ended
}

func answerProbes(ctx context.Context, plan transfer.ReceivePlan) (transfer.Result, []transfer.Arrival, error) {
	var arrivals []transfer.Arrival
	flow := transfer.NewProbeReceiver(plan, transfer.ProbePlan{Interval: 20 * time.Millisecond, Datagrams: plain},
		func(each <-chan transfer.Arrival) {
			for arrival := range each {
				arrivals = append(arrivals, arrival)
			}
		})
	result, err := transfer.Carry(ctx, flow)
	return result, arrivals, err
}

func TestEveryProbeIsAnsweredAndSettledInOrder(t *testing.T) {
	stop := transfer.Stop{After: 500 * time.Millisecond}
	port := openPort(t, map[int]string{1: secret})
	plan := sendPlan(stop)
	sent := sendProbes(t.Context(), port, plan)
	result, arrivals, err := answerProbes(t.Context(), receivePlan(port, stop))
	require.NoError(t, err)
	require.Equal(t, transfer.EndedStopRule, result.Ended)
	found := <-sent
	require.NoError(t, found.err)
	require.Equal(t, transfer.EndedStopRule, found.result.Ended)
	require.LessOrEqual(t, len(found.probes), 26)
	require.Greater(t, len(found.probes), 5, "a busy machine leaves some out")
	require.Len(t, arrivals, len(found.probes))
	require.Equal(t, int64(transfer.ProbeBytes*len(found.probes)), plan.AppBytes.Load())
	for i, probe := range found.probes {
		require.Equal(t, int64(i+1), probe.Number)
		require.Equal(t, probe.Number, arrivals[i].Number)
		require.False(t, probe.IsLost())
		require.Less(t, probe.RTT, time.Second)
	}
}

// relay passes a flow's connection and its datagrams on, except for those that drop tells to drop.
type relay struct {
	tcp     net.Listener
	udp     *net.UDPConn
	dropped atomic.Int64
}

// startRelay listens on one port number for both. isDropped is asked with the number of each
// probe whose answer comes by; that of a greeting is 0.
func startRelay(t *testing.T, port *transfer.Port, isDropped func(number int64) bool) *relay {
	t.Helper()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	here := tcp.Addr().(*net.TCPAddr)
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: here.IP, Port: here.Port})
	require.NoError(t, err)
	there, err := netip.ParseAddrPort(address(port))
	require.NoError(t, err)
	r := &relay{tcp: tcp, udp: udp}
	go r.passConnection(address(port))
	go r.passDatagrams(there, isDropped)
	t.Cleanup(func() { _, _ = tcp.Close(), udp.Close() })
	return r
}

func (r *relay) passConnection(to string) {
	near, err := r.tcp.Accept()
	if err != nil {
		return
	}
	defer near.Close()
	far, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer far.Close()
	go func() { _, _ = io.Copy(far, near); _ = far.(*net.TCPConn).CloseWrite() }()
	_, _ = io.Copy(near, far)
}

func (r *relay) passDatagrams(sender netip.AddrPort, isDropped func(number int64) bool) {
	var receiver netip.AddrPort
	buffer := make([]byte, 2000)
	for {
		length, from, err := r.udp.ReadFromUDPAddrPort(buffer)
		if err != nil {
			return
		}
		if from == sender {
			_, _ = r.udp.WriteToUDPAddrPort(buffer[:length], receiver)
			continue
		}
		receiver = from
		if isDropped(int64(binary.LittleEndian.Uint64(buffer[16:]))) {
			r.dropped.Add(1)
			continue
		}
		_, _ = r.udp.WriteToUDPAddrPort(buffer[:length], sender)
	}
}

func TestAnAnswerThatDoesNotComeIsALostProbe(t *testing.T) {
	stop := transfer.Stop{After: 500 * time.Millisecond}
	port := openPort(t, map[int]string{1: secret})
	sent := sendProbes(t.Context(), port, sendPlan(stop))
	lossy := startRelay(t, port, func(number int64) bool { return number%5 == 3 })
	plan := receivePlan(port, stop)
	plan.Address = lossy.tcp.Addr().String()
	_, arrivals, err := answerProbes(t.Context(), plan)
	require.NoError(t, err)
	found := <-sent
	require.NoError(t, found.err)
	lost := int64(0)
	for i, probe := range found.probes {
		require.Equal(t, int64(i+1), probe.Number, "in order, and none left out")
		if probe.IsLost() {
			lost++
		}
	}
	require.Positive(t, lost)
	require.Equal(t, lossy.dropped.Load(), lost)
	require.Len(t, arrivals, len(found.probes), "the receiver got those too whose answer was lost")
}

func TestNothingIsSentToWhoDoesNotKnowTheKey(t *testing.T) {
	stop := transfer.Stop{After: 300 * time.Millisecond}
	port := openPort(t, map[int]string{1: secret})
	sent := sendProbes(t.Context(), port, sendPlan(stop))
	stranger, err := net.Dial("udp", address(port))
	require.NoError(t, err)
	defer stranger.Close()
	over := make(chan struct{})
	go func() {
		defer close(over)
		for {
			_, _ = stranger.Write(make([]byte, transfer.ProbeBytes))
			_ = stranger.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
			if n, _ := stranger.Read(make([]byte, 100)); n > 0 {
				t.Error("the stranger got an answer")
			}
			if t.Context().Err() != nil {
				return
			}
			select {
			case <-time.After(time.Millisecond):
			case <-t.Context().Done():
				return
			}
			if len(sent) > 0 {
				return
			}
		}
	}()
	_, arrivals, err := answerProbes(t.Context(), receivePlan(port, stop))
	require.NoError(t, err)
	<-over
	require.Len(t, arrivals, len((<-sent).probes))
}

func TestBothEndsOfProbesThatDoNotGetThroughSayWhatToCheck(t *testing.T) {
	stop := transfer.Stop{After: 300 * time.Millisecond}
	port := openPort(t, map[int]string{1: secret})
	plan := sendPlan(stop)
	plan.Limits = limits(time.Second)
	sent := sendProbes(t.Context(), port, plan)
	silent := startRelay(t, port, func(int64) bool { return true })
	receives := receivePlan(port, stop)
	receives.Address = silent.tcp.Addr().String()
	_, _, err := answerProbes(t.Context(), receives)
	require.ErrorIs(t, err, transfer.ErrNoConnection)
	require.ErrorContains(t, err, receives.Address+" took the connection over TCP, and no probe came from there over UDP")
	found := <-sent
	require.ErrorIs(t, found.err, transfer.ErrNoConnection)
	require.ErrorContains(t, found.err, "UDP port")
}

func TestProbesEndWithTheirContext(t *testing.T) {
	stop := transfer.Stop{After: time.Minute}
	port := openPort(t, map[int]string{1: secret})
	ctx, cancel := context.WithCancel(t.Context())
	sent := sendProbes(ctx, port, sendPlan(stop))
	time.AfterFunc(200*time.Millisecond, cancel)
	result, _, err := answerProbes(t.Context(), receivePlan(port, stop))
	require.NoError(t, err)
	require.Equal(t, transfer.EndedPeerClosed, result.Ended, "the sender's end ends the receiver")
	require.Equal(t, transfer.EndedAborted, (<-sent).result.Ended)
}

func TestProbesCountInTheBudget(t *testing.T) {
	stop := transfer.Stop{After: 10 * time.Second}
	port := openPort(t, map[int]string{1: secret})
	plan := sendPlan(stop)
	plan.Budget = transfer.NewBudget(5 * transfer.ProbeBytes)
	sent := sendProbes(t.Context(), port, plan)
	_, _, _ = answerProbes(t.Context(), receivePlan(port, stop))
	found := <-sent
	require.Equal(t, transfer.EndedAborted, found.result.Ended)
	require.Contains(t, found.result.Detail, "max_bytes")
	require.Len(t, found.probes, 5)
}
