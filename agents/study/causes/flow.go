package causes

import (
	"sort"
	"time"

	"downlink/agents/internal/lab/tcpmodel"
)

// step is how often a flow is looked at for means over time.
const step = time.Second / 4

func rateMbps(flow tcpmodel.Flow, fromS, toS int) float64 {
	return flow.RateBps(time.Duration(fromS)*time.Second, time.Duration(toS)*time.Second) / mb
}

func rttMs(ack tcpmodel.Ack) float64    { return float64(ack.Rtt) / float64(time.Millisecond) }
func windowMb(ack tcpmodel.Ack) float64 { return float64(ack.CwndSegments) * 1448 / mb }

// meanOver is the mean over time of what the latest acknowledgement says.
func meanOver(flow tcpmodel.Flow, fromS, toS int, of func(tcpmodel.Ack) float64) float64 {
	var values []float64
	for at := time.Duration(fromS) * time.Second; at < time.Duration(toS)*time.Second; at += step {
		if i := sort.Search(len(flow.Acks), func(i int) bool { return flow.Acks[i].At > at }) - 1; i >= 0 {
			values = append(values, of(flow.Acks[i]))
		}
	}
	return mean(values)
}
