//go:build variants

package controls

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/flow/acks"
	"downlink/agents/internal/lab/emulate"
)

// Runs of real kernels over geo-viasat with one thing of the link changed, as agents/study/causes does in virtual time for
// controls that the model has. They print and judge nothing, and take minutes: they are built with the tag `variants` alone.

type linkVariant struct {
	name   string
	change func(*emulate.Profile)
}

// What ends Vivace's start beside Cubic: docs/controls/dl_vivace.md has what it said. Six minutes.
func TestVivacesStartOverVariantsOfTheGeostationaryLink(t *testing.T) {
	setHyStart(t, "1")
	published := map[string]any{"noise_percent": 0, "interval_rtts": 1}
	for _, link := range []linkVariant{
		{"geo-viasat", func(*emulate.Profile) {}},
		{"without frames", func(p *emulate.Profile) { p.Up.Frames = nil }},
		{"without frames, constant rate", func(p *emulate.Profile) { p.Up.Frames, p.Down.Rate.Varies = nil, nil }},
	} {
		for name, options := range map[string]map[string]any{"filtered": nil, "published settings": published} {
			t.Run(link.name+", "+name, func(t *testing.T) {
				_, vivace := link.besideCubic(t, "dl_vivace", options, time.Minute, [][2]float64{{0, 15}, {15, 30}, {30, 45}, {45, 60}})
				left := leftStart(vivace)
				t.Logf("start left after %.1f s at %.1f Mb/s", float64(left.TimeNs-vivace[0].TimeNs)/1e9, float64(left.DetectorValue)/1000)
			})
		}
	}
}

// Who has more at the end beside Hybla, over six courses of the link that no study met: docs/controls/dl_hybla.md has what it
// said. Twelve minutes.
func TestHyblasEndOverCoursesOfTheGeostationaryLink(t *testing.T) {
	setHyStart(t, "1")
	for seed := uint64(6); seed < 12; seed++ {
		link := linkVariant{fmt.Sprintf("seed %d", seed), func(p *emulate.Profile) { p.Seed = seed }}
		t.Run(link.name, func(t *testing.T) {
			link.besideCubic(t, "dl_hybla", nil, 2*time.Minute, [][2]float64{{0, 70}, {80, 120}})
		})
	}
}

// besideCubic prints what a control and default Cubic have beside each other, in some spans of seconds.
func (v linkVariant) besideCubic(
	t *testing.T, name string, options map[string]any, lasts time.Duration, spans [][2]float64,
) (cubic, other []acks.Ack) {
	t.Helper()
	geo, err := emulate.LoadProfile("geo-viasat")
	require.NoError(t, err)
	v.change(&geo)
	p := newPath(t, linkBps, 0, 0, func(profile *emulate.Profile) { *profile = geo })
	cubic, other = p.compete(t, rival{openProbe(t), "cubic"}, rival{load(t, name, options), name}, lasts)
	for _, span := range spans {
		ofCubic, ofOther := deliveredBps(cubic, span[0], span[1]), deliveredBps(other, span[0], span[1])
		t.Logf("%3.0f-%3.0f s: Cubic %6.1f, %s %6.1f Mb/s, ratio %.1f, difference %.1f",
			span[0], span[1], ofCubic/1e6, name, ofOther/1e6, ofCubic/ofOther, (ofCubic-ofOther)/1e6)
	}
	return cubic, other
}

// leftStart is the first record of another phase than the start (docs/controls/dl_vivace.md), the last one where there is none.
func leftStart(records []acks.Ack) acks.Ack {
	for _, r := range records {
		if r.DetectorState > 1 {
			return r
		}
	}
	return records[len(records)-1]
}
