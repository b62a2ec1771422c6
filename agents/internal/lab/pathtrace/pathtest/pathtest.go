// Package pathtest makes path traces for tests.
package pathtest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"time"

	"github.com/klauspost/compress/zstd"

	"downlink/agents/internal/lab/pathtrace"
)

// Lasting is a path and how long it holds.
type Lasting struct {
	For  time.Duration
	Hops []pathtrace.Hop // knots by their time from the path's start; none: there is no path
}

// Still is a hop that does not change for so long.
func Still(to pathtrace.Node, delay time.Duration, bps, lossRatio float64, lasting time.Duration) pathtrace.Hop {
	return pathtrace.Hop{To: to, Knots: []pathtrace.Knot{{Delay: delay, Bps: bps, LossRatio: lossRatio},
		{At: lasting, Delay: delay, Bps: bps, LossRatio: lossRatio}}}
}

// Header is one of a shell of 550 km with two stations beside each other, so that all hops of a few ms are sound.
func Header() map[string]any {
	station := func(name string, longitude float64) map[string]any {
		return map[string]any{"name": name, "latitude_deg": 40.0, "longitude_deg": longitude, "height_m": 0.0}
	}
	gap := map[string]any{"least_ms": 0.0, "most_ms": 0.0}
	return map[string]any{
		"format": pathtrace.Format, "name": "east-west", "program": "a test", "epoch": "2000-01-01T00:00:00Z", "start": "2000-01-01T00:00:00Z",
		"constellation": map[string]any{"code": "D:550:53.0:1584/72/17",
			"file": nil, "file_sha256": nil, "satellites": 1584, "least_radius_km": 6920.0, "most_radius_km": 6935.0},
		"stations": []any{station("east", 10), station("west", 9.9)}, "least_elevation_deg": 10.0, "most_gsl_km": nil, "isl": "+grid",
		"route": map[string]any{"rule": "shortest", "stay_s": 15.0, "slot_s": 15.0, "offset_s": 0.0},
		"links": map[string]any{
			"radio": map[string]any{"frequency_ghz": 20.0, "bandwidth_mhz": 10.0, "eirp_density_dbw_per_mhz": 4.0, "g_over_t_db_per_k": 15.9,
				"other_losses_db": 0.8},
			"gsl_loss": map[string]any{"low_snr_db": 0.0, "low_snr_ratio": 1e-5, "high_snr_db": 10.0, "high_snr_ratio": 1e-5},
			"gsl_gap":  gap, "isl_gap": gap, "isl_rate_bps": 1e8, "isl_loss_ratio": 1e-5,
		},
		"step_ms": 1000, "seed": 1, "asked": map[string]any{},
	}
}

// Encode packs paths that follow each other, with a header to which it adds what the rows say.
func Encode(header map[string]any, paths []Lasting) []byte {
	columns := make([][]int64, 8)
	add := func(values ...int64) {
		for i, value := range values {
			columns[i] = append(columns[i], value)
		}
	}
	start := time.Duration(0)
	for number, path := range paths {
		if len(path.Hops) == 0 {
			for _, at := range []time.Duration{start, start + path.For} {
				add(at.Microseconds(), int64(number), 0, 0, 0, 0, 1e9, 0)
			}
		}
		for i, hop := range path.Hops {
			gap := hop.Gap.Microseconds()
			for _, knot := range hop.Knots {
				add((start + knot.At).Microseconds(), int64(number), int64(i+1), int64(hop.To), int64(knot.Delay), int64(knot.Bps),
					int64(knot.LossRatio*1e9), gap)
				gap = 0
			}
		}
		start += path.For
	}
	header["duration_us"] = start.Microseconds()
	return Pack(header, columns)
}

// Pack writes columns of equal length.
func Pack(header map[string]any, columns [][]int64) []byte {
	var body []byte
	for _, column := range columns {
		previous := int64(0)
		for _, value := range column {
			body = binary.LittleEndian.AppendUint64(body, uint64(value-previous))
			previous = value
		}
	}
	sum := sha256.Sum256(body)
	header["rows"], header["columns_sha256"] = len(columns[0]), hex.EncodeToString(sum[:])
	header["fields"] = []string{"at_us", "path", "hop", "node", "delay_ns", "rate_bps", "loss_ppb", "gap_us"}
	line, err := json.Marshal(header)
	if err != nil {
		panic(err)
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	return encoder.EncodeAll(append(append(line, '\n'), body...), nil)
}

// Chain is a path over so many hops, two of them with the ground, each still.
func Chain(hops int, gsl, isl time.Duration, bps, lossRatio float64, firstSatellite pathtrace.Node, lasting time.Duration) Lasting {
	path := Lasting{For: lasting}
	for i := range hops {
		to, delay := firstSatellite+pathtrace.Node(i), isl
		if i == hops-1 {
			to = -2
		}
		if i == 0 || i == hops-1 {
			delay = gsl
		}
		path.Hops = append(path.Hops, Still(to, delay, bps, lossRatio, lasting))
	}
	return path
}

// openAtLeast is longer than the longest gap of Random, 40 ms, and a large packet at its lowest rate, 12 ms.
const openAtLeast = 60 * time.Millisecond

// Random is a trace of many short paths over few satellites, which come and go, with gaps, losses and times without a path.
// Its first path is open for a while: over one that never is, packets would wait for ever.
func Random(rng *rand.Rand, paths int) []byte {
	var all []Lasting
	for i := range paths {
		lasting := time.Duration(1+rng.IntN(200)) * time.Millisecond
		if i == 0 {
			lasting += openAtLeast
		}
		path := Lasting{For: lasting}
		if i == 0 || rng.IntN(8) > 0 {
			path.Hops = randomHops(rng, lasting)
		}
		all = append(all, path)
	}
	return Encode(Header(), all)
}

func randomHops(rng *rand.Rand, lasting time.Duration) (hops []pathtrace.Hop) {
	satellites := rng.Perm(8)[:1+rng.IntN(6)]
	for i, satellite := range append(satellites, -2) {
		isGSL := i == 0 || i == len(satellites)
		hop := pathtrace.Hop{To: pathtrace.Node(satellite), Gap: time.Duration(rng.IntN(3)*rng.IntN(20_000)) * time.Microsecond}
		inner := lasting / time.Duration(1+rng.IntN(3))
		for at := time.Duration(0); at < lasting; at += inner {
			hop.Knots = append(hop.Knots, randomKnot(rng, at, isGSL))
		}
		hop.Knots = append(hop.Knots, randomKnot(rng, lasting, isGSL))
		hops = append(hops, hop)
	}
	return hops
}

func randomKnot(rng *rand.Rand, at time.Duration, isGSL bool) pathtrace.Knot {
	delay := time.Duration(10_000 + rng.IntN(16_000_000))
	if isGSL {
		delay = time.Duration(2_000_000 + rng.IntN(3_000_000))
	}
	return pathtrace.Knot{At: at.Truncate(time.Microsecond), Delay: delay, Bps: float64(1e6 + rng.IntN(40e6)),
		LossRatio: float64(rng.IntN(2)*rng.IntN(100)) / 1e3}
}
