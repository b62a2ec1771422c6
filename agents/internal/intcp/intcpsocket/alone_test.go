package intcpsocket_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/flow/socket"
	"downlink/agents/internal/intcp"
	"downlink/agents/internal/intcp/intcpsocket"
	"downlink/agents/internal/testing/hosttest"
)

// middleEnv makes this test binary the middle of a way instead of running tests: what it costs alone is a process's time.
const middleEnv = "INTCPSOCKET_TEST_MIDDLE"

// mostFlying is how much of bare datagrams is on its way, so that little is lost.
const mostFlying = 1 << 20

// middleOrder says what the middle is like, and its neighbour: the one that it asks, or to which it passes on.
type middleOrder struct{ Kind, Neighbour string }

func TestMain(m *testing.M) {
	if text := os.Getenv(middleEnv); text != "" {
		if err := beMiddle(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// beMiddle says where it is, and answers each line with the processor's time that it has used until its input ends.
func beMiddle(text string) error {
	var order middleOrder
	if err := json.Unmarshal([]byte(text), &order); err != nil {
		return err
	}
	neighbour, err := netip.ParseAddrPort(order.Neighbour)
	if err != nil {
		return err
	}
	begin := map[string]func(netip.AddrPort) (string, error){"intcp": relayINTCP, "bare": passOn, "tcp": splice}[order.Kind]
	address, err := begin(neighbour)
	if err != nil {
		return err
	}
	fmt.Println(address)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(processTime().Nanoseconds())
	}
	return nil
}

func relayINTCP(upstream netip.AddrPort) (string, error) {
	home, err := intcpsocket.Open(intcpsocket.Plan{
		Address: "127.0.0.1:0", Run: testRun, Options: intcp.DefaultOptions(), Policy: intcp.DefaultPolicy(),
		Serves: []intcp.Hop{hop(2, netip.AddrPort{})}, Asks: true,
	})
	if err != nil {
		return "", err
	}
	return home.Local().String(), home.Ask(hop(1, upstream))
}

func openBatch() (*net.UDPConn, *socket.Batch, error) {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, nil, err
	}
	batch, err := socket.NewBatch(conn)
	return conn, batch, err
}

func passOn(to netip.AddrPort) (string, error) {
	conn, batch, err := openBatch()
	if err != nil {
		return "", err
	}
	address := net.UDPAddrFromAddrPort(to)
	go func() {
		for batch.Wait() == nil {
			batch.Each(func(_ netip.AddrPort, d []byte, _ time.Duration) { batch.Add(address, d) })
			_ = batch.Flush()
		}
	}()
	return conn.LocalAddr().String(), nil
}

// splice joins two connections within the kernel.
func splice(to netip.AddrPort) (string, error) {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return "", err
	}
	down, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(to))
	if err != nil {
		return "", err
	}
	go func() {
		if up, err := listener.AcceptTCP(); err == nil {
			_, _ = io.Copy(down, up)
		}
		_ = down.CloseWrite()
	}()
	return listener.Addr().String(), nil
}

// middle is such a process.
type middle struct {
	b       testing.TB
	in      io.WriteCloser
	out     *bufio.Reader
	address netip.AddrPort
	command *exec.Cmd
}

func startMiddle(b testing.TB, order middleOrder) *middle {
	b.Helper()
	text, err := json.Marshal(order)
	require.NoError(b, err)
	command := exec.Command(os.Args[0])
	command.Env, command.Stderr = append(os.Environ(), middleEnv+"="+string(text)), os.Stderr
	in, err := command.StdinPipe()
	require.NoError(b, err)
	out, err := command.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, command.Start())
	m := &middle{b: b, in: in, out: bufio.NewReader(out), command: command}
	var address string
	_, err = fmt.Fscanln(m.out, &address)
	require.NoError(b, err)
	m.address, err = netip.ParseAddrPort(address)
	require.NoError(b, err)
	return m
}

// used is the processor's time that it has used.
func (m *middle) used() time.Duration {
	_, err := io.WriteString(m.in, "\n")
	require.NoError(m.b, err)
	var ns int64
	_, err = fmt.Fscanln(m.out, &ns)
	require.NoError(m.b, err)
	return time.Duration(ns)
}

func (m *middle) end() {
	require.NoError(m.b, m.in.Close())
	require.NoError(m.b, m.command.Wait())
}

// over is what the middle carries for each second of a processor, in Gb/s, once it is at work. came is what has come behind it.
func (m *middle) over(came func() int64) float64 {
	time.Sleep(500 * time.Millisecond)
	used, bytes := m.used(), came()
	time.Sleep(benchTime)
	return perCore(came()-bytes, m.used()-used)
}

