package calibration

import (
	"slices"
	"time"

	"downlink/agents/internal/lab/emulate"
)

const (
	probeSize = 84 // as an IP packet
	// probeSpacing is no multiple of a frame: probes in step with the frames would all wait equally long.
	probeSpacing = 203700 * time.Microsecond
	// lossSpacing is that of the probes whose losses are single or not.
	lossSpacing = 75 * time.Millisecond
)

func measureIdle(profile emulate.Profile, probes int, values Values) {
	var rtts []float64
	for _, rtt := range emulate.IdleRtts(profile, profile.Seed, probes, probeSpacing, probeSize) {
		rtts = append(rtts, milliseconds(rtt))
	}
	slices.Sort(rtts)
	values.set("idle_rtt_least_ms", quantile(rtts, 0))
	values.set("idle_rtt_p00_5_ms", quantile(rtts, 0.005))
	values.set("idle_rtt_median_ms", quantile(rtts, 0.5))
	values.set("idle_rtt_mean_ms", mean(rtts))
	values.set("idle_rtt_p99_5_ms", quantile(rtts, 0.995))
	values.set("idle_rtt_sd_ms", deviation(rtts))
	measureLosses(profile, 10*probes, values)
}

// measureLosses looks at the way down alone. A loss is single when neither neighbour is lost.
func measureLosses(profile emulate.Profile, probes int, values Values) {
	sent := make([]time.Duration, probes)
	for i := range sent {
		sent[i] = time.Duration(i) * lossSpacing
	}
	lost, runs, singles, run := 0, 0, 0, 0
	for _, at := range append(emulate.Predict(profile, profile.Seed, sent, probeSize), 0) {
		if at == emulate.Never {
			lost++
			run++
			continue
		}
		if run > 0 {
			runs++
		}
		if run == 1 {
			singles++
		}
		run = 0
	}
	values.set("idle_loss_percent", 100*float64(lost)/float64(probes))
	values.set("single_loss_percent", 100*float64(singles)/float64(runs))
}
