package intcpsocket_test

import (
	"bytes"
	"encoding/binary"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/flow/transfer"
	"downlink/agents/internal/intcp"
	"downlink/agents/internal/intcp/intcpsocket"
	"downlink/agents/internal/testing/hosttest"
)

const (
	kindData  = 5
	headBytes = 52 // of a DATA
)

// meddler is on the way between two neighbours: what it makes of each datagram goes on.
type meddler struct {
	near, far *net.UDPConn // for who asks, and towards who is asked
	asker     atomic.Pointer[netip.AddrPort]
	upstream  atomic.Pointer[netip.AddrPort]
}

func between(t *testing.T, upstream netip.AddrPort, meddle func(datagram []byte, isDown bool) [][]byte) netip.AddrPort {
	return newMeddler(t, upstream, meddle).address(t)
}

func (m *meddler) address(t *testing.T) netip.AddrPort {
	address, err := netip.ParseAddrPort(m.near.LocalAddr().String())
	require.NoError(t, err)
	return address
}

func newMeddler(t *testing.T, upstream netip.AddrPort, meddle func(datagram []byte, isDown bool) [][]byte) *meddler {
	listen := func() *net.UDPConn {
		conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		require.NoError(t, err)
		require.NoError(t, conn.SetReadBuffer(4<<20))
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	m := &meddler{near: listen(), far: listen()}
	m.upstream.Store(&upstream)
	pass := func(in *net.UDPConn, isDown bool) {
		buffer := make([]byte, 2048)
		for {
			n, from, err := in.ReadFromUDPAddrPort(buffer)
			if err != nil {
				return // the test is over
			}
			for _, d := range meddle(bytes.Clone(buffer[:n]), isDown) {
				if to := m.asker.Load(); isDown && to != nil {
					_, _ = m.near.WriteToUDPAddrPort(d, *to)
				} else if !isDown {
					m.asker.Store(&from)
					_, _ = m.far.WriteToUDPAddrPort(d, *m.upstream.Load())
				}
			}
		}
	}
	go pass(m.near, false)
	go pass(m.far, true)
	return m
}

func requireWhole(t *testing.T, c *chain) {
	t.Helper()
	results, errs := c.carry(t)
	for i, result := range results {
		require.NoError(t, errs[i])
		require.Equal(t, transfer.EndedStopRule, result.Ended, "%d: %s", i, result.Detail)
	}
	require.EqualValues(t, c.length, c.counts[len(c.counts)-1].Load())
}

// TestPoisonAtASocketIsNotKept: forged data come before the right ones, over real sockets, and neither the relay's cache nor
// the receiver takes a byte of them.
func TestPoisonAtASocketIsNotKept(t *testing.T) {
	c := newChain(t, 1, transfer.Stop{Bytes: 500_000})
	address := between(t, c.homes[0].Local(), func(d []byte, isDown bool) [][]byte {
		if !isDown || d[1] != kindData || len(d) <= headBytes {
			return [][]byte{d}
		}
		forged := bytes.Clone(d)
		forged[10]++ // a later sequence
		for i := headBytes; i < len(forged); i++ {
			forged[i] ^= 0xee
		}
		return [][]byte{forged, d}
	})
	require.NoError(t, c.homes[1].Ask(hop(1, address)))
	requireWhole(t, c)
	c.homes[1].Do(func(_ time.Duration, node *intcp.Node) {
		require.Greater(t, node.HopCounts(testRun).Forged, uint64(300))
	})
}

// TestReplaysAtASocketAreDropped: everything comes three times, in both directions, and counts once.
func TestReplaysAtASocketAreDropped(t *testing.T) {
	c := newChain(t, 1, transfer.Stop{Bytes: 500_000})
	address := between(t, c.homes[0].Local(), func(d []byte, _ bool) [][]byte { return [][]byte{d, d, d} })
	require.NoError(t, c.homes[1].Ask(hop(1, address)))
	requireWhole(t, c)
	c.homes[1].Do(func(_ time.Duration, node *intcp.Node) {
		require.Greater(t, node.HopCounts(testRun).Replayed, uint64(300))
	})
	c.homes[0].Do(func(now time.Duration, node *intcp.Node) {
		require.NotZero(t, node.Counts().Replayed)
		look := node.Look(now, testRun, testContent.Name)
		// On a busy machine some are asked for again after a timeout. Answers to each replay would be 1,500,000 bytes.
		require.Less(t, look.PassedBytes, uint64(1_000_000), "no interest was answered twice")
	})
}

// TestAFloodOfStrangersLeavesARunItsRate: strangers send OPENs as fast as they can while messages come at their rate.
func TestAFloodOfStrangersLeavesARunItsRate(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates")
	arrived := func(isFlooded bool) (bytes int64, strangers uint64) {
		c := newChain(t, 1, transfer.Stop{After: time.Second})
		c.offer = &transfer.Offer{MessageBytes: 1400, Every: time.Millisecond}
		conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(c.homes[1].Local()))
		require.NoError(t, err)
		defer func() { _ = conn.Close() }()
		over := make(chan struct{})
		if isFlooded {
			go flood(conn, over)
		}
		results, errs := c.carry(t)
		close(over)
		for i, result := range results {
			require.NoError(t, errs[i])
			require.Equal(t, transfer.EndedStopRule, result.Ended, "%d: %s", i, result.Detail)
		}
		c.homes[1].Do(func(_ time.Duration, node *intcp.Node) { strangers = node.Counts().Strangers })
		return c.counts[2].Load(), strangers
	}
	alone, none := arrived(false)
	flooded, strangers := arrived(true)
	t.Logf("%d bytes alone, %d beside %d strangers", alone, flooded, strangers)
	require.Zero(t, none)
	require.Greater(t, strangers, uint64(5000))
	require.GreaterOrEqual(t, float64(flooded), 0.95*float64(alone))
}

