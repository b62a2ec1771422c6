package pathtrace_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"downlink/agents/internal/lab/pathtrace"
	"downlink/agents/internal/lab/pathtrace/pathtest"
)

const (
	examples = "../../../../docs/examples/paths/"
	ms       = time.Millisecond
)

func golden(t testing.TB) []byte {
	packed, err := os.ReadFile(examples + "golden.dlpath")
	require.NoError(t, err)
	return packed
}

func two() []pathtest.Lasting {
	return []pathtest.Lasting{pathtest.Chain(3, 2*ms, 5*ms, 1e6, 0, 1, time.Second), {For: time.Second},
		pathtest.Chain(4, 2*ms, 5*ms, 1e6, 0.5, 1, time.Second)}
}

func TestATraceIsReadAsItWasWritten(t *testing.T) {
	trace, err := pathtrace.Decode(pathtest.Encode(pathtest.Header(), two()))
	require.NoError(t, err)
	require.Len(t, trace.Paths, 3)
	require.Equal(t, []pathtrace.Node{-1, 1, 2, 3}, trace.Paths[2].From())
	require.Empty(t, trace.Paths[1].Hops)
	require.Equal(t, 3*time.Second, trace.Duration)
	require.Equal(t, []int{0, 1, 2}, []int{trace.At(time.Second - 1), trace.At(time.Second), trace.At(2 * time.Second)})
	knot, until := trace.Paths[2].Hops[0].Knot(2500 * ms)
	require.InDelta(t, 0.5, knot.LossRatio, 1e-12)
	require.Equal(t, 3*time.Second, until)
}

func TestWhatIsWrongIsNamedWithItsPlace(t *testing.T) {
	changed := func(key string, value any) []byte {
		header := pathtest.Header()
		header[key] = value
		return pathtest.Encode(header, two())
	}
	rows := func(change func([]pathtest.Lasting)) []byte {
		paths := two()
		change(paths)
		return pathtest.Encode(pathtest.Header(), paths)
	}
	hop := func(change func(*pathtrace.Hop)) []byte {
		return rows(func(paths []pathtest.Lasting) { change(&paths[0].Hops[1]) })
	}
	sound := pathtest.Encode(pathtest.Header(), two())
	lacking := pathtest.Header()
	delete(lacking, "isl")
	far := pathtest.Header()
	far["stations"] = []any{map[string]any{"name": "a", "latitude_deg": 0.0, "longitude_deg": 0.0, "height_m": 0.0},
		map[string]any{"name": "b", "latitude_deg": 0.0, "longitude_deg": 90.0, "height_m": 0.0}}
	for _, c := range []struct {
		says   string
		packed []byte
	}{
		{"it is not one whole zstd frame", nil},
		{"it is not one whole zstd frame", []byte("satellite,delay\n1,2\n")},
		{"Make the path again, or copy the file again.", sound[:len(sound)-9]},
		{"columns: more bytes than announced", append(append([]byte{}, sound...), sound...)},
		{"Another version wrote it: upgrade this one.", changed("format", "dl-path/2")},
		{"This is no path trace", changed("format", "dl-chunk/2")},
		{"unknown field", changed("weather", 1)},
		{"header, isl: the key is missing", pathtest.Encode(lacking, two())},
		{"no hop leads from 1 to 2", changed("isl", "none")},
		{"faster than light", pathtest.Encode(far, two())},
		{"row 3, delay_ns: 0 is out of range", hop(func(h *pathtrace.Hop) { h.Knots[0].Delay = 0 })},
		{"row 4, rate_bps: 999 is out of range", hop(func(h *pathtrace.Hop) { h.Knots[1].Bps = 999 })},
		{"row 3, loss_ppb", hop(func(h *pathtrace.Hop) { h.Knots[0].LossRatio = 1.5 })},
		{"row 3, gap_us", hop(func(h *pathtrace.Hop) { h.Gap = time.Hour })},
		{"row 3, node: 1584 is out of range", hop(func(h *pathtrace.Hop) { h.To = 1584 })},
		{"the path comes to 1 twice", hop(func(h *pathtrace.Hop) { h.To = 1 })},
		{"less than 80 km above ground", hop(func(h *pathtrace.Hop) { h.Knots[0].Delay = 30 * ms })},
		{"row 4, at_us: times do not rise", hop(func(h *pathtrace.Hop) { h.Knots[1].At = 0 })},
		{"does not reach over its whole path", hop(func(h *pathtrace.Hop) { h.Knots[1].At = 900 * ms })},
		{"no satellite is that near", rows(func(p []pathtest.Lasting) { p[0].Hops[0].Knots[0].Delay = ms })},
		{"below the least elevation", rows(func(p []pathtest.Lasting) { p[0].Hops[0].Knots[0].Delay = 20 * ms })},
		{"the path ends at 2 and not at station west", rows(func(p []pathtest.Lasting) { p[0].Hops = p[0].Hops[:2] })},
	} {
		_, err := pathtrace.Decode(c.packed)
		require.ErrorContains(t, err, c.says)
	}
}

