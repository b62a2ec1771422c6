package controls

import (
	"slices"
	"sync"
	"testing"
	"time"

	"downlink/agents/internal/flow/acks"
	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/testing/hosttest"

	"github.com/stretchr/testify/require"
)

// rival is one of two flows that share a path at once.
type rival struct {
	source  acks.Source
	control string
}

// compete lets two flows start together on one path, and gives the records of both.
func (p *path) compete(t *testing.T, first, second rival, lasts time.Duration) (ofFirst, ofSecond []acks.Ack) {
	t.Helper()
	firstSender, firstReceiver := p.connect(t, first.control)
	secondSender, secondReceiver := p.connect(t, second.control)
	ofFirst, _ = record(t, first.source, firstSender, func() {
		ofSecond, _ = record(t, second.source, secondSender, func() {
			var sending sync.WaitGroup
			sending.Go(func() { sendFor(firstSender, firstReceiver, lasts) })
			sending.Go(func() { sendFor(secondSender, secondReceiver, lasts) })
			sending.Wait()
		})
	})
	require.NotEmpty(t, ofFirst)
	require.NotEmpty(t, ofSecond)
	return ofFirst, ofSecond
}

func openProbe(t *testing.T) *acks.Probe {
	t.Helper()
	hosttest.NeedRoot(t)
	probe, err := acks.OpenProbe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = probe.Close() })
	return probe
}

// Peters 2021 (HyStart over a satellite network), Figure 8, on one machine: HyStart takes the jitter of the return channel for
// a queue, leaves slow start and stays behind the flow without it. The jitter decides in which round it leaves, so that a late
// one is possible: hence the median of three pairs, each over a link of its own.
func TestCubicWithHyStartStartsBehindCubicWithoutIt(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	const pairs = 3
	setHyStart(t, "1")
	var ratios []float64
	for seed := range uint64(pairs) {
		p := newPath(t, linkBps, 200*time.Millisecond, 1_000_000, func(profile *emulate.Profile) {
			profile.Seed = seed + 1
			profile.Up.Delay.Variations = []emulate.Variation{{HoldMs: 40, Uniform: &emulate.UniformMs{HighMs: 80}}}
		})
		with, without := p.compete(t, rival{openProbe(t), "cubic"}, rival{load(t, "dl_cubic_nohs", nil), "dl_cubic_nohs"}, 4*time.Second)
		require.Zero(t, with[exitOf(with)].LostTotalSegments, "HyStart left before any loss")
		require.Positive(t, without[exitOf(without)].LostTotalSegments, "only a loss ended slow start")
		ahead, behind := deliveredBps(without, 0, 4), deliveredBps(with, 0, 4)
		t.Logf("without %.1f Mb/s, with %.1f Mb/s", ahead/1e6, behind/1e6)
		ratios = append(ratios, ahead/behind)
	}
	slices.Sort(ratios)
	require.Greater(t, ratios[pairs/2], 1.5)
}

// Cubic, which fills the queue, has the larger share of a short link too; Vivace with the latency utility gives way and
// is not driven out. Cubic without HyStart, so that its start does not decide.
func TestVivaceLatencyGivesWayToCubic(t *testing.T) {
	hosttest.Measures(t, hosttest.Kernel, "compares rates or times of a real kernel")
	p := newPath(t, linkBps, 50*time.Millisecond, 500_000, nil)
	cubic, vivace := p.compete(t, rival{load(t, "dl_cubic_nohs", nil), "dl_cubic_nohs"}, rival{load(t, "dl_vivace", nil), "dl_vivace"},
		6*time.Second)
	ofCubic, ofVivace := deliveredBps(cubic, 0, 6), deliveredBps(vivace, 0, 6)
	t.Logf("Cubic %.1f Mb/s, Vivace %.1f Mb/s", ofCubic/1e6, ofVivace/1e6)
	require.Greater(t, ofCubic, 1.5*ofVivace)
	require.Greater(t, ofVivace, 0.01*linkBps)
	require.Greater(t, ofCubic+ofVivace, 0.75*linkBps, "together they fill the link")
}
