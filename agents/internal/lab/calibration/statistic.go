package calibration

import (
	"fmt"

	"downlink/agents/internal/lab/emulate"
)

// Statistic is one number that says how a link behaves.
type Statistic struct {
	Key, Title, Unit string
	group            group
	measuredBy       string // the command that measures it; empty: this package does
}

type group int

const (
	idle group = iota
	course
	start
	download
	pair
	kernel
)

// Statistics are all that there are, in the order in which they are shown.
var Statistics = []Statistic{
	{"idle_rtt_least_ms", "idle RTT, least", "ms", idle, ""},
	{"idle_rtt_p00_5_ms", "idle RTT, 0.5 % below", "ms", idle, ""},
	{"idle_rtt_median_ms", "idle RTT, median", "ms", idle, ""},
	{"idle_rtt_mean_ms", "idle RTT, mean", "ms", idle, ""},
	{"idle_rtt_p99_5_ms", "idle RTT, 0.5 % above", "ms", idle, ""},
	{"idle_rtt_sd_ms", "idle RTT, standard deviation", "ms", idle, ""},
	{"idle_loss_percent", "idle loss", "%", idle, ""},
	{"single_loss_percent", "idle losses that are single, probes 75 ms apart", "%", idle, ""},

	{"rate_mean_mbps", "rate, mean", "Mb/s", course, ""},
	{"rate_sd_percent", "rate of 1 s, standard deviation", "% of mean", course, ""},
	{"slot_rate_sd_percent", "the same within a slot of 15 s", "% of mean", course, ""},
	{"slot_rate_least_mbps", "mean rate of a slot, least", "Mb/s", course, ""},
	{"slot_rate_most_mbps", "mean rate of a slot, most", "Mb/s", course, ""},
	{"stall_median_ms", "handover stall, median", "ms", course, ""},
	{"stall_spread_ms", "handover stall, 10 to 90 %", "ms", course, ""},

	{"frame_coherence", "ACK bursts, coherence at the frame", "", start, ""},
	{"acks_a_frame", "ACKs in a frame, first 1.8 s", "", start, ""},
	{"initial_spread_ms", "initial window's ACKs, first to last", "ms", start, ""},
	{"grants_begin_s", "ACKs come together, from the first one on", "s", start, ""},
	{"burst_width_ms", "burst of 2 to 4 ACKs, width, 90 %", "ms", start, ""},
	{"off_1mb_s", "HyStart off: 1 MB after", "s", start, ""},
	{"off_5mb_s", "HyStart off: 5 MB after", "s", start, ""},
	{"off_30mb_s", "HyStart off: 30 MB after", "s", start, ""},
	{"on_1mb_s", "HyStart on: 1 MB after", "s", start, ""},
	{"on_5mb_s", "HyStart on: 5 MB after", "s", start, ""},
	{"on_30mb_s", "HyStart on: 30 MB after", "s", start, ""},
	{"exit_s", "HyStart on: slow start left after", "s", start, ""},
	{"by_delay_percent", "HyStart on: left by delay", "%", start, ""},
	{"by_train_percent", "HyStart on: left by train", "%", start, ""},
	{"capacity_s", "HyStart off: link full after", "s", start, ""},
	{"search_cg_s", "SEARCH 1.0: cg", "s", start, ""},
	{"search_cg_lasting_s", "SEARCH 1.0: above cg's bound to the end", "s", start, ""},
	{"search_ex_s", "SEARCH 1.0: ex", "s", start, ""},
	{"first_loss_s", "HyStart off: first loss after (dp)", "s", start, ""},
	{"search_success_percent", "SEARCH 1.0: cg, then ex, then the loss", "%", start, ""},

	{"gb_off_s", "HyStart off: 1 GB after", "s", download, ""},
	{"gb_on_s", "HyStart on: 1 GB after", "s", download, ""},
	{"gb_gain_s", "difference of the two", "s", download, ""},
	{"steady_mbps", "one flow's rate, 60-120 s", "Mb/s", download, ""},
	{"steady_sd_mbps", "its standard deviation over runs", "Mb/s", download, ""},

	{"pair_rtt_ms", "two Cubic flows, RTT, 60-120 s", "ms", pair, ""},
	{"pair_cwnd_mb", "two Cubic flows, window of each, 60-120 s", "MB", pair, ""},
	{"pair_jain", "two Cubic flows, Jain's index, 60-120 s", "", pair, ""},

	{"bbr_over_cubic", "BBR's rate over Cubic's, each alone, 10-30 s", "", kernel, "docs/link-profiles.md"},
	{"bbr_beside_cubic", "BBR's rate over Cubic's, one link, 15-120 s", "", kernel, "`make study-001`"},
}

// Values are statistics by key, NaN for what never came. What was not reckoned is missing.
type Values map[string]float64

func (v Values) set(key string, value float64) { v[key] = value }

// Row is a statistic of a profile beside its target.
type Row struct {
	Statistic
	Value    float64
	HasValue bool
	Target   *emulate.Target
}

// IsInside says whether the value is where its target wants it.
func (r Row) IsInside() bool {
	return r.HasValue && r.Target != nil && r.Target.Low <= r.Value && r.Value <= r.Target.High
}

// Compare puts values beside a profile's targets. Statistics with neither are left out.
func Compare(profile emulate.Profile, values Values) (rows []Row) {
	targets := targets(profile.Facts)
	for _, statistic := range Statistics {
		row := Row{Statistic: statistic, Target: targets[statistic.Key]}
		row.Value, row.HasValue = values[statistic.Key]
		if row.HasValue || row.Target != nil {
			rows = append(rows, row)
		}
	}
	return rows
}

func targets(facts emulate.Facts) map[string]*emulate.Target {
	found := map[string]*emulate.Target{}
	for i := range facts.Targets {
		found[facts.Targets[i].Statistic] = &facts.Targets[i]
	}
	return found
}

// Check refuses targets of statistics that there are not.
func Check(profile emulate.Profile) error {
	for _, target := range profile.Facts.Targets {
		if _, isOne := find(target.Statistic); !isOne {
			return fmt.Errorf("link profile %s has a target for %q, which is not a statistic: docs/link-profiles.md lists them",
				profile.Name, target.Statistic)
		}
	}
	return nil
}

func find(key string) (Statistic, bool) {
	for _, statistic := range Statistics {
		if statistic.Key == key {
			return statistic, true
		}
	}
	return Statistic{}, false
}
