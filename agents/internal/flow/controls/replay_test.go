package controls

import (
	"cmp"
	"math"
	"slices"

	"downlink/agents/internal/flow/acks"
)

// The detectors once more, written plainly over whole traces, as a judge of what runs in the kernel.

const never = ^uint32(0)

// replayHSPP returns the phase after each record (1 slow start, 2 CSS, 3 done), by RFC 9406 section 4.2.
func replayHSPP(records []acks.Ack) []int {
	phase, windowEnd := 1, records[0].SndNxt
	last, current, baseline := never, never, never
	samples, cssRounds := 0, 0
	phases := make([]int, len(records))
	for i, ack := range records {
		if int32(ack.SndUna-windowEnd) > 0 {
			windowEnd, last, current, samples = ack.SndNxt, current, never, 0
			if phase == 2 {
				cssRounds++
			}
			if cssRounds == 5 {
				phase = 3
			}
		}
		if phase != 3 && ack.AckRttUs >= 0 {
			current = min(current, uint32(ack.AckRttUs))
			samples++
			if phase == 2 && samples >= 9 && current < baseline {
				phase, baseline, cssRounds = 1, never, 0
			}
			if phase == 1 && samples >= 8 && last != never && current >= last+min(max(last/8, 4000), 16000) {
				phase, baseline, cssRounds = 2, current, 0
			}
		}
		phases[i] = phase
	}
	return phases
}

// replayMeanSD returns the threshold of the round after each record, and the record that ends slow start, -1 for none. Plain
// formulas in floating point over all RTTs before the round.
func replayMeanSD(records []acks.Ack, k float64) (thresholds []uint32, exit int) {
	var rtts []float64
	var round []uint32
	windowEnd, threshold := records[0].SndNxt, uint32(0)
	thresholds, exit = make([]uint32, len(records)), noExit
	for i, ack := range records {
		if ack.AckRttUs >= 0 && exit == noExit {
			if int32(ack.SndUna-windowEnd) > 0 {
				windowEnd, round, threshold = ack.SndNxt, nil, 0
				if len(rtts) >= 8 {
					mean, deviation := meanSD(rtts)
					threshold = uint32(mean + max(k*deviation, 4000))
				}
			}
			rtts = append(rtts, float64(ack.AckRttUs))
			if ack.CwndSegments >= 16 {
				round = append(round, uint32(ack.AckRttUs))
			}
			if threshold > 0 && len(round) > 8 && slices.Min(round) > threshold {
				exit = i
			}
		}
		thresholds[i] = threshold
	}
	return thresholds, exit
}

func meanSD(values []float64) (mean, deviation float64) {
	for _, value := range values {
		mean += value / float64(len(values))
	}
	for _, value := range values {
		deviation += (value - mean) * (value - mean) / float64(len(values))
	}
	return mean, math.Sqrt(deviation)
}

type bin struct{ acked, sent int64 }

// replaySearch returns the record at which SEARCH ends slow start, -1 for none.
func replaySearch(records []acks.Ack, version string) int {
	var bins []bin
	var last bin // at the record before
	var width, end int64
	for i, ack := range records {
		now := int64(ack.TimeNs / 1000)
		total := bin{int64(ack.AckedBytes), int64(ack.SentBytes)}
		if ack.AckRttUs < 0 {
			continue
		}
		if bins == nil {
			if width == 0 {
				width = int64(ack.AckRttUs) * 35 / 100
			}
			bins, end, last = []bin{total}, now+width, total
			continue
		}
		if now < end || now == end && version != "3.1" {
			last = total
			continue
		}
		passed := (now-end)/width + 1
		if limit := map[string]int64{"1.0": 31, "3.1": 4, "4.0": 10}[version]; passed > limit {
			bins = nil
			if passed > 10 {
				width = 0
			}
			if version != "4.0" {
				width = cmp.Or(width, int64(ack.AckRttUs)*35/100)
				bins, end, last = []bin{total}, now+width, total
			}
			continue
		}
		skipped, closing := bins[len(bins)-1], total
		if version == "1.0" {
			skipped, closing = last, last
		}
		for range passed - 1 {
			bins = append(bins, skipped)
		}
		bins, end, last = append(bins, closing), end+passed*width, total
		if searchExits(bins, int64(ack.AckRttUs), width, version) {
			return i
		}
	}
	return -1
}

func searchExits(bins []bin, rtt, width int64, version string) bool {
	now := int64(len(bins)) - 1
	then, percent := now-rtt/width, 100*(rtt%width)/width
	firstFit := map[string]int64{"1.0": 11, "3.1": 10, "4.0": 11}[version]
	maxLag := map[string]int64{"1.0": 13, "3.1": 13, "4.0": 14}[version]
	if then < firstFit || now-then > maxLag {
		return false
	}
	of := func(i int64) int64 {
		switch {
		case i < 0:
			return 0
		case version == "3.1":
			return bins[i].acked
		}
		return bins[i].sent
	}
	before := of(then-1) - of(then-10) + (of(then-10)-of(then-11))*percent/100 + (of(then)-of(then-1))*(100-percent)/100
	delivered := bins[now].acked - bins[now-10].acked
	switch version {
	case "3.1":
		return before > 0 && 2*before >= delivered && 100*(2*before-delivered)/(2*before) >= 35
	case "4.0":
		return before > 0 && 100*(before-delivered)/before >= 26
	}
	return before > 0 && 100*(before-delivered) > 25*before
}

// bestOptions are those of dl_cubic_best that its tests set.
type bestOptions struct{ mergeUs, firstRound, lastRound int }

// replayBest returns the record at which BEST decides and its threshold in segments, -1 for none.
func replayBest(records []acks.Ack, options bestOptions) (int, uint32) {
	var estimates []uint64
	roundEnd, round := records[0].SndNxt, 1
	last, bunchEnd := records[0], noAck
	for i, ack := range records[1:] {
		if ack.AckRttUs < 0 {
			continue
		}
		if options.mergeUs == 0 || ack.TimeNs/1000-last.TimeNs/1000 > uint64(options.mergeUs) {
			if bunchEnd != noAck && last.CwndSegments >= 16 && len(estimates) < 300 {
				estimates = append(estimates, estimateMbps(last, bunchEnd))
			}
			bunchEnd = last
		}
		last = ack
		if int32(ack.SndUna-roundEnd) > 0 {
			round++
			slices.Sort(estimates)
			if round >= options.firstRound && round <= options.lastRound && len(estimates) > 0 {
				if median := estimates[len(estimates)/2]; median*uint64(ack.AckRttUs)/8/uint64(ack.SndMssBytes) > 0 {
					return i + 1, uint32(median * uint64(ack.AckRttUs) / 8 / uint64(ack.SndMssBytes))
				}
			}
			roundEnd, estimates = ack.SndNxt, nil
		}
	}
	return -1, 0
}

// noAck stands for an acknowledgement that has not come.
var noAck acks.Ack

func estimateMbps(ack, before acks.Ack) uint64 {
	us := ack.TimeNs/1000 - before.TimeNs/1000
	if us == 0 {
		return 0
	}
	return min((ack.AckedBytes-before.AckedBytes)*8/us, 1023) // the last class holds all above
}
