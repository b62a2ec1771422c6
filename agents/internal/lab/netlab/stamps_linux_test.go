package netlab

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/flow/delivery"
	"downlink/agents/internal/flow/socket"
	"downlink/agents/internal/testing/hosttest"
)

// TestABulkFlowHasADepartureForEachBufferOfItsBlocks fills the socket of a slow link, so that the kernel takes writes in parts.
func TestABulkFlowHasADepartureForEachBufferOfItsBlocks(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	const blocks, mostBuffer = 300, 64 << 10
	lab := startLab(t, Options{Name: testName("stamps"), Profile: terrestrial(t), Senders: 1})
	hosts := lab.Hosts()
	ends, failed := make(chan int64, blocks), make(chan error, 1)
	address := serveOnce(t, hosts["sender-1"].Namespace, hosts["sender-1"].DataHost, func(conn net.Conn) {
		failed <- sendBlocks(conn.(*net.TCPConn), blocks, ends)
		close(ends)
	})
	_, err := io.Copy(io.Discard, dialFrom(t, hosts[Receiver].Namespace, address))
	require.NoError(t, err)
	require.NoError(t, <-failed)
	before := int64(0)
	for end := range ends {
		require.Zero(t, end%delivery.BlockBytes, "the stamp is of a block's last byte")
		require.LessOrEqual(t, end-before, int64(mostBuffer+delivery.BlockBytes), "each buffer has one")
		before = end
	}
	require.EqualValues(t, blocks*delivery.BlockBytes, before)
}

// sendBlocks tells the end of each write of which the kernel said when it left.
func sendBlocks(conn *net.TCPConn, blocks int, ends chan<- int64) error {
	stamped, err := socket.Stamp(conn)
	if err != nil {
		return err
	}
	part, last := make([]byte, delivery.BlockBytes), int64(0)
	fetch := func() error {
		return stamped.Departures(func(number uint32, _ time.Time) {
			if end := int64(number) + 1; end > last { // a repeated number is a retransmission's
				last = end
				ends <- end
			}
		})
	}
	for range blocks {
		if _, err := stamped.Write(part); err != nil {
			return err
		}
		if err := fetch(); err != nil {
			return err
		}
	}
	for until := time.Now().Add(10 * time.Second); last < int64(blocks*delivery.BlockBytes) &&
		time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		if err := fetch(); err != nil {
			return err
		}
	}
	return nil
}