func TestAlteredColumnsAreFound(t *testing.T) {
	decoder, err := zstd.NewReader(nil)
	require.NoError(t, err)
	plain, err := decoder.DecodeAll(pathtest.Encode(pathtest.Header(), two()), nil)
	require.NoError(t, err)
	plain[len(plain)-300]++
	encoder, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	_, err = pathtrace.Decode(encoder.EncodeAll(plain, nil))
	require.ErrorContains(t, err, "the file was altered")
}

// TestTheGoldenTraceIsReadAsPythonReadsIt holds rows against those that docs/examples/paths/golden.json names.
func TestTheGoldenTraceIsReadAsPythonReadsIt(t *testing.T) {
	text, err := os.ReadFile(examples + "golden.json")
	require.NoError(t, err)
	var want goldenFile
	require.NoError(t, json.Unmarshal(text, &want))
	trace, err := pathtrace.Decode(golden(t))
	require.NoError(t, err)
	var rows [][8]int64
	for number, path := range trace.Paths {
		if len(path.Hops) == 0 {
			for _, at := range []time.Duration{path.Start, path.End} {
				rows = append(rows, [8]int64{at.Microseconds(), int64(number), 0, 0, 0, 0, 1e9, 0})
			}
		}
		for i, hop := range path.Hops {
			gap := hop.Gap
			for _, knot := range hop.Knots {
				rows = append(rows, [8]int64{
					knot.At.Microseconds(), int64(number), int64(i + 1), int64(hop.To), int64(knot.Delay), int64(knot.Bps),
					int64(knot.LossRatio*1e9 + 0.5), gap.Microseconds(),
				})
				gap = 0
			}
		}
	}
	require.Equal(t, want.Rows, rows)
	for _, m := range want.Moments {
		moment := time.Duration(m.AtUs) * time.Microsecond
		require.Equal(t, m.Path, trace.At(moment))
		hops := trace.Paths[m.Path].Hops
		require.Len(t, hops, len(m.Hops))
		for i, hop := range hops {
			knot, _ := hop.Knot(moment)
			require.EqualValues(t, m.Hops[i].Node, hop.To)
			require.InDelta(t, m.Hops[i].DelayNs, hop.Delay(moment), 1, "rounded")
			require.InDelta(t, m.Hops[i].RateBps, knot.Bps, 0)
			require.InDelta(t, m.Hops[i].LossPpb, knot.LossRatio*1e9, 1e-6)
		}
	}
}

type goldenFile struct {
	Rows    [][8]int64 `json:"rows"`
	Moments []struct {
		AtUs int64 `json:"at_us"`
		Path int   `json:"path"`
		Hops []struct {
			Node    int64   `json:"node"`
			DelayNs float64 `json:"delay_ns"`
			RateBps float64 `json:"rate_bps"`
			LossPpb float64 `json:"loss_ppb"`
		} `json:"hops"`
	} `json:"moments"`
}

// FuzzDecode looks for bytes that make the reader panic, or take what it must not.
func FuzzDecode(f *testing.F) {
	f.Add(golden(f))
	f.Add(pathtest.Encode(pathtest.Header(), two()))
	f.Add(pathtest.Random(rand.New(rand.NewPCG(1, 1)), 5))
	f.Fuzz(func(t *testing.T, packed []byte) {
		trace, err := pathtrace.Decode(packed)
		if err != nil {
			return
		}
		for moment := time.Duration(0); moment < trace.Duration; moment += trace.Duration/7 + 1 {
			path := trace.Paths[trace.At(moment)]
			require.True(t, path.Start <= moment && moment < path.End)
			for _, hop := range path.Hops {
				require.Positive(t, hop.Delay(moment))
			}
		}
	})
}