// flood sends up to a hundred OPENs each millisecond until it is over.
func flood(conn *net.UDPConn, over <-chan struct{}) {
	open := strangersOpen()
	for ticker := time.NewTicker(time.Millisecond); ; {
		select {
		case <-over:
			return
		case <-ticker.C:
			for range 100 {
				_, _ = conn.Write(open) // what finds no room is lost
			}
		}
	}
}

// TestAWrongByteBetweenRelaysIsNamed: a byte that changes on the hop between two relays passes both, as tags leave payloads out.
// The receiver notices it in that unit, and names the hop whose tags held: its own.
func TestAWrongByteBetweenRelaysIsNamed(t *testing.T) {
	const wrongUnit = 7
	c := newChain(t, 2, transfer.Stop{Bytes: 500_000})
	address := between(t, c.homes[1].Local(), func(d []byte, isDown bool) [][]byte {
		const offsetAt = 16
		if isDown && d[1] == kindData && len(d) > headBytes && binary.BigEndian.Uint64(d[offsetAt:]) == wrongUnit*intcp.MaxUnitBytes {
			d[headBytes+100] ^= 1
		}
		return [][]byte{d}
	})
	require.NoError(t, c.homes[2].Ask(hop(2, address)))
	receiver := intcpsocket.NewReceiver(c.plan(3))
	c.instead = map[int]transfer.Carrier{3: receiver}
	results, errs := c.carry(t)
	for i, result := range results {
		require.NoError(t, errs[i])
		if i < 3 {
			require.Contains(t, []transfer.Ended{transfer.EndedPeerClosed, transfer.EndedStopRule}, result.Ended, "%d: %s", i, result.Detail)
		}
	}
	require.Equal(t, intcpsocket.EndedContentWrong, results[3].Ended, results[3].Detail)
	require.Equal(t, &intcp.Wrong{Offset: wrongUnit * intcp.MaxUnitBytes, Hop: 3}, receiver.Wrong())
	require.Contains(t, results[3].Detail, "byte 9800")
	require.Contains(t, results[3].Detail, "hop 3")
	require.LessOrEqual(t, c.counts[3].Load(), int64(wrongUnit*intcp.MaxUnitBytes), "what comes after it is not counted")
}

// TestARelayThatBeginsAnewInMidRun has lost its cache, its flows and its salt. Its neighbours find out by themselves, and the
// object comes whole.
func TestARelayThatBeginsAnewInMidRun(t *testing.T) {
	c := newChain(t, 1, transfer.Stop{Bytes: 3_000_000})
	var isAway atomic.Bool
	const last = "what it said is behind us"
	silent := make(chan struct{}, 2)
	pass := func(d []byte, _ bool) [][]byte {
		if isAway.Load() {
			if string(d) == last {
				silent <- struct{}{}
			}
			return nil // a process that is killed takes no leave
		}
		return [][]byte{d}
	}
	above, below := newMeddler(t, c.homes[0].Local(), pass), newMeddler(t, c.homes[1].Local(), pass)
	awaitSilence := func(doors ...*net.UDPConn) {
		for _, door := range doors {
			_, _ = door.WriteTo([]byte(last), door.LocalAddr())
		}
		for range doors {
			<-silent
		}
	}
	require.NoError(t, c.homes[1].Ask(hop(1, above.address(t))))
	require.NoError(t, c.homes[2].Ask(hop(2, below.address(t))))
	c.offer = &transfer.Offer{MessageBytes: 14_000, Every: 5 * time.Millisecond} // 22 Mb/s
	restarted := make(chan *intcpsocket.Home, 1)
	go func() {
		for c.counts[2].Load() < 500_000 {
			time.Sleep(time.Millisecond)
		}
		isAway.Store(true)
		_ = c.homes[1].Close()
		awaitSilence(above.near, below.far)
		again, err := intcpsocket.Open(intcpsocket.Plan{
			Run: testRun, Options: intcp.DefaultOptions(), Policy: intcp.DefaultPolicy(), Asks: true, Address: "127.0.0.1:0",
			Serves: []intcp.Hop{hop(2, netip.AddrPort{})},
		})
		if err == nil {
			local := again.Local()
			below.upstream.Store(&local)
			isAway.Store(false)
			_ = again.Ask(hop(1, above.address(t)))
		}
		restarted <- again
	}()
	results, errs := c.carry(t, 1)
	again := <-restarted
	require.NotNil(t, again)
	t.Cleanup(func() { _ = again.Close() })
	for _, i := range []int{0, 2} {
		require.NoError(t, errs[i])
		require.Equal(t, transfer.EndedStopRule, results[i].Ended, "%d: %s", i, results[i].Detail)
		require.EqualValues(t, c.length, c.counts[i].Load())
	}
	look, _ := again.Look(c.content())
	require.Greater(t, look.PassedBytes, uint64(1_000_000), "what came after it went over the new node")
	require.Less(t, look.PassedBytes, c.length, "and what came before did not")
}
