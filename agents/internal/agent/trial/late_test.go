package trial

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/intcp"
	"downlink/agents/internal/intcp/intcpsocket"
	"downlink/agents/internal/server/protocol"
)

// TestALateNodeSpoilsARunOverAnEmulatedLink keeps a node from its socket while datagrams wait there.
func TestALateNodeSpoilsARunOverAnEmulatedLink(t *testing.T) {
	home, err := intcpsocket.Open(intcpsocket.Plan{Address: "127.0.0.1:0",
		Run: 1, Options: intcp.DefaultOptions(), Policy: intcp.DefaultPolicy()})
	require.NoError(t, err)
	defer func() { require.NoError(t, home.Close()) }()
	require.NoError(t, new(linkRun).checkNode(home), "it has done nothing late yet")

	conn, err := net.Dial("udp", home.Local().String())
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	// Again and again: the kernel begins to stamp what comes a moment after it was asked to (net_enable_timestamp).
	require.Eventually(t, func() bool {
		home.Do(func(time.Duration, *intcp.Node) {
			for range 50 {
				_, _ = conn.Write([]byte("a datagram of a stranger"))
			}
			time.Sleep(20 * time.Millisecond) // the node is kept from its socket: four times intcpsocket.LateAfter
		})
		return home.Lateness().Late >= 50
	}, time.Minute, time.Millisecond)

	failure := asFailure(new(linkRun).checkNode(home))
	require.Equal(t, protocol.ReasonEmulatorLate, failure.Reason)
	require.Contains(t, failure.Detail, "INTCP was late on this machine")
	require.NoError(t, (*linkRun)(nil).checkNode(home), "over a real link it is part of what is measured")
}
