package calibration

import (
	"time"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/tcpmodel"
)

const (
	gb           = 1000 * mb
	mostDownload = 180 * time.Second
	pairTime     = 120 * time.Second
	steadyFrom   = 60 * time.Second
	steadyTo     = 120 * time.Second
)

// measureDownloads runs flows of two minutes or one GB, whichever is longer. A download that takes more than three
// minutes counts with three: the mean is then a lower bound.
func measureDownloads(profile emulate.Profile, effort Effort, values Values) {
	var off, on, steady []float64
	for i := range effort.Downloads {
		for _, hasHyStart := range []bool{false, true} {
			flow := tcpmodel.Run(emulate.New(profile, profile.Seed+uint64(i)), tcpmodel.Options{
				Bytes: 4 * gb, WindowBytes: effort.WindowBytes, HasHyStart: hasHyStart, StartAt: time.Duration(i) * apart, Until: mostDownload,
			})
			took := min(flow.TimeTo(gb), mostDownload).Seconds()
			if hasHyStart {
				on = append(on, took)
			} else {
				off = append(off, took)
			}
			steady = append(steady, flow.RateBps(steadyFrom, steadyTo)/1e6)
		}
	}
	values.set("gb_off_s", mean(off))
	values.set("gb_on_s", mean(on))
	values.set("gb_gain_s", mean(on)-mean(off))
	values.set("steady_mbps", mean(steady))
	values.set("steady_sd_mbps", deviation(steady))
}

// measurePairs runs two default flows at once.
func measurePairs(profile emulate.Profile, effort Effort, values Values) {
	var rtts, windows, fairness []float64
	for i := range effort.Downloads {
		options := tcpmodel.Options{Bytes: 4 * gb, WindowBytes: effort.WindowBytes, HasHyStart: true, StartAt: time.Duration(i) * apart,
			Until: pairTime}
		sum, squares := 0.0, 0.0
		for _, flow := range tcpmodel.RunTogether(emulate.New(profile, profile.Seed+uint64(i)), options, options) {
			rtt, window := steadyMeans(flow)
			rtts, windows = append(rtts, rtt), append(windows, window)
			rate := flow.RateBps(steadyFrom, steadyTo)
			sum, squares = sum+rate, squares+rate*rate
		}
		fairness = append(fairness, sum*sum/(2*squares))
	}
	values.set("pair_rtt_ms", mean(rtts))
	values.set("pair_cwnd_mb", mean(windows))
	values.set("pair_jain", mean(fairness))
}

// steadyMeans are a flow's mean RTT in ms and window in MB, over the seconds of the steady phase.
func steadyMeans(flow tcpmodel.Flow) (rttMs, windowMb float64) {
	var rtts, windows []float64
	for at := steadyFrom; at < steadyTo; at += time.Second / 4 {
		if i := ackAt(flow, at); i >= 0 {
			rtts, windows = append(rtts, milliseconds(flow.Acks[i].Rtt)), append(windows, float64(flow.Acks[i].CwndSegments)*1448/mb)
		}
	}
	return mean(rtts), mean(windows)
}
