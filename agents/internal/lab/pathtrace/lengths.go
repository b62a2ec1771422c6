package pathtrace

import (
	"fmt"
	"math"
	"slices"
	"time"
)

const (
	equatorKm, poleKm = 6378.137, 6356.752314245
	leastISLHeightKm  = 80.0
	// plumbDeg is by how much the ellipsoid's upright leans from the line from the Earth's centre.
	plumbDeg   = 0.2
	kmPerNs    = 299_792_458.0 / 1e12
	roundingKm = 0.002
)

// bounds are the lengths that hops may have, in km.
type bounds struct{ leastGSL, mostGSL, mostISL, leastPath float64 }

func boundsOf(h Header) bounds {
	radii := h.Constellation
	leaning := max(h.LeastElevation-plumbDeg, 0) * math.Pi / 180
	flat := poleKm * math.Cos(leaning)
	b := bounds{mostGSL: math.Sqrt(radii.MostRadiusKm*radii.MostRadiusKm-flat*flat) - poleKm*math.Sin(leaning)}
	if h.MostGSLKm != nil {
		b.mostGSL = min(b.mostGSL, *h.MostGSLKm)
	}
	over := poleKm + leastISLHeightKm
	b.mostISL = 2 * math.Sqrt(max(radii.MostRadiusKm*radii.MostRadiusKm-over*over, 0))
	highest := h.Stations[0].HeightM
	for _, station := range h.Stations {
		highest = max(highest, station.HeightM)
	}
	b.leastGSL = max(radii.LeastRadiusKm-equatorKm-highest/1e3, 0)
	b.leastPath = arcKm(h.Stations[0], h.Stations[len(h.Stations)-1])
	return b
}

// arcKm is the least length of any way between two stations outside the Earth.
func arcKm(one, other Station) float64 {
	a, b := upright(one), upright(other)
	cross := [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
	return poleKm * math.Atan2(math.Sqrt(dot(cross, cross)), dot(a, b))
}

// upright leads from the Earth's centre to a station, with length 1.
func upright(station Station) [3]float64 {
	flattening := poleKm / equatorKm * (poleKm / equatorKm)
	latitude := math.Atan(flattening * math.Tan(station.Latitude*math.Pi/180))
	longitude := station.Longitude * math.Pi / 180
	return [3]float64{math.Cos(latitude) * math.Cos(longitude), math.Cos(latitude) * math.Sin(longitude), math.Sin(latitude)}
}

func dot(a, b [3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

func sprintKm(km float64) string { return fmt.Sprintf("%.0f km", km) }

func place(path, hop int) string { return fmt.Sprintf("path %d, hop %d, delay_ns", path, hop) }

func lengthKm(delay time.Duration) float64 { return float64(delay) * kmPerNs }

// checkLengths refuses what no orbit allows: hops too long or too short, and paths faster than light.
func checkLengths(trace *Trace) error {
	limits := boundsOf(trace.Header)
	for number, path := range trace.Paths {
		from := path.From()
		for i, hop := range path.Hops {
			if reason := limits.wrongWith(hop, from[i] < 0 || hop.To < 0); reason != "" {
				return wrong(place(number, i+1), makeAgain, "%s", reason)
			}
		}
		if len(path.Hops) > 0 && lengthKm(leastSum(path)) < limits.leastPath-roundingKm {
			return wrong(place(number, 1), makeAgain, "the path is faster than light along the ground, %.0f km", limits.leastPath)
		}
	}
	return nil
}

func (b bounds) wrongWith(hop Hop, isGSL bool) string {
	shortest, longest := math.Inf(1), 0.0
	for _, knot := range hop.Knots {
		shortest, longest = min(shortest, lengthKm(knot.Delay)), max(longest, lengthKm(knot.Delay))
	}
	switch {
	case isGSL && longest > b.mostGSL+roundingKm:
		return sprintKm(longest) + ": the satellite is below the least elevation"
	case isGSL && shortest < b.leastGSL-roundingKm:
		return sprintKm(shortest) + ": no satellite is that near to the ground"
	case !isGSL && longest > b.mostISL+roundingKm:
		return sprintKm(longest) + ": the hop is less than 80 km above ground"
	}
	return ""
}

// leastSum is the shortest delay of the whole path. It is at a knot of one of the hops, for they are straight between.
func leastSum(path Path) time.Duration {
	var moments []time.Duration
	for _, hop := range path.Hops {
		for _, knot := range hop.Knots {
			moments = append(moments, knot.At)
		}
	}
	slices.Sort(moments)
	least := time.Duration(math.MaxInt64)
	for _, moment := range slices.Compact(moments) {
		sum := time.Duration(0)
		for _, hop := range path.Hops {
			sum += hop.Delay(moment)
		}
		least = min(least, sum)
	}
	return least
}
