package intcpsocket_test

import (
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/flow/socket"
	"downlink/agents/internal/flow/transfer"
	"downlink/agents/internal/testing/hosttest"
	"net/netip"
)

var benchTime = hosttest.Size(3*time.Second, 200*time.Millisecond)

// processTime is what this process has used of the machine's processors.
func processTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// perCore is what so many bytes in so much of a processor's time are, in Gb/s.
func perCore(bytes int64, used time.Duration) float64 {
	return float64(bytes) * 8 / used.Seconds() / 1e9
}

// BenchmarkOverLoopback carries data over one relay from socket to socket: INTCP with both of its ends, bare datagrams with
// a node that only passes them on, and the kernel's TCP through a relay that copies. All three places are this process.
func BenchmarkOverLoopback(b *testing.B) {
	for b.Loop() {
		ours, bare, tcp := benchINTCP(b, 1), benchBare(b), benchTCP(b)
		hosttest.Row{
			Name: "INTCP over a relay, three places", Value: ours, Unit: "Gb/s per core", Goal: ">= 0.67",
			Remark: fmt.Sprintf("loopback sockets; bare datagrams %.2f, TCP %.2f Gb/s per core in the same run", bare, tcp),
		}.Print()
	}
}

// BenchmarkAgainstQUIC carries data from end to end, without a relay, by INTCP and by quic-go: both are programs of Go that
// encrypt or tag each datagram.
func BenchmarkAgainstQUIC(b *testing.B) {
	for b.Loop() {
		ours, theirs, kernel := benchINTCP(b, 0), benchQUIC(b), benchKernel(b)
		hosttest.Row{
			Name: "INTCP against quic-go, both ends", Value: ours / theirs, Unit: "ratio", Goal: ">= 1.5",
			Remark: fmt.Sprintf("bytes for each second of a processor: %.2f and %.2f Gb/s per core; "+
				"the kernel's TCP, unencrypted, %.2f in the same run", ours, theirs, kernel),
		}.Print()
	}
}

func benchINTCP(b *testing.B, relays int) float64 {
	b.Helper()
	c := newChain(b, relays, transfer.Stop{After: benchTime})
	before := processTime()
	_, errs := c.carry(b)
	for _, err := range errs {
		require.NoError(b, err)
	}
	return perCore(c.counts[relays+1].Load(), processTime()-before)
}

// benchBare sends batches of 1,400 bytes to a node that passes them on to a third.
func benchBare(b *testing.B) float64 {
	b.Helper()
	open := func() (*net.UDPConn, *socket.Batch) {
		conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		require.NoError(b, err)
		batch, err := socket.NewBatch(conn)
		require.NoError(b, err)
		return conn, batch
	}
	_, out := open()
	middle, pass := open()
	last, in := open()
	middleAddress, lastAddress := middle.LocalAddr().(*net.UDPAddr), last.LocalAddr().(*net.UDPAddr)
	before, until := processTime(), time.Now().Add(benchTime)
	for _, conn := range []*net.UDPConn{middle, last} {
		require.NoError(b, conn.SetReadDeadline(until))
	}
	var all sync.WaitGroup
	var came int64
	all.Go(func() {
		for pass.Wait() == nil {
			pass.Each(func(_ netip.AddrPort, d []byte, _ time.Duration) { pass.Add(lastAddress, d) })
			_ = pass.Flush()
		}
	})
	all.Go(func() {
		for in.Wait() == nil {
			in.Each(func(_ netip.AddrPort, d []byte, _ time.Duration) { came += int64(len(d)) })
		}
	})
	datagram := make([]byte, 1400)
	for time.Now().Before(until) {
		for range 88 {
			out.Add(middleAddress, datagram)
		}
		require.NoError(b, out.Flush())
	}
	all.Wait()
	return perCore(came, processTime()-before)
}

func benchTCP(b *testing.B) float64 {
	b.Helper()
	upOut, upIn := hosttest.Connect(b)
	downOut, downIn := hosttest.Connect(b)
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() {
		_, _ = io.CopyBuffer(struct{ io.Writer }{downOut}, struct{ io.Reader }{upIn}, make([]byte, 128<<10))
		_ = downOut.CloseWrite()
	})
	return benchStream(b, upOut, downIn)
}

// benchKernel is TCP from end to end.
func benchKernel(b *testing.B) float64 {
	b.Helper()
	out, in := hosttest.Connect(b)
	return benchStream(b, out, in)
}

func benchStream(b *testing.B, upOut, downIn *net.TCPConn) float64 {
	b.Helper()
	before, until := processTime(), time.Now().Add(benchTime)
	var all sync.WaitGroup
	var came int64
	all.Go(func() { came, _ = io.Copy(io.Discard, downIn) })
	buffer := make([]byte, 128<<10)
	for time.Now().Before(until) {
		_, err := upOut.Write(buffer)
		require.NoError(b, err)
	}
	require.NoError(b, upOut.CloseWrite())
	all.Wait()
	return perCore(came, processTime()-before)
}
