package intcpsocket_test

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/flow/transfer"
	"downlink/agents/internal/intcp"
)

// strangersOpen is an OPEN of the run's second hop by somebody without its key.
func strangersOpen() []byte {
	packet := make([]byte, intcp.OpenBytes)
	packet[0], packet[1], packet[7], packet[11] = intcp.Version, 1, 9, 1 // version, OPEN, flow, sequence
	packet[23], packet[25] = testRun, 2                                  // run, hop
	return packet
}

// TestStrangersAtARelaysSocket: thousands of OPENs and interests without a key, over real sockets, bring less than they
// cost, make no flow, and the run goes on to its end.
func TestStrangersAtARelaysSocket(t *testing.T) {
	const packets = 5000
	c := newChain(t, 1, transfer.Stop{Bytes: 500_000})
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(c.homes[1].Local()))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	open, interest := strangersOpen(), make([]byte, 64)
	interest[0], interest[1], interest[7] = intcp.Version, 4, 1
	flood := func() (sent int) {
		for range packets {
			for _, packet := range [][]byte{open, interest} {
				n, _ := conn.Write(packet) // what finds no room is lost
				sent += n
			}
		}
		return sent
	}
	flooded := make(chan int, 1)
	go func() { flooded <- flood() }()
	results, errs := c.carry(t)
	sent := <-flooded
	for i, result := range results {
		require.NoError(t, errs[i])
		require.Equal(t, transfer.EndedStopRule, result.Ended, "%d: %s", i, result.Detail)
	}
	came, buffer := 0, make([]byte, 2048)
	for conn.SetReadDeadline(time.Now().Add(100*time.Millisecond)) == nil {
		n, err := conn.Read(buffer)
		if err != nil {
			break
		}
		require.LessOrEqual(t, n, intcp.OpenBytes/20)
		came += n
	}
	require.Less(t, came, sent/20)
	c.homes[1].Do(func(_ time.Duration, node *intcp.Node) {
		require.NotZero(t, node.Counts().Strangers)
		require.Zero(t, node.Counts().Flows, "the run's own has ended, and no other was made")
	})
}
