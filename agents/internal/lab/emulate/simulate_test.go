package emulate

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// arrival is a packet to come, for a simulation.
type arrival struct {
	at        time.Duration
	sizeBytes int
}

// departure is what became of the packet that came as number index.
type departure struct {
	index int
	at    time.Duration
	lost  Cause
}

// simulate sends arrivals through a line in virtual time: it goes from event to event until nothing is left to happen.
// At each step it checks that no packet vanished or appeared.
func simulate(t require.TestingT, line *Line, arrivals []arrival) (fates []departure) {
	packets := make(map[*Packet]int)
	var out []*Packet
	wake := Never
	step := func(now time.Duration, in *Packet) {
		out, wake = line.Step(now, in, out[:0])
		for _, p := range out {
			fates = append(fates, departure{packets[p], p.LeftAt, p.Lost})
			delete(packets, p)
		}
		requireConserved(t, line.Counts())
	}
	for i := range arrivals {
		p := &Packet{SizeBytes: arrivals[i].sizeBytes}
		packets[p] = i
		for wake < arrivals[i].at {
			step(wake, nil)
		}
		step(arrivals[i].at, p)
	}
	for wake != Never {
		step(wake, nil)
	}
	return fates
}

// requireConserved states: received = delivered + dropped + queued.
func requireConserved(t require.TestingT, c Counts) {
	sum := c.Delivered + uint64(c.Queued)
	for _, lost := range c.Lost {
		sum += lost
	}
	if sum != c.Received { // checked millions of times: cheaper than an assertion
		require.Failf(t, "packets vanished or appeared", "%v", c)
	}
}

// every makes n arrivals of one size, evenly spaced.
func every(spacing time.Duration, n, sizeBytes int) []arrival {
	arrivals := make([]arrival, n)
	for i := range arrivals {
		arrivals[i] = arrival{time.Duration(i) * spacing, sizeBytes}
	}
	return arrivals
}

func delivered(fates []departure) []departure {
	return slices.DeleteFunc(slices.Clone(fates), func(d departure) bool { return d.lost != NotLost })
}

func countLost(fates []departure, cause Cause) (n int) {
	for _, d := range fates {
		if d.lost == cause {
			n++
		}
	}
	return n
}

func mustLoad(t testing.TB, name string) Profile {
	t.Helper()
	profile, err := LoadProfile(name)
	require.NoError(t, err)
	return profile
}

// down is the line to the receiver of a new network.
func down(profile Profile, seed uint64) *Line { return New(profile, seed).Line(Gateway, Receiver) }

func TestANetworkKnowsItsWaysAndNoOthers(t *testing.T) {
	network := New(sound(), 1)
	require.NotSame(t, network.Line(Gateway, Receiver), network.Line(Receiver, Gateway))
	for _, way := range network {
		require.Same(t, way.Line, network.Line(way.From, way.To))
	}
	require.Nil(t, network.Line(Gateway, Gateway))
	require.Nil(t, network.Line(Receiver, "hop"))
}

// shifted are arrivals so much later.
func shifted(arrivals []arrival, by time.Duration) []arrival {
	later := make([]arrival, len(arrivals))
	for i, a := range arrivals {
		later[i] = arrival{a.at + by, a.sizeBytes}
	}
	return later
}
