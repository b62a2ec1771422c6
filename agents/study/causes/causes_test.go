package causes

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/lab/emulate"
)

const page = "../../../docs/reproduction/causes-modelled.md"

func written(t *testing.T, s Section, runs int) string {
	t.Helper()
	var text strings.Builder
	require.NoError(t, s.Write(&text, runs))
	return text.String()
}

func named(t *testing.T, name string) Section {
	t.Helper()
	for _, s := range Sections() {
		if s.Name == name {
			return s
		}
	}
	require.Fail(t, "no such section", name)
	return Section{}
}

// The quick section is recomputed; of the others the page has every question and variant.
func TestThePageIsWhatTheCommandPrints(t *testing.T) {
	kept, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(kept), written(t, named(t, "buffers"), 0))
	for _, s := range Sections() {
		require.Contains(t, string(kept), "\n## "+s.Title+"\n\n"+s.Text+" Runs of each variant:")
		for _, v := range s.variants {
			require.Contains(t, string(kept), "\n| "+v.name+" | ", s.Name)
		}
	}
}

func TestTheSameSeedsGiveTheSameTable(t *testing.T) {
	for _, name := range []string{"objects", "leo"} {
		require.Equal(t, written(t, named(t, name), 2), written(t, named(t, name), 2))
	}
}

func TestAVariantChangesOneThingAndNoOtherVariant(t *testing.T) {
	plain := variant{}.load(geo)
	for _, v := range pairVariants() {
		before, after := plain, v.load(geo)
		require.Equal(t, v.change != nil, !equal(before, after), v.name)
		require.Equal(t, before.Up, after.Up, v.name)
	}
	require.Equal(t, plain, variant{}.load(geo))
}

func equal(a, b emulate.Profile) bool {
	return a.Down.Rate.Varies != nil == (b.Down.Rate.Varies != nil) && equalQueue(a.Down.Queue, b.Down.Queue) &&
		a.Down.Loss.IndependentRatio == b.Down.Loss.IndependentRatio && (a.Down.Loss.Outages == nil) == (b.Down.Loss.Outages == nil)
}

func equalQueue(a, b emulate.Queue) bool {
	return a.LimitBytes == b.LimitBytes && (a.RandomDrop == nil) == (b.RandomDrop == nil)
}

func TestWhatTwoFlowsShareIsSaidInBothWays(t *testing.T) {
	require.InDelta(t, 0.6923, jain(1, 5), 1e-4)
	require.Equal(t, []string{"0.692", "1.000"}, indices([]float64{1, 5}, []float64{5, 1}))
	require.Equal(t, "2 (1-9)", median("%.0f", []float64{9, 1, 2}))
	require.Equal(t, "4 (1-9)", spread("%.0f", []float64{9, 1, 2}))
	require.InDelta(t, 4, geometricMean([]float64{2, 8}), 1e-9)
}
