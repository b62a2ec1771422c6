package emulate

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Two conditions meet the same link at the same time after it came up, whatever ran over it before.
func TestTheCourseOfALinkDoesNotDependOnItsTraffic(t *testing.T) {
	const quiet, busy = 10 * time.Minute, 5 * ms
	const silence = 10 * time.Second // in which queues drain, and framed channels forget what was asked for
	for _, name := range ProfileNames() {
		var probes []arrival
		for i := range 4000 {
			probes = append(probes, arrival{quiet + time.Duration(i)*50*ms, 1500})
		}
		before := every(busy, int((quiet-silence)/busy), 1500)
		profile := mustLoad(t, name)
		for way := range New(profile, 5) {
			after := simulate(t, New(profile, 5)[way].Line, append(before, probes...))
			alone := simulate(t, New(profile, 5)[way].Line, probes)
			for i := range alone {
				alone[i].index += len(before)
			}
			require.True(t, slices.Equal(alone, after[len(before):]), name)
		}
	}
}

func TestWhatHoldsForAPeriodIsDrawnIndependentlyOfTheNext(t *testing.T) {
	const n = 20_000
	d := newCourse(testRng())
	last, sum, products := 0.0, 0.0, 0.0
	for i := range n {
		u := d.in(time.Duration(i)*ms, ms).Float64() - 0.5
		sum, products, last = sum+u, products+u*last, u
	}
	const variance = 1.0 / 12
	require.InDelta(t, 0, sum, 4*math.Sqrt(n*variance))
	require.InDelta(t, 0, products, 4*variance*math.Sqrt(n))
	require.Equal(t, d.in(7*ms, ms).Float64(), d.in(8*ms-1, ms).Float64(), "the whole period long")
}

func TestAPacketsChanceDependsOnItsMomentAlone(t *testing.T) {
	rule := dropRule{limitBytes: 1e9, dropRatio: 0.5, aboveBytes: -1}
	for name, node := range map[string]func() Node{
		"independent loss": func() Node { return &independentLoss{0.5, newCourse(testRng())} },
		"random drop":      func() Node { return &bottleneck{rate: constantRate(1e9), rule: rule, drops: newCourse(testRng())} },
	} {
		lost := map[time.Duration]bool{}
		for _, d := range simulate(t, NewLine(node()), every(ms, 1000, 100)) {
			lost[d.at/ms] = d.lost != NotLost
		}
		for _, d := range simulate(t, NewLine(node()), every(7*ms, 140, 100)) {
			require.Equal(t, lost[d.at/ms], d.lost != NotLost, "%s at %v", name, d.at)
		}
	}
}
