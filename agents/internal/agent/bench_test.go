package agent_test

import (
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/server/protocol"
	"downlink/agents/internal/testing/hosttest"
)

var satelliteRTT = hosttest.Size(600*time.Millisecond, 60*time.Millisecond)

const (
	benchChunks = 16
	// benchBytes is a chunk of per-ACK records, packed.
	benchBytes = 100 << 10
)

// farAway relays connections to a server as a link of so much delay would, whose rate is no limit: what is measured is
// how often somebody waits for an answer. Setting a connection up takes a round trip too.
func farAway(b *testing.B, server string, rtt time.Duration) (address string) {
	b.Helper()
	target, err := url.Parse(server)
	require.NoError(b, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	b.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", target.Host)
			if err != nil {
				return
			}
			setUp := time.Now().Add(rtt)
			go relay(near, far, setUp, rtt/2)
			go relay(far, near, setUp, rtt/2)
		}
	}()
	return "http://" + listener.Addr().String()
}

type parcel struct {
	due     time.Time
	content []byte
}

// relay delivers everything a while after it came, and not before the connection counts as set up.
func relay(from, to net.Conn, setUp time.Time, delay time.Duration) {
	parcels := make(chan parcel, 10_000)
	go func() {
		defer func() { _ = to.Close() }()
		for p := range parcels {
			time.Sleep(time.Until(p.due))
			_, _ = to.Write(p.content)
		}
	}()
	defer close(parcels)
	for {
		content := make([]byte, 64<<10)
		n, err := from.Read(content)
		came := time.Now()
		if came.Before(setUp) {
			came = setUp
		}
		if n > 0 {
			parcels <- parcel{due: came.Add(delay), content: content[:n]}
		}
		if err != nil {
			return
		}
	}
}

// BenchmarkUploadOverASatellite counts the round trips from the order to upload until the last chunk is acknowledged.
func BenchmarkUploadOverASatellite(b *testing.B) {
	for b.Loop() {
		hosttest.Row{
			Name: "upload of 16 chunks over 600 ms", Value: roundTrips(b, storeAll), Unit: "round trips", Goal: "<= 3",
			Remark: "bundled; connections set up meanwhile count",
		}.Print()
		hosttest.Row{
			Name: "the same to a server without bundles", Value: roundTrips(b, nil), Unit: "round trips", Remark: "four requests at a time",
		}.Print()
	}
}

// roundTrips is between two moments at the server, each half a round trip from its twin at the agent.
func roundTrips(b *testing.B, judge func(*protocol.ChunkAnswer)) float64 {
	b.Helper()
	c := newCollector(b)
	c.judge = judge
	state := holding(b, farAway(b, c.URL, satelliteRTT), 0)
	fill(b, state, benchChunks, benchBytes)
	stop := serving(b, state)
	defer stop()
	c.await(b, "every chunk", func() bool { return len(c.stored) == benchChunks })
	return c.storedAt.Sub(c.orderedAt).Seconds() / satelliteRTT.Seconds()
}
