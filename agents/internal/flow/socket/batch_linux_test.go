package socket_test

import (
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/flow/socket"
)

func listenUDP(t *testing.T, host string) (*net.UDPConn, *socket.Batch) {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.ParseIP(host)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	batch, err := socket.NewBatch(conn)
	require.NoError(t, err)
	return conn, batch
}

// TestBatchesBringEachDatagramInOrder: datagrams of changing sizes to two sockets, of either family.
func TestBatchesBringEachDatagramInOrder(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "::1"} {
		from, out := listenUDP(t, host)
		var sent [2][]string
		var to [2]*net.UDPConn
		var in [2]*socket.Batch
		for i := range to {
			to[i], in[i] = listenUDP(t, host)
		}
		addresses := [2]*net.UDPAddr{to[0].LocalAddr().(*net.UDPAddr), to[1].LocalAddr().(*net.UDPAddr)}
		for i := range 300 {
			size := 1400
			if i%7 == 0 {
				size = 60 + i
			}
			datagram := fmt.Appendf(nil, "%0*d", size, i)
			out.Add(addresses[i%2], datagram)
			sent[i%2] = append(sent[i%2], string(datagram))
		}
		require.NoError(t, out.Flush())
		for i := range to {
			var came []string
			for len(came) < len(sent[i]) {
				require.NoError(t, to[i].SetReadDeadline(time.Now().Add(10*time.Second)))
				require.NoError(t, in[i].Wait())
				in[i].Each(func(source netip.AddrPort, datagram []byte, waited time.Duration) {
					require.Less(t, waited, time.Second)
					require.Equal(t, from.LocalAddr().(*net.UDPAddr).Port, int(source.Port()))
					came = append(came, string(datagram))
				})
			}
			require.Equal(t, sent[i], came)
		}
	}
}

// TestABatchSaysHowLongItsReaderWasBusy: the socket is read late on purpose.
func TestABatchSaysHowLongItsReaderWasBusy(t *testing.T) {
	to, in := listenUDP(t, "127.0.0.1")
	from, _ := listenUDP(t, "127.0.0.1")
	const busy = 50 * time.Millisecond
	held := time.Duration(0)
	for range 20 { // a host's first such socket may get its first datagrams without a moment
		_, err := from.WriteToUDP([]byte("x"), to.LocalAddr().(*net.UDPAddr))
		require.NoError(t, err)
		time.Sleep(busy)
		require.NoError(t, in.Wait())
		in.Each(func(_ netip.AddrPort, _ []byte, waited time.Duration) { held = waited })
		if held >= busy-time.Millisecond {
			break
		}
	}
	require.GreaterOrEqual(t, held, busy-time.Millisecond)
}

func TestABatchWaitsUntilItsDeadline(t *testing.T) {
	conn, batch := listenUDP(t, "127.0.0.1")
	require.NoError(t, conn.SetReadDeadline(time.Now()))
	require.Error(t, batch.Wait())
	batch.Each(func(netip.AddrPort, []byte, time.Duration) { t.Fatal("nothing came") })
}
