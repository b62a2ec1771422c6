package pathtrace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Format is the one that is read.
const Format = "dl-path/1"

// The bounds of a file (docs/paths.md, sections 2 and 2.3).
const (
	mostPackedBytes = 64 << 20
	mostRows        = 4_000_000
	mostHeaderBytes = 64 << 10
	mostSatellites  = 20_000
	mostStations    = 20
	mostDurationUs  = 7 * 86_400 * 1_000_000
)

var fields = []string{"at_us", "path", "hop", "node", "delay_ns", "rate_bps", "loss_ppb", "gap_us"}

// Header says what a path was made with.
type Header struct {
	Format           string          `json:"format"`
	Name             string          `json:"name"`
	Program          string          `json:"program"`
	Constellation    Constellation   `json:"constellation"`
	Epoch            time.Time       `json:"epoch"`
	Start            time.Time       `json:"start"`
	Stations         []Station       `json:"stations"`
	LeastElevation   float64         `json:"least_elevation_deg"`
	MostGSLKm        *float64        `json:"most_gsl_km"`
	ISL              string          `json:"isl"`
	Route            Route           `json:"route"`
	Links            Links           `json:"links"`
	StepMs           int64           `json:"step_ms"`
	DurationUs       int64           `json:"duration_us"`
	Seed             uint64          `json:"seed"`
	Asked            json.RawMessage `json:"asked"`
	Rows             int             `json:"rows"`
	Fields           []string        `json:"fields"`
	ColumnsSHA256Hex string          `json:"columns_sha256"`
}

// Constellation is a code, or a file of element sets. The radii are distances from the Earth's centre.
type Constellation struct {
	Code          *string `json:"code"`
	File          *string `json:"file"`
	FileSHA256    *string `json:"file_sha256"`
	Satellites    int     `json:"satellites"`
	LeastRadiusKm float64 `json:"least_radius_km"`
	MostRadiusKm  float64 `json:"most_radius_km"`
}

// Station is a place on the ground.
type Station struct {
	Name      string  `json:"name"`
	Latitude  float64 `json:"latitude_deg"`
	Longitude float64 `json:"longitude_deg"`
	HeightM   float64 `json:"height_m"`
}

// Route is when the path changes.
type Route struct {
	Rule    string  `json:"rule"`
	StayS   float64 `json:"stay_s"`
	SlotS   float64 `json:"slot_s"`
	OffsetS float64 `json:"offset_s"`
}

// Links is how rate and loss were made; the rows have the result.
type Links struct {
	Radio struct {
		FrequencyGHz         float64 `json:"frequency_ghz"`
		BandwidthMHz         float64 `json:"bandwidth_mhz"`
		EIRPDensityDBWPerMHz float64 `json:"eirp_density_dbw_per_mhz"`
		GOverTDBPerK         float64 `json:"g_over_t_db_per_k"`
		OtherLossesDB        float64 `json:"other_losses_db"`
	} `json:"radio"`
	GSLLoss struct {
		LowSNRDB     float64 `json:"low_snr_db"`
		LowSNRRatio  float64 `json:"low_snr_ratio"`
		HighSNRDB    float64 `json:"high_snr_db"`
		HighSNRRatio float64 `json:"high_snr_ratio"`
	} `json:"gsl_loss"`
	GSLGap       GapBounds `json:"gsl_gap"`
	ISLGap       GapBounds `json:"isl_gap"`
	ISLRateBps   float64   `json:"isl_rate_bps"`
	ISLLossRatio float64   `json:"isl_loss_ratio"`
}

// GapBounds are those between which gaps were drawn.
type GapBounds struct {
	LeastMs float64 `json:"least_ms"`
	MostMs  float64 `json:"most_ms"`
}

const (
	grid  = "+grid"
	noISL = "none"
)

// readHeader refuses another format before it looks at anything else: a newer one may have other keys.
func readHeader(line []byte) (header Header, err error) {
	var said struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(line, &said); err != nil {
		return header, wrong("header", another, "its line is not JSON with a format (%v)", err)
	}
	switch {
	case !strings.HasPrefix(said.Format, "dl-path/"):
		return header, wrong("header, format", another, "%q is not %q", said.Format, Format)
	case said.Format != Format:
		return header, wrong("header, format", "Another version wrote it: upgrade this one.", "%q is not %q", said.Format, Format)
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&header); err != nil {
		return header, wrong("header", copyAgain, "%v", err)
	}
	if key := missingKey(line, header); key != "" {
		return header, wrong("header, "+key, copyAgain, "the key is missing")
	}
	return header, header.check()
}

// missingKey is the first key that a header has none of: nothing is left to a default.
func missingKey(line []byte, header Header) string {
	written, _ := json.Marshal(header) // numbers, strings and times
	var has, needs any
	_ = json.Unmarshal(line, &has) // it was JSON a moment ago
	_ = json.Unmarshal(written, &needs)
	return firstMissing(has, needs)
}

func firstMissing(has, needs any) string {
	switch needs := needs.(type) {
	case map[string]any:
		has, _ := has.(map[string]any)
		for key, value := range needs {
			found, isThere := has[key]
			if !isThere {
				return key
			}
			if key == "asked" {
				continue
			}
			if below := firstMissing(found, value); below != "" {
				return key + "." + below
			}
		}
	case []any:
		has, _ := has.([]any)
		for i := range min(len(has), len(needs)) {
			if below := firstMissing(has[i], needs[i]); below != "" {
				return below
			}
		}
	}
	return ""
}

// check looks at what readers of rows rely on.
func (h Header) check() error {
	radii := h.Constellation
	ranges := []struct {
		place     string
		value     float64
		low, high float64
	}{
		{"constellation, satellites", float64(radii.Satellites), 1, mostSatellites},
		{"constellation, least radius", radii.LeastRadiusKm, 6_400, 100_000},
		{"constellation, most radius", radii.MostRadiusKm, radii.LeastRadiusKm, 100_000},
		{"stations", float64(len(h.Stations)), 2, mostStations},
		{"least elevation", h.LeastElevation, 0, 90},
		{"duration_us", float64(h.DurationUs), 1, mostDurationUs},
		{"step_ms", float64(h.StepMs), 10, 60_000},
		{"rows", float64(h.Rows), 1, mostRows},
	}
	for _, r := range ranges {
		if math.IsNaN(r.value) || r.value < r.low || r.value > r.high {
			return wrong("header, "+r.place, copyAgain, "%v is not from %v to %v", r.value, r.low, r.high)
		}
	}
	if h.MostGSLKm != nil && (*h.MostGSLKm < 1 || *h.MostGSLKm > 100_000) {
		return wrong("header, most_gsl_km", copyAgain, "%v is not from 1 to 100000", *h.MostGSLKm)
	}
	if h.ISL != grid && h.ISL != noISL {
		return wrong("header, isl", copyAgain, "there is no pattern %q", h.ISL)
	}
	if !slices.Equal(h.Fields, fields) {
		return wrong("header, fields", copyAgain, "they are not %s", strings.Join(fields, ", "))
	}
	return h.checkStations()
}

func (h Header) checkStations() error {
	seen := map[string]bool{}
	for _, station := range h.Stations {
		place := fmt.Sprintf("header, station %q", station.Name)
		if seen[station.Name] {
			return wrong(place, copyAgain, "it is there twice")
		}
		seen[station.Name] = true
		if math.Abs(station.Latitude) > 90 || math.Abs(station.Longitude) > 180 || station.HeightM < -500 || station.HeightM > 9_000 {
			return wrong(place, copyAgain, "it does not lie on the Earth")
		}
	}
	return nil
}
