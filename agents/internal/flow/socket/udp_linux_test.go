package socket_test

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/flow/socket"
)

func TestADatagramsTimeInTheSocketIsKnown(t *testing.T) {
	receiver, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	defer func() { _ = receiver.Close() }()
	require.NoError(t, socket.StampArrivals(receiver))
	sender, err := net.Dial("udp", receiver.LocalAddr().String())
	require.NoError(t, err)
	defer func() { _ = sender.Close() }()
	require.NoError(t, receiver.SetReadDeadline(time.Now().Add(10*time.Second)))
	const held = 50 * time.Millisecond
	buffer := make([]byte, 100)
	var waited time.Duration
	// The kernel begins to stamp a moment after it is asked (net_enable_timestamp in net/core/dev.c leaves it to a work
	// queue); what comes before is stamped when it is read.
	for range 20 {
		_, err = sender.Write([]byte("datagram"))
		require.NoError(t, err)
		time.Sleep(held)
		var n int
		var from netip.AddrPort
		n, from, waited, err = socket.ReadStamped(receiver, buffer)
		require.NoError(t, err)
		require.Equal(t, "datagram", string(buffer[:n]))
		require.Equal(t, sender.LocalAddr().String(), from.String())
		if waited >= held {
			break
		}
	}
	require.GreaterOrEqual(t, waited, held)
}
