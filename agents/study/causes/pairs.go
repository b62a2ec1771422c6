package causes

import (
	"fmt"
	"time"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/tcpmodel"
)

const (
	pairTime = 120 * time.Second
	pairEndS = 120
	steadyS  = 60
	// leadSpanS is over how many seconds two flows are compared, as docs/method.md says.
	leadSpanS = 10
)

// dropAbove moves the random drop, and the queue's end with it.
func dropAbove(bytes int) func(*emulate.Profile) {
	return func(p *emulate.Profile) {
		p.Down.Queue = emulate.Queue{LimitBytes: 2 * bytes, RandomDrop: &emulate.RandomDrop{AboveBytes: bytes, Ratio: 0.25}}
	}
}

func shortOutages(p *emulate.Profile) {
	p.Down.Loss = emulate.Loss{Outages: &emulate.Outages{MeanLengthMs: 3.5, MeanSpacingS: 7}}
}

func pairVariants() []variant {
	return []variant{
		{name: "geo-viasat"},
		{name: ofStudy, isOfStudy: true},
		{name: "random drop above 15.75 MB of 31.5 (1.5 times the published product)", change: dropAbove(15_750_000)},
		{name: "above 9 MB of 18", change: dropAbove(9_000_000)},
		{name: "above 7.9 MB of 15.75 (the queue ends at 1.5 times the product)", change: dropAbove(7_875_000)},
		{name: "above 4.5 MB of 9", change: dropAbove(4_500_000)},
		{name: "no random drop, full at 36 MB", change: func(p *emulate.Profile) { p.Down.Queue.RandomDrop = nil }},
		{name: "without any loss of its own", change: withoutLoss},
		{name: "three times the independent loss", change: timesLoss(3)},
		{name: "ten times the independent loss", change: timesLoss(10)},
		{name: "outages of 3.5 ms each 7 s instead (0.05 %)", change: shortOutages},
		{name: "a constant rate", change: func(p *emulate.Profile) { p.Down.Rate.Varies = nil }},
	}
}

// pair is two flows of one run.
type pair struct{ first, second tcpmodel.Flow }

func (p pair) rates(fromS, toS int) (first, second float64) {
	return rateMbps(p.first, fromS, toS), rateMbps(p.second, fromS, toS)
}

func jain(first, second float64) float64 {
	return (first + second) * (first + second) / (2 * (first*first + second*second))
}

// leadEndS is the first second from which the second flow has no more than the first over ten seconds.
func leadEndS(p pair) float64 {
	for from := range pairEndS - leadSpanS {
		if first, second := p.rates(from, from+leadSpanS); second <= first {
			return float64(from)
		}
	}
	return pairEndS
}

// together runs default Cubic beside another sender, and gives what is asked of each pair: a list for each question. The flows
// themselves are large and not kept.
func together(v variant, runs int, other func(*tcpmodel.Options), questions ...func(pair) float64) [][]float64 {
	answers := make([][]float64, len(questions))
	for i := range runs {
		network, start := v.link(v.load(geo), i)
		cubic := tcpmodel.Options{Bytes: 4 * gigabyte, WindowBytes: v.windowBytes(), HasHyStart: true, StartAt: start, Until: pairTime}
		rival := cubic
		other(&rival)
		flows := tcpmodel.RunTogether(network, cubic, rival)
		for j, ask := range questions {
			answers[j] = append(answers[j], ask(pair{flows[0], flows[1]}))
		}
	}
	return answers
}

func steadyRtt(p pair) float64 { return meanOver(p.first, steadyS, pairEndS, rttMs) }

func bothRates(p pair) float64 {
	first, second := p.rates(steadyS, pairEndS)
	return first + second
}

func cubicPairs() Section {
	return Section{
		Name: "cubic-pairs", Title: "Zhao 2022, Figure 2; Peters 2021, Figure 8a: Cubic pair",
		Text:     "Published: 0.7 s, 5 MB, Jain's index 1.0. Seconds 60 to 120, fairness 55 to 115.",
		head:     []string{"RTT, ms (runs)", "window, first, MB", "second, MB", "both rates, Mb/s", "Jain, mean of runs", "Jain of mean rates"},
		variants: pairVariants(), runs: 10,
		measure: func(v variant, runs int) []string {
			is := together(v, runs, func(*tcpmodel.Options) {}, steadyRtt, firstWindow, secondWindow, bothRates, lateFirst, lateSecond)
			return append([]string{
				spread("%.0f", is[0]), fmt.Sprintf("%.1f", mean(is[1])), fmt.Sprintf("%.1f", mean(is[2])), fmt.Sprintf("%.0f", mean(is[3])),
			}, indices(is[4], is[5])...)
		},
	}
}

