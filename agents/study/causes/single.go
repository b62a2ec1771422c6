package causes

import (
	"fmt"
	"time"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/tcpmodel"
)

const (
	geo      = "geo-viasat"
	gigabyte = 1 << 30
	// mostDownload is what a download counts with that takes longer.
	mostDownload = 300 * time.Second
	halfFrame    = 20 // ms, the mean wait for a frame
)

// withoutFrames lets every acknowledgement go at once, as much later as it would have waited for an empty frame.
func withoutFrames(p *emulate.Profile) {
	p.Up.Frames = nil
	p.Up.Delay.BaseMs += halfFrame
}

func withoutLoss(p *emulate.Profile) { p.Down.Loss = emulate.Loss{} }

func withoutOutages(p *emulate.Profile) { p.Down.Loss.Outages = nil }

func timesLoss(factor float64) func(*emulate.Profile) {
	return func(p *emulate.Profile) { p.Down.Loss.IndependentRatio *= factor }
}

// buffers is about windows far below what the link holds.
func buffers() Section {
	return Section{
		Name: "buffers", Title: "Peters 2021, Figure 2: default buffers without autotuning",
		Text: "Our reading: 0.9 Mb/s. Linux 4.15 offers half, 6.18 five eighths. Seconds 30 to 60.",
		head: []string{"rate, Mb/s (runs)", "RTT, ms"},
		variants: []variant{
			{name: "half of 131,072, geo-viasat", window: 65_536},
			{name: "half of 131,072, without frames", change: withoutFrames, window: 65_536},
			{name: "five eighths of 131,072, geo-viasat", window: 81_920},
			{name: "five eighths of 131,072, without frames", change: withoutFrames, window: 81_920},
			{name: "half of 262,144, geo-viasat", window: 131_072},
			{name: "half of 262,144, without frames", change: withoutFrames, window: 131_072},
			{name: "five eighths of 262,144, geo-viasat", window: 163_840},
			{name: "five eighths of 262,144, without frames", change: withoutFrames, window: 163_840},
		},
		runs: 5, measure: smallWindow,
	}
}

// defaults is about the largest window that default buffers give.
func defaults() Section {
	return Section{
		Name: "defaults", Title: "Peters 2021, Figures 2, 3: largest default window",
		Text: "Published: about 30 Mb/s. Linux 4.15: 3.15 MB; 6.18: 3.93 MB. Seconds 30 to 60.",
		head: []string{"rate, Mb/s (runs)", "RTT, ms"},
		variants: []variant{
			{name: "3.15 MB, geo-viasat", window: 3_145_728},
			{name: "3.93 MB, geo-viasat", window: 3_932_160},
			{name: "3.15 MB, without loss", change: withoutLoss, window: 3_145_728},
			{name: "3.93 MB, without loss", change: withoutLoss, window: 3_932_160},
			{name: "3.15 MB, three times the independent loss", change: timesLoss(3), window: 3_145_728},
			{name: "3.93 MB, three times the independent loss", change: timesLoss(3), window: 3_932_160},
		},
		runs: 10, measure: smallWindow,
	}
}

func smallWindow(v variant, runs int) []string {
	var rates, rtts []float64
	for i := range runs {
		network, start := v.link(v.load(geo), i)
		flow := tcpmodel.Run(network, tcpmodel.Options{
			Bytes: gigabyte, WindowBytes: v.windowBytes(), HasHyStart: true, StartAt: start, Until: time.Minute,
		})
		rates = append(rates, rateMbps(flow, 30, 60))
		rtts = append(rtts, meanOver(flow, 30, 60, rttMs))
	}
	return []string{spread("%.3g", rates), fmt.Sprintf("%.0f", mean(rtts))}
}

// objects is about how fast a flow begins.
func objects() Section {
	return Section{
		Name: "objects", Title: "Peters 2021, Figure 6: objects, HyStart off",
		Text: "Published: 6, 8 (conclusions: 7) and 11 s. Medians with handshake and request.",
		head: []string{"1 MB, s", "5 MB, s", "30 MB, s", "5 MB from the first byte, s", "5 MB less 1 MB, s"},
		variants: []variant{
			{name: "geo-viasat"},
			{name: "grants 12 frames after the request instead of 16", change: func(p *emulate.Profile) { p.Up.Frames.GrantDelayFrames = 12 }},
			{name: "requests over 16 frames instead of 22", change: func(p *emulate.Profile) { p.Up.Frames.RequestFrames = 16 }},
			{name: "both", change: func(p *emulate.Profile) { p.Up.Frames.GrantDelayFrames, p.Up.Frames.RequestFrames = 12, 16 }},
			{name: "without frames", change: withoutFrames},
			{name: "without any loss of its own", change: withoutLoss},
		},
		runs: 20, measure: objectTimes,
	}
}

func objectTimes(v variant, runs int) []string {
	times := make([][]float64, 5)
	for i := range runs {
		network, start := v.link(v.load(geo), i)
		flow := tcpmodel.Run(network, tcpmodel.Options{
			Bytes: 31 * mb, WindowBytes: v.windowBytes(), StartAt: start, Until: time.Minute,
		})
		one, five, thirty := flow.TimeTo(1*mb).Seconds(), flow.TimeTo(5*mb).Seconds(), flow.TimeTo(30*mb).Seconds()
		for j, value := range []float64{one, five, thirty, five - flow.FirstByteAt.Seconds(), five - one} {
			times[j] = append(times[j], value)
		}
	}
	cells := make([]string, len(times))
	for j, values := range times {
		cells[j] = median("%.2f", values)
	}
	return cells
}

// downloads is about a gigabyte.
func downloads() Section {
	return Section{
		Name: "downloads", Title: "Peters 2021, Figure 5: 1 GiB",
		Text: "Published: 125 and 100 s. Runs capped at 300 s.",
		head: []string{"HyStart on, s (runs)", "HyStart off, s (runs)"},
		variants: []variant{
			{name: "geo-viasat"},
			{name: ofStudy, isOfStudy: true},
			{name: "without outages", change: withoutOutages},
			{name: "without independent loss", change: timesLoss(0)},
			{name: "without any loss of its own", change: withoutLoss},
			{name: "three times the independent loss", change: timesLoss(3)},
			{name: "windows of 24 MB", window: 24 * mb},
		},
		runs: 20, measure: downloadTimes,
	}
}

func downloadTimes(v variant, runs int) []string {
	var cells []string
	for _, hasHyStart := range []bool{true, false} {
		var times []float64
		for i := range runs {
			network, start := v.link(v.load(geo), i)
			flow := tcpmodel.Run(network, tcpmodel.Options{
				Bytes: gigabyte, WindowBytes: v.windowBytes(), HasHyStart: hasHyStart, StartAt: start, Until: mostDownload,
			})
			times = append(times, min(flow.TimeTo(gigabyte), mostDownload).Seconds())
		}
		cells = append(cells, spread("%.0f", times))
	}
	return cells
}
