package causes

import (
	"fmt"
	"math"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/tcpmodel"
)

func constantRate(p *emulate.Profile) { p.Down.Rate.Varies = nil }

// steady is about how much the steady rate differs from run to run.
func steady() Section {
	return Section{
		Name: "steady", Title: "Peters 2021: steady rate",
		Text: "From published times: 93 (80 to 120) Mb/s; assumed deviation: 10 to 15. Seconds 60 to 120, half with HyStart.",
		head: []string{"rate, Mb/s (runs)", "standard deviation over runs, Mb/s"},
		variants: []variant{
			{name: "geo-viasat"},
			{name: "a constant rate", change: constantRate},
			{name: "without outages", change: withoutOutages},
			{name: "without independent loss", change: timesLoss(0)},
			{name: "without any loss of its own", change: withoutLoss},
			{name: "a constant rate, without any loss of its own", change: func(p *emulate.Profile) {
				constantRate(p)
				withoutLoss(p)
			}},
		},
		runs: 20, measure: steadyRates,
	}
}

func steadyRates(v variant, runs int) []string {
	var rates []float64
	for i := range runs {
		network, start := v.link(v.load(geo), i/2)
		flow := tcpmodel.Run(network, tcpmodel.Options{
			Bytes: 4 * gigabyte, WindowBytes: v.windowBytes(), HasHyStart: i%2 == 0, StartAt: start, Until: pairTime,
		})
		rates = append(rates, rateMbps(flow, steadyS, pairEndS))
	}
	return []string{spread("%.0f", rates), fmt.Sprintf("%.0f", deviation(rates))}
}

// deviation is the sample's standard deviation.
func deviation(values []float64) float64 {
	sum, middle := 0.0, mean(values)
	for _, v := range values {
		sum += (v - middle) * (v - middle)
	}
	return math.Sqrt(sum / float64(len(values)-1))
}
