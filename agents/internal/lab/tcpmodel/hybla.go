package tcpmodel

import (
	"math"
	"time"
)

// Linux's values (net/ipv4/tcp_hybla.c).
const (
	hyblaReference  = 25 * time.Millisecond
	hyblaMostWindow = 65535
	hyblaMostPower  = 16
	renoBeta        = 0.5
	smoothing       = 8 // of the RTT
)

// hybla widens the window as a flow with an RTT of 25 ms would, with each acknowledgement. internal/bpf/hybla.h is the same
// for real connections.
type hybla struct {
	srtt, least time.Duration
	part        float64 // of a segment
}

func (h *hybla) hear(rtt time.Duration) {
	if h.srtt == 0 {
		h.srtt, h.least = rtt, rtt
		return
	}
	h.srtt += (rtt - h.srtt) / smoothing
	h.least = min(h.least, h.srtt)
}

// grown is the window after an acknowledgement.
func (h *hybla) grown(cwnd, threshold int64) int64 {
	rho := max(float64(h.least)/float64(hyblaReference), 1)
	if cwnd >= threshold {
		h.part += rho * rho / float64(cwnd)
	} else {
		h.part += math.Exp2(min(rho, hyblaMostPower)) - 1
	}
	whole := int64(h.part)
	h.part -= float64(whole)
	if cwnd < threshold {
		return min(cwnd+whole, threshold, hyblaMostWindow)
	}
	return min(cwnd+whole, hyblaMostWindow)
}
