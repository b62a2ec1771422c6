package calibration

import (
	"time"

	"downlink/agents/internal/lab/emulate"
)

const (
	watched  = 30 * time.Minute
	watch    = time.Millisecond
	slot     = 15 * time.Second
	inASlot  = int(slot / time.Second)
	watches  = int(time.Second / watch)
	stallEnd = 0.1 // share of values on either side of the spread
)

// measureCourse looks at the way down's rate each millisecond. Slots count from the first handover; a second with a
// handover in it is left out of what is said of rates.
func measureCourse(profile emulate.Profile, values Values) {
	rates, stalls := observe(profile)
	all, within, slots := summarise(rates, profile.Down.Gap)
	values.set("rate_mean_mbps", mean(all)/1e6)
	values.set("rate_sd_percent", 100*deviation(all)/mean(all))
	if profile.Down.Gap == nil {
		return
	}
	values.set("slot_rate_sd_percent", 100*mean(within))
	values.set("slot_rate_least_mbps", quantile(slots, 0)/1e6)
	values.set("slot_rate_most_mbps", quantile(slots, 1)/1e6)
	values.set("stall_median_ms", quantile(stalls, 0.5))
	values.set("stall_spread_ms", quantile(stalls, 1-stallEnd)-quantile(stalls, stallEnd))
}

// observe returns the mean rate of each second, -1 for one with a handover in it, and the handovers' lengths in ms.
func observe(profile emulate.Profile) (rates, stalls []float64) {
	line := emulate.New(profile, profile.Seed).Line(emulate.Gateway, emulate.Receiver)
	stall, sum, isWhole := 0, 0.0, true
	for i := range int(watched / watch) {
		look, _ := line.Look(time.Duration(i)*watch, nil)
		if look.IsGap {
			stall++
			isWhole = false
		} else if stall > 0 {
			stalls, stall = append(stalls, float64(stall)*milliseconds(watch)), 0
		}
		if sum += look.RateBps; (i+1)%watches == 0 {
			if !isWhole {
				sum = -float64(watches)
			}
			rates = append(rates, sum/float64(watches))
			sum, isWhole = 0, true
		}
	}
	return rates, stalls
}

// summarise returns the seconds' rates, and of each slot of 15 s their standard deviation over their mean, and that mean.
func summarise(rates []float64, gap *emulate.Gap) (all, within, slots []float64) {
	first := 0
	if gap != nil {
		first = int(gap.OffsetS)
	}
	var inside []float64
	for i, rate := range rates {
		if (i-first)%inASlot == 0 && len(inside) > 1 {
			within, slots = append(within, deviation(inside)/mean(inside)), append(slots, mean(inside))
			inside = nil
		}
		if rate >= 0 {
			all, inside = append(all, rate), append(inside, rate)
		}
	}
	return all, within, slots
}
