package controls

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"downlink/agents/internal/testing/hosttest"

	"github.com/stretchr/testify/require"
)

const bestLinkBps = 144e6

// BenchmarkBest says how far the median of BEST's estimates is from the rate of a constant link. Where the machine holds
// packets up, it carries them on in a bunch, and the estimate is the bunch's rate.
func BenchmarkBest(b *testing.B) {
	for b.Loop() {
		estimates := bestEstimates(b, hosttest.Size(15, 2))
		truth, median := bestLinkBps*1448/1500/1e6, estimates[len(estimates)/2]
		hosttest.Row{
			Name: "BEST's estimate beside the link's rate", Value: 100 * math.Abs(median-truth) / truth, Unit: "% away", Goal: "<= 20",
			Remark: fmt.Sprintf("median of %d flows %.0f, half of them %.0f to %.0f; truth %.0f Mb/s", len(estimates), median,
				estimates[len(estimates)/4], estimates[3*len(estimates)/4], truth),
		}.Print()
	}
}

// bestEstimates are what flows, one after the other over a constant link, decided by; sorted, in Mb/s.
func bestEstimates(t testing.TB, flows int) (mbps []float64) {
	t.Helper()
	p := newPath(t, bestLinkBps, 100*time.Millisecond, 4_000_000, nil)
	loaded := load(t, "dl_cubic_best", nil)
	for range flows {
		records := p.run(t, loaded, "dl_cubic_best", 1500*time.Millisecond)
		if exit := exitOf(records); exit != noExit && records[exit].DetectorValue > 0 {
			mbps = append(mbps, float64(records[exit].DetectorValue))
		}
	}
	require.NotEmpty(t, mbps, "no flow decided")
	slices.Sort(mbps)
	return mbps
}
