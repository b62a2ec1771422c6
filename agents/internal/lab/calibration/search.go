package calibration

import (
	"math"
	"sort"
	"time"

	"downlink/agents/internal/lab/emulate"
	"downlink/agents/internal/lab/tcpmodel"
)

// SEARCH 1.0 (Kachooei 2023): the window over which bytes sent and delivered are compared, in RTTs, how often, and the
// shares of missing bytes that mark its capacity point and its exit.
const (
	searchWindow = 3.5
	searchBins   = 10
	searchChoke  = 0.10
	searchExit   = 0.25
)

// measureSearch gives what Table I of Kachooei 2023 has, in seconds from the first data byte: each column over the runs
// that have it.
func measureSearch(profile emulate.Profile, flows []tcpmodel.Flow, values Values) {
	var full, chokes, lasting, exits, losses []time.Duration
	successes := 0
	for _, flow := range flows {
		choke, lasts, exit := searchPoints(flow)
		loss := flow.FirstLossAt
		if loss != emulate.Never {
			loss -= flow.FirstByteAt
		}
		full, losses = append(full, fullAt(profile, flow)), append(losses, loss)
		chokes, lasting, exits = append(chokes, choke), append(lasting, lasts), append(exits, exit)
		if choke <= exit && exit < loss {
			successes++
		}
	}
	values.set("capacity_s", mean(seconds(full)))
	values.set("search_cg_s", mean(seconds(chokes)))
	values.set("search_cg_lasting_s", mean(seconds(lasting)))
	values.set("search_ex_s", mean(seconds(exits)))
	values.set("first_loss_s", mean(seconds(losses)))
	values.set("search_success_percent", 100*float64(successes)/float64(len(flows)))
}

// SearchTimes are a flow's moments of Table I from its first data byte on, emulate.Never for what did not come: capacity
// point, exit and first loss.
func SearchTimes(flow tcpmodel.Flow) (choke, exit, loss time.Duration) {
	choke, _, exit = searchPoints(flow)
	if loss = flow.FirstLossAt; loss != emulate.Never {
		loss -= flow.FirstByteAt
	}
	return choke, exit, loss
}

// fullAt is when rate times least RTT is in flight, before the first loss.
func fullAt(profile emulate.Profile, flow tcpmodel.Flow) time.Duration {
	need := int64(fullRatio * profile.Facts.NominalRateBps / 8 * profile.Facts.BaseRttMs / 1000)
	for _, ack := range flow.Acks {
		if ack.At < flow.FirstLossAt && ack.SentBytes-ack.Bytes >= need {
			return ack.At - flow.FirstByteAt
		}
	}
	return emulate.Never
}

// searchPoints are the moments at which the share of sent bytes that did not arrive first passes SEARCH's two bounds,
// before the first loss; and the one from which on it stays above the first of them up to the exit.
func searchPoints(flow tcpmodel.Flow) (choke, lasting, exit time.Duration) {
	choke, lasting, exit = emulate.Never, emulate.Never, emulate.Never
	if len(flow.Acks) == 0 {
		return choke, lasting, exit
	}
	window := time.Duration(searchWindow * float64(flow.Acks[0].Rtt))
	until := min(flow.Acks[len(flow.Acks)-1].At, flow.FirstLossAt)
	for at := flow.Acks[0].At + window; at <= until; at += window / searchBins {
		share := missing(flow, at, window)
		if share <= searchChoke {
			lasting = emulate.Never
			continue
		}
		choke, lasting = min(choke, at-flow.FirstByteAt), min(lasting, at-flow.FirstByteAt)
		if share > searchExit {
			return choke, lasting, at - flow.FirstByteAt
		}
	}
	return choke, emulate.Never, exit
}

// missing is the share of the bytes sent in the window that ended an RTT ago that did not arrive in the one that ends now.
func missing(flow tcpmodel.Flow, now, window time.Duration) float64 {
	latest := ackAt(flow, now)
	if latest < 0 {
		return 0
	}
	before := now - flow.Acks[latest].Rtt
	if before-window < flow.FirstByteAt {
		return 0
	}
	sent := counter(flow, before, sentBytes) - counter(flow, before-window, sentBytes)
	delivered := counter(flow, now, deliveredBytes) - counter(flow, now-window, deliveredBytes)
	return math.Max(0, float64(sent-delivered)/float64(sent))
}

func sentBytes(a tcpmodel.Ack) int64      { return a.SentBytes }
func deliveredBytes(a tcpmodel.Ack) int64 { return a.Bytes }

// counter is what a counter of the last acknowledgement up to a moment says. Before the first one the initial window was sent.
func counter(flow tcpmodel.Flow, at time.Duration, of func(tcpmodel.Ack) int64) int64 {
	if i := ackAt(flow, at); i >= 0 {
		return of(flow.Acks[i])
	}
	return 0
}

func ackAt(flow tcpmodel.Flow, at time.Duration) int {
	return sort.Search(len(flow.Acks), func(i int) bool { return flow.Acks[i].At > at }) - 1
}