func firstWindow(p pair) float64  { return meanOver(p.first, steadyS, pairEndS, windowMb) }
func secondWindow(p pair) float64 { return meanOver(p.second, steadyS, pairEndS, windowMb) }

// lateFirst and lateSecond are the flows' rates in the seconds over which Peters 2021 takes Jain's index.
func lateFirst(p pair) float64  { return rateMbps(p.first, 55, 115) }
func lateSecond(p pair) float64 { return rateMbps(p.second, 55, 115) }

// indices are both ways to reckon Jain's index over runs.
func indices(first, second []float64) []string {
	var ofRuns []float64
	for i := range first {
		ofRuns = append(ofRuns, jain(first[i], second[i]))
	}
	return []string{fmt.Sprintf("%.3f", mean(ofRuns)), fmt.Sprintf("%.3f", jain(mean(first), mean(second)))}
}

func hystartPairs() Section {
	return Section{
		Name: "hystart-pairs", Title: "Peters 2021, Figure 8b; Zhao 2022, Figure 6: HyStart on, off",
		Text: "Published: ratio 16.6 (conclusions: five), lead 40 and 45 s (120: to the end), RTT 0.7 s, Jain 1.0.",
		head: []string{"off over on, first 15 s", "first 60 s", "lead ends, s (runs)", "RTT, 60-120 s, ms", "both rates, Mb/s",
			"Jain, mean of runs", "Jain of mean rates"},
		variants: pairVariants(), runs: 10,
		measure: func(v variant, runs int) []string {
			is := together(v, runs, func(o *tcpmodel.Options) { o.HasHyStart = false },
				func(p pair) float64 { return ratio(p, 15) }, func(p pair) float64 { return ratio(p, 60) }, leadEndS, steadyRtt, bothRates, lateFirst,
				lateSecond)
			return append([]string{
				fmt.Sprintf("%.1f", geometricMean(is[0])), fmt.Sprintf("%.1f", geometricMean(is[1])), median("%.0f", is[2]),
				fmt.Sprintf("%.0f", mean(is[3])), fmt.Sprintf("%.0f", mean(is[4])),
			}, indices(is[5], is[6])...)
		},
	}
}

func ratio(p pair, toS int) float64 {
	first, second := p.rates(0, toS)
	return second / first
}

func hyblaPairs() Section {
	return Section{
		Name: "hybla-pairs", Title: "Zhao 2022, Figure 5: Cubic beside Hybla",
		Text: "Published: Hybla leads for 70 s; then fairly equal; RTT above 2 s, later 0.6 to just over 1 s.",
		head: []string{"Cubic less Hybla, 80-120 s, Mb/s (runs)", "Hybla over Cubic, first 70 s", "RTT, 60-120 s, ms",
			"longest RTT of the first 15 s, s", "times that Cubic cut its window", "Hybla"},
		variants: pairVariants(), runs: 10,
		measure: func(v variant, runs int) []string {
			is := together(v, runs, func(o *tcpmodel.Options) { o.IsHybla = true },
				leadOfFirst, func(p pair) float64 { return ratio(p, 70) }, steadyRtt, longestRttS,
				func(p pair) float64 { return float64(p.first.Losses) }, func(p pair) float64 { return float64(p.second.Losses) })
			return []string{
				spread("%.0f", is[0]), fmt.Sprintf("%.1f", geometricMean(is[1])), fmt.Sprintf("%.0f", mean(is[2])),
				fmt.Sprintf("%.1f", mean(is[3])), fmt.Sprintf("%.0f", mean(is[4])), fmt.Sprintf("%.0f", mean(is[5])),
			}
		},
	}
}

// leadOfFirst is what the first flow has more than the second at the end.
func leadOfFirst(p pair) float64 {
	first, second := p.rates(80, pairEndS)
	return first - second
}

// longestRttS is how long the second flow's packets took at most in the start.
func longestRttS(p pair) float64 {
	longest := 0.0
	for _, ack := range p.second.Acks {
		if ack.At < 15*time.Second {
			longest = max(longest, ack.Rtt.Seconds())
		}
	}
	return longest
}
