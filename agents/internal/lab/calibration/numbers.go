package calibration

import (
	"math"
	"slices"
	"time"

	"downlink/agents/internal/lab/emulate"
)

// mean is NaN for no values.
func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// deviation is the sample's standard deviation, NaN for less than two values.
func deviation(values []float64) float64 {
	m, sum := mean(values), 0.0
	for _, v := range values {
		sum += (v - m) * (v - m)
	}
	return math.Sqrt(sum / float64(len(values)-1))
}

// quantile is NaN for no values.
func quantile(values []float64, ratio float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(ratio*float64(len(sorted))), len(sorted)-1)]
}

// seconds leaves out what never came.
func seconds(durations []time.Duration) (values []float64) {
	for _, d := range durations {
		if d != emulate.Never {
			values = append(values, d.Seconds())
		}
	}
	return values
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