// BenchmarkRelayAlone is what the process of a relay takes, beside one that passes bare datagrams on and one that splices TCP.
func BenchmarkRelayAlone(b *testing.B) {
	for b.Loop() {
		conn, batch, err := openBatch()
		require.NoError(b, err)
		require.NoError(b, conn.Close())
		ours, bare, tcp := aloneINTCP(b), aloneBare(b), aloneTCP(b)
		goal, joined := ">= 2", "no joined datagrams (GSO, GRO)"
		if batch.JoinsDatagrams() {
			goal, joined = ">= 4", "joined datagrams (GSO, GRO)"
		}
		hosttest.Row{
			Name: "INTCP relay, its process alone", Value: ours, Unit: "Gb/s per core", Goal: goal,
			Remark: fmt.Sprintf("between loopback sockets, %s; bare datagrams passed on %.2f, spliced TCP %.2f Gb/s per core in the same run",
				joined, bare, tcp),
		}.Print()
	}
}

func aloneINTCP(b *testing.B) float64 {
	b.Helper()
	open := func(plan intcpsocket.Plan) *intcpsocket.Home {
		plan.Run, plan.Options, plan.Policy = testRun, intcp.DefaultOptions(), intcp.DefaultPolicy()
		home, err := intcpsocket.Open(plan)
		require.NoError(b, err)
		return home
	}
	sender := open(intcpsocket.Plan{Address: "127.0.0.1:0", Serves: []intcp.Hop{hop(1, netip.AddrPort{})}})
	receiver := open(intcpsocket.Plan{Asks: true})
	relay := startMiddle(b, middleOrder{"intcp", sender.Local().String()})
	require.NoError(b, sender.Publish(testContent, intcp.Stream{Seed: 5}))
	require.NoError(b, receiver.Ask(hop(2, relay.address)))
	require.Eventually(b, receiver.IsMet, 5*time.Second, time.Millisecond)
	sender.Do(func(_ time.Duration, node *intcp.Node) { node.Offer(testRun, testContent.Name, testContent.Length) })
	var consumer *intcp.Consumer
	receiver.Do(func(now time.Duration, node *intcp.Node) {
		var err error
		consumer, err = node.Consume(now, testContent, intcp.Stream{Seed: 5})
		require.NoError(b, err)
	})
	found := relay.over(func() (came int64) {
		receiver.Do(func(time.Duration, *intcp.Node) { came = int64(consumer.Counts().InOrderBytes) })
		return came
	})
	require.NoError(b, receiver.Close())
	require.NoError(b, sender.Close())
	relay.end()
	return found
}

func aloneBare(b *testing.B) float64 {
	b.Helper()
	last, in, err := openBatch()
	require.NoError(b, err)
	relay := startMiddle(b, middleOrder{"bare", last.LocalAddr().String()})
	var came atomic.Int64
	var all sync.WaitGroup
	all.Go(func() {
		for in.Wait() == nil {
			in.Each(func(_ netip.AddrPort, d []byte, _ time.Duration) { came.Add(int64(len(d))) })
		}
	})
	first, out, err := openBatch()
	require.NoError(b, err)
	var isOver atomic.Bool
	all.Go(func() {
		to, datagram, sent, waits := net.UDPAddrFromAddrPort(relay.address), make([]byte, intcp.MaxUnitBytes), int64(0), 0
		for !isOver.Load() {
			if sent-came.Load() > mostFlying {
				time.Sleep(50 * time.Microsecond)
				if waits++; waits == 200 { // the rest is lost
					sent, waits = came.Load(), 0
				}
				continue
			}
			for range 88 {
				out.Add(to, datagram)
			}
			_ = out.Flush()
			sent, waits = sent+88*intcp.MaxUnitBytes, 0
		}
	})
	found := relay.over(came.Load)
	isOver.Store(true)
	require.NoError(b, last.Close())
	all.Wait()
	require.NoError(b, first.Close())
	relay.end()
	return found
}

func aloneTCP(b *testing.B) float64 {
	b.Helper()
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(b, err)
	relay := startMiddle(b, middleOrder{"tcp", listener.Addr().String()})
	down, err := listener.AcceptTCP()
	require.NoError(b, err)
	up, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(relay.address))
	require.NoError(b, err)
	var came atomic.Int64
	var all sync.WaitGroup
	all.Go(func() {
		buffer := make([]byte, 128<<10)
		for n, err := down.Read(buffer); err == nil; n, err = down.Read(buffer) {
			came.Add(int64(n))
		}
	})
	all.Go(func() {
		for buffer := make([]byte, 128<<10); ; {
			if _, err := up.Write(buffer); err != nil {
				return
			}
		}
	})
	found := relay.over(came.Load)
	relay.end()
	require.NoError(b, up.Close())
	all.Wait()
	require.NoError(b, errors.Join(down.Close(), listener.Close()))
	return found
}
