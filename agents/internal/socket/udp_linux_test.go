package socket_test

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/socket"
)

func TestADatagramsTimeInTheSocketIsKnown(t *testing.T) {
	receiver, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	defer func() { _ = receiver.Close() }()
	require.NoError(t, socket.StampArrivals(receiver))
	sender, err := net.Dial("udp", receiver.LocalAddr().String())
	require.NoError(t, err)
	defer func() { _ = sender.Close() }()
	_, err = sender.Write([]byte("datagram"))
	require.NoError(t, err)
	const held = 50 * time.Millisecond
	time.Sleep(held)
	buffer := make([]byte, 100)
	require.NoError(t, receiver.SetReadDeadline(time.Now().Add(10*time.Second)))
	n, from, waited, err := socket.ReadStamped(receiver, buffer)
	require.NoError(t, err)
	require.Equal(t, "datagram", string(buffer[:n]))
	require.Equal(t, sender.LocalAddr().String(), from.String())
	require.GreaterOrEqual(t, waited, held)
}
