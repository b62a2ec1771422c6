package emulate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A caller that comes when it was asked to is in time for every packet, whatever the line is made of.
func TestWhoComesWhenAskedHandsEveryPacketOnInTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := anyDirection(t).line(seeds{rapid.Uint64().Draw(t, "seed"), 0})
		var wake = Never
		step := func(now time.Duration, in *Packet) {
			var out []*Packet
			out, wake = line.Step(now, in, nil)
			for _, p := range out {
				require.True(t, p.Lost != NotLost || p.LeftAt == now, "a packet that left at %v is handed on at %v", p.LeftAt, now)
			}
		}
		for _, next := range anyArrivals(t) {
			for wake < next.at {
				step(wake, nil)
			}
			step(next.at, &Packet{SizeBytes: next.sizeBytes})
		}
		for wake != Never {
			step(wake, nil)
		}
	})
}

func TestWhatHappensInsideALineWakesNobody(t *testing.T) {
	line := NewLine(&bottleneck{rate: constantRate(12e6), rule: queueOf(1e9)}, &delay{base: 250500 * time.Microsecond})
	wakes := 0
	var wake time.Duration
	for range 100 {
		_, wake = line.Step(0, &Packet{SizeBytes: 1500}, nil)
	}
	require.Equal(t, 251500*time.Microsecond, wake, "1 ms of transmission, then the delay")
	for ; wake != Never; wakes++ {
		_, wake = line.Step(wake, nil, nil)
	}
	require.Equal(t, 100, wakes, "one for each packet")
}
