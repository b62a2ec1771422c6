package causes

import (
	"fmt"
	"time"

	"downlink/agents/internal/lab/calibration"
	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/tcpmodel"
)

// mostBeginning is how long a beginning over LEO is watched, as the study's runs are.
const mostBeginning = 5 * time.Second

func slots(lowBps, highBps float64) func(*emulate.Profile) {
	return func(p *emulate.Profile) { p.Down.Rate.Steps.LowBps, p.Down.Rate.Steps.HighBps = lowBps, highBps }
}

func leo() Section {
	return Section{
		Name: "leo", Title: "Kachooei 2023, Table I, LEO",
		Text: "Published: 0.5, 0.6, 0.7, 0.1 s; 52 %.",
		head: []string{"cg, s", "ex, s", "dp, s", "hr, s", "success, %", "runs with all three"},
		variants: []variant{
			{name: "leo-starlink"},
			{name: "three times the independent loss", change: timesLoss(3)},
			{name: "an outage each second instead of each 4 s", change: func(p *emulate.Profile) { p.Down.Loss.Outages.MeanSpacingS = 1 }},
			{name: "a queue of 1.25 MB instead of 2", change: func(p *emulate.Profile) { p.Down.Queue.LimitBytes = 1_250_000 }},
			{name: "slots of 85 to 115 Mb/s instead of 45 to 85", change: slots(85e6, 115e6)},
			{name: "85 to 115 Mb/s and a queue of 4 MB", change: func(p *emulate.Profile) {
				slots(85e6, 115e6)(p)
				p.Down.Queue.LimitBytes = 4_000_000
			}},
			{name: "85 to 115 Mb/s and three times the independent loss", change: func(p *emulate.Profile) {
				slots(85e6, 115e6)(p)
				timesLoss(3)(p)
			}},
		},
		runs: 131, measure: tableOne("leo-starlink"),
	}
}

// tableOne measures beginnings of flows over a profile as Table I does.
func tableOne(link string) func(v variant, runs int) []string {
	return func(v variant, runs int) []string { return beginnings(link, v, runs) }
}

func beginnings(link string, v variant, runs int) []string {
	columns, successes := make([][]float64, 4), 0
	for i := range runs {
		profile := v.load(link)
		flow := tcpmodel.Run(emulate.New(profile, profile.Seed+uint64(i)), tcpmodel.Options{
			Bytes: gigabyte, WindowBytes: v.windowBytes(), EndsAtLoss: true, StartAt: startOf(i), Until: mostBeginning,
		})
		cg, ex, dp := calibration.SearchTimes(flow)
		if cg <= ex && ex < dp {
			successes++
		}
		if cg != emulate.Never && ex != emulate.Never && dp != emulate.Never {
			for j, value := range []time.Duration{cg, ex, dp, dp - ex} {
				columns[j] = append(columns[j], value.Seconds())
			}
		}
	}
	cells := make([]string, len(columns))
	for j, values := range columns {
		cells[j] = "never"
		if len(values) > 0 {
			cells[j] = fmt.Sprintf("%.2f", mean(values))
		}
	}
	return append(cells, fmt.Sprintf("%.0f", 100*float64(successes)/float64(runs)), fmt.Sprint(len(columns[0])))
}
