package emulate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestALookSaysWhatTheLineIsAboutToDo(t *testing.T) {
	d := Direction{
		Rate: Rate{Steps: &RateSteps{PeriodS: 1, LowBps: 1e6, HighBps: 2e6}}, Queue: Queue{LimitBytes: 1e6},
		Gap: &Gap{EveryS: 1, OffsetS: 0.5, LengthMs: 100}, Loss: Loss{Outages: &Outages{MeanLengthMs: 10, MeanSpacingS: 0.1}},
		Delay: Delay{BaseMs: 20, Variations: []Variation{{HoldMs: 50, Uniform: &UniformMs{0, 10}}}},
	}
	line := d.line(seeds{3, 0})
	for range 100 {
		line.Step(0, &Packet{SizeBytes: 1500}, nil)
	}
	rates, delays := map[float64]bool{}, map[time.Duration]bool{}
	for at := time.Duration(0); at < 10*time.Second; at += 10 * ms {
		look, _ := line.Look(at, nil)
		isGap := at%time.Second >= 500*ms && at%time.Second < 600*ms
		require.Equal(t, isGap, look.IsGap, "at %v", at)
		if isGap {
			require.Zero(t, look.RateBps)
		} else {
			rates[look.RateBps] = true
		}
		require.GreaterOrEqual(t, look.Delay, 20*ms)
		require.LessOrEqual(t, look.Delay, 30*ms)
		delays[look.Delay] = true
		require.LessOrEqual(t, look.WaitingBytes, int(look.QueuedBytes()))
	}
	require.Len(t, rates, 10, "each second its rate, while the queue is emptied at rates to come")
	require.Len(t, delays, 200)
}

func TestALookSeesTheOutageThatLosesPackets(t *testing.T) {
	d := Direction{Rate: Rate{ConstantBps: 1e9}, Queue: Queue{LimitBytes: 1e6},
		Loss: Loss{Outages: &Outages{MeanLengthMs: 20, MeanSpacingS: 0.1}}}
	looked, carried := d.line(seeds{3, 0}), d.line(seeds{3, 0})
	seen := 0
	for at := time.Duration(0); at < 5*time.Second; at += ms {
		look, _ := looked.Look(at, nil)
		// A packet of 125 bytes leaves the hop a microsecond later.
		fates := simulate(t, carried, []arrival{{at - min(at, time.Microsecond), 125}})
		if at > 0 {
			require.Equal(t, look.IsOutage, fates[0].lost == OutageLoss, "at %v", at)
		}
		if look.IsOutage {
			seen++
		}
	}
	require.Greater(t, seen, 300)
}

func TestLooksConserveBytesAndChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		direction, arrivals, seed := anyDirection(t), anyArrivals(t), rapid.Uint64().Draw(t, "seed")
		alone := simulate(t, direction.line(seeds{seed, 0}), arrivals)
		line := direction.line(seeds{seed, 0})
		var left []*Packet
		next := time.Duration(0)
		lookUntil := func(end time.Duration) {
			for ; next <= end; next += 10 * ms {
				var look Look
				look, left = line.Look(next, left)
				bytes := look.DeliveredBytes + look.QueuedBytes()
				for _, lost := range look.LostBytes {
					bytes += lost
				}
				require.Equal(t, look.ReceivedBytes, bytes)
				require.LessOrEqual(t, uint64(look.WaitingBytes), look.QueuedBytes())
			}
		}
		for _, a := range arrivals {
			lookUntil(a.at - 1)
			left, _ = line.Step(a.at, &Packet{SizeBytes: a.sizeBytes}, left)
		}
		lookUntil(arrivals[len(arrivals)-1].at + 10*time.Second)
		left, _ = line.Step(Never-1, nil, left)
		require.Len(t, left, len(alone))
		for i, p := range left {
			require.Equal(t, alone[i].at, p.LeftAt)
			require.Equal(t, alone[i].lost, p.Lost)
		}
	})
}
