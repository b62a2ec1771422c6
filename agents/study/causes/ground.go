package causes

import (
	"fmt"
	"slices"
	"time"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/tcpmodel"
)

const (
	ground = "terrestrial"
	// groundTime is how long the negative control's runs last.
	groundTime = 20 * time.Second
)

func queueOf(bytes int) func(*emulate.Profile) {
	return func(p *emulate.Profile) { p.Down.Queue.LimitBytes = bytes }
}

// farther gives both ways so much delay, and the queue the same number of products of rate and RTT as before.
func farther(baseMs float64) func(*emulate.Profile) {
	return func(p *emulate.Profile) {
		p.Down.Queue.LimitBytes = int(float64(p.Down.Queue.LimitBytes) * baseMs / p.Down.Delay.BaseMs)
		p.Down.Delay.BaseMs, p.Up.Delay.BaseMs = baseMs, baseMs
	}
}

func groundSearch() Section {
	return Section{
		Name: "ground-search", Title: "Negative control: SEARCH, terrestrial",
		Text: "Queue: 250 kB, twice rate times RTT.",
		head: []string{"cg, s", "ex, s", "dp, s", "hr, s", "success, %", "runs with all three"},
		variants: []variant{
			{name: "terrestrial"},
			{name: "a queue of 375 kB", change: queueOf(375_000)},
			{name: "a queue of 500 kB", change: queueOf(500_000)},
			{name: "a queue of 1 MB", change: queueOf(1_000_000)},
		},
		runs: 10, measure: tableOne(ground),
	}
}

func groundPairs() Section {
	return Section{
		Name: "ground-pairs", Title: "Negative control: pairs, terrestrial",
		Text: "Second flow over first (HyStart), 0, 1, 2, … ms later; geometric means.",
		head: []string{"off over on, first 5 s (runs)", "5 to 10 s", "10 to 20 s", "on over on, first 5 s (runs)"},
		variants: []variant{
			{name: "terrestrial"},
			{name: "a queue of 1 MB", change: queueOf(1_000_000)},
			{name: "a queue of 60 kB", change: queueOf(60_000)},
			{name: "an RTT of 100 ms, a queue of twice the product", change: farther(50)},
		},
		runs: 10, measure: groundShares,
	}
}

// groundShares runs two flows of which the second begins some milliseconds later: without that every run would be the same.
func groundShares(v variant, runs int) []string {
	var starts, middles, ends, alike []float64
	for i := range runs {
		off := groundPair(v, i, false)
		starts, middles, ends = append(starts, second(off, 0, 5)), append(middles, second(off, 5, 10)), append(ends, second(off, 10, 20))
		alike = append(alike, second(groundPair(v, i, true), 0, 5))
	}
	return []string{
		geometricSpread(starts), fmt.Sprintf("%.2f", geometricMean(middles)), fmt.Sprintf("%.2f", geometricMean(ends)), geometricSpread(alike),
	}
}

func groundPair(v variant, run int, hasHyStart bool) pair {
	first := tcpmodel.Options{Bytes: gigabyte, WindowBytes: v.windowBytes(), HasHyStart: true, StartAt: startOf(run), Until: groundTime}
	rival := first
	rival.HasHyStart, rival.StartAt = hasHyStart, first.StartAt+time.Duration(run)*time.Millisecond
	flows := tcpmodel.RunTogether(emulate.New(v.load(ground), 1), first, rival)
	return pair{flows[0], flows[1]}
}

// second is the second flow's rate over the first one's.
func second(p pair, fromS, toS int) float64 {
	first, other := p.rates(fromS, toS)
	return other / first
}

// geometricSpread is the geometric mean, with the least and the greatest.
func geometricSpread(values []float64) string {
	return fmt.Sprintf("%.2f (%.2f-%.2f)", geometricMean(values), slices.Min(values), slices.Max(values))
}
