package transfer_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/flow/transfer"
)

// notTickets would admit everybody, or write more than a ticket.
var notTickets = []string{"", "dlt_", secret + "\n", "\n" + secret, secret + "A",
	secret[:46], "dle" + secret[3:], strings.Replace(secret, "Z", " ", 1)}

func TestAPortWithAMalformedTicketIsNotOpened(t *testing.T) {
	for _, text := range notTickets {
		_, err := transfer.OpenPort(transfer.PortPlan{Address: "127.0.0.1:0", Tickets: map[int]string{1: secret, 2: text}})
		require.ErrorContains(t, err, "ticket", "%q", text)
	}
}

func TestAMalformedTicketIsShownToNobody(t *testing.T) {
	port := openPort(t, map[int]string{1: secret})
	for _, text := range notTickets {
		plan := receivePlan(port, transfer.Stop{Bytes: 1})
		plan.Ticket = text
		_, err := transfer.Carry(t.Context(), transfer.NewReceiver(plan, quiet))
		require.ErrorIs(t, err, transfer.ErrNoConnection)
		require.ErrorContains(t, err, "no valid ticket", "%q", text)
	}
}

func TestThisHostsOwnServicesAreNotDialled(t *testing.T) {
	port := openPort(t, map[int]string{1: secret})
	_, number, err := net.SplitHostPort(address(port))
	require.NoError(t, err)
	for _, host := range []string{"127.0.0.1", "localhost", "::1", "::ffff:127.0.0.1", "0.0.0.0", "224.0.0.1"} {
		plan := receivePlan(port, transfer.Stop{Bytes: 1})
		plan.Address, plan.MayBeLoopback = net.JoinHostPort(host, number), false
		_, err := transfer.Carry(t.Context(), transfer.NewReceiver(plan, quiet))
		require.ErrorContains(t, err, "not an address of another host", host)
	}
}

// A port that waits for each stranger's line leaves the receiver waiting until they have all fallen silent.
func TestACrowdOfSilentStrangersDoesNotKeepTheReceiverOut(t *testing.T) {
	const crowd, lineSilence = 192, 10 * time.Second
	port := openPort(t, map[int]string{1: secret})
	for range crowd {
		conn, err := net.Dial("tcp", address(port))
		require.NoError(t, err)
		defer func() { _ = conn.Close() }()
	}
	sent := serve(t, port, 1, sendPlan(transfer.Stop{Bytes: 1e6}))
	plan := receivePlan(port, transfer.Stop{Bytes: 1e6})
	plan.Limits = limits(lineSilence / 2)
	result, err := transfer.Carry(t.Context(), transfer.NewReceiver(plan, quiet))
	require.NoError(t, err)
	require.Equal(t, transfer.EndedStopRule, result.Ended)
	require.Equal(t, transfer.EndedStopRule, (<-sent).Ended)
}

// The receiver is slow to speak; strangers from other addresses come after it and have to go first.
func TestAReceiversOwnAddressKeepsItsPlace(t *testing.T) {
	const crowd, receiver = 192, "127.0.0.2"
	port, err := transfer.OpenPort(transfer.PortPlan{Address: "0.0.0.0:0", Tickets: map[int]string{1: secret}, PeerHosts: []string{receiver}})
	require.NoError(t, err)
	defer func() { require.NoError(t, port.Close()) }()
	sent := serve(t, port, 1, sendPlan(transfer.Stop{Bytes: 1e6}))
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(receiver)}}
	conn, err := dialer.DialContext(t.Context(), "tcp", address(port))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	for range crowd {
		stranger, err := net.Dial("tcp", address(port))
		require.NoError(t, err)
		defer func() { _ = stranger.Close() }()
	}
	_, err = io.WriteString(conn, "DL1 "+secret+"\n")
	require.NoError(t, err)
	n, err := io.Copy(io.Discard, conn)
	require.NoError(t, err)
	require.Equal(t, int64(1e6), n)
	require.NoError(t, conn.Close())
	require.Equal(t, transfer.EndedStopRule, (<-sent).Ended)
}

func TestABudgetBreaksAReceiverOffAfterOneByteTooMany(t *testing.T) {
	const most = 1 << 20
	port := openPort(t, map[int]string{1: secret})
	sent := serve(t, port, 1, sendPlan(transfer.Stop{After: time.Minute}))
	plan := receivePlan(port, transfer.Stop{After: time.Minute})
	plan.Budget = transfer.NewBudget(most)
	result, err := transfer.Carry(t.Context(), transfer.NewReceiver(plan, quiet))
	require.NoError(t, err)
	require.Equal(t, transfer.EndedAborted, result.Ended)
	require.Equal(t, int64(most+1), plan.AppBytes.Load())
	require.Equal(t, transfer.EndedPeerClosed, (<-sent).Ended, "the connection is reset")
}

func TestABudgetLetsAnObjectOfItsOwnSizePass(t *testing.T) {
	const most = 1_000_003
	port := openPort(t, map[int]string{1: secret})
	send, receive := sendPlan(transfer.Stop{Bytes: most}), receivePlan(port, transfer.Stop{Bytes: most})
	send.Budget, receive.Budget = transfer.NewBudget(most), transfer.NewBudget(most)
	sent := serve(t, port, 1, send)
	result, err := transfer.Carry(t.Context(), transfer.NewReceiver(receive, quiet))
	require.NoError(t, err)
	require.Equal(t, transfer.EndedStopRule, result.Ended)
	require.Equal(t, transfer.EndedStopRule, (<-sent).Ended)
	require.Equal(t, int64(most), receive.AppBytes.Load())
}

func TestABudgetIsSharedByFlowsInBothDirections(t *testing.T) {
	const most = 3_000_000
	port := openPort(t, map[int]string{1: secret, 2: otherSecret})
	budget := transfer.NewBudget(most)
	first, second := sendPlan(transfer.Stop{Bytes: 1e6}), sendPlan(transfer.Stop{After: time.Minute})
	first.Budget, second.Budget = budget, budget
	receive := receivePlan(port, transfer.Stop{Bytes: 1e6})
	receive.Budget = budget
	sent := serve(t, port, 1, first)
	_, err := transfer.Carry(t.Context(), transfer.NewReceiver(receive, quiet))
	require.NoError(t, err)
	<-sent
	sent = serve(t, port, 2, second)
	other := receivePlan(port, transfer.Stop{After: time.Minute})
	other.Ticket = otherSecret
	_, err = transfer.Carry(t.Context(), transfer.NewReceiver(other, quiet))
	require.NoError(t, err)
	require.Equal(t, transfer.EndedAborted, (<-sent).Ended)
	require.Equal(t, int64(1e6), second.AppBytes.Load(), "a million were sent and a million received before")
}
