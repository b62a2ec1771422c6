package acks

// Names are the fields of a row that Rows makes: those of docs/fields.csv first.
// ack_rtt_us is the sample of this acknowledgement (-1: none), rtt_us the smoothed one.
var Names = []string{
	"elapsed_us", "ca_state", "cwnd_segments", "ssthresh_segments", "unacked_segments", "sacked_segments",
	"lost_segments", "retrans_segments", "rtt_us", "rttvar_us", "min_rtt_us", "snd_mss_bytes",
	"total_retrans_segments", "pacing_rate_bps", "acked_bytes", "notsent_bytes", "delivery_rate_bps",
	"delivery_rate_app_limited", "delivered_segments", "sent_bytes", "retransmitted_bytes", "dsack_dups_segments",
	"reord_seen", "snd_wnd_bytes",
	"ack_rtt_us", "in_flight_segments", "lost_total_segments", "app_limited", "detector_state", "detector_value",
}

// Rows turns records into rows of Names.
type Rows struct {
	ZeroNs int64 // the run's zero on CLOCK_MONOTONIC
	lastUs int64
}

// Row writes one record into row, which has a place for each of Names. Two acknowledgements within a microsecond
// are set one apart: the time of a trace strictly increases.
func (r *Rows) Row(ack *Ack, row []int64) {
	elapsedUs := max((int64(ack.TimeNs)-r.ZeroNs)/1000, r.lastUs+1)
	r.lastUs = elapsedUs
	values := [...]int64{
		elapsedUs, int64(ack.CaState), int64(ack.CwndSegments), int64(ack.SsthreshSegments), int64(ack.UnackedSegments),
		int64(ack.SackedSegments), int64(ack.LostSegments), int64(ack.RetransSegments), int64(ack.SrttUs),
		int64(ack.RttvarUs), int64(ack.MinRttUs), int64(ack.SndMssBytes), int64(ack.TotalRetransSegments),
		pacingBps(ack.PacingRateBytesS), int64(ack.AckedBytes), int64(ack.NotsentBytes), deliveryBps(ack),
		int64(ack.IsRateAppLimited), int64(ack.DeliveredSegments), int64(ack.SentBytes), int64(ack.RetransmittedBytes),
		int64(ack.DsackDupsSegments), int64(ack.ReordSeen), int64(ack.SndWndBytes),
		int64(ack.AckRttUs), int64(ack.InFlightSegments), int64(ack.LostTotalSegments), flag(ack.AppLimitedUntilSegments),
		int64(ack.DetectorState), int64(int32(ack.DetectorValue)),
	}
	copy(row, values[:])
}

// pacingBps is -1 for a socket that is not paced, as in tcp_info.
func pacingBps(bytesPerS uint64) int64 {
	if bytesPerS == ^uint64(0) {
		return -1
	}
	return int64(min(bytesPerS, 1<<60)) * 8
}

// deliveryBps is computed as the kernel does for tcp_info.
func deliveryBps(ack *Ack) int64 {
	if ack.RateIntervalUs == 0 {
		return 0
	}
	return int64(ack.RateDeliveredSegments) * int64(ack.SndMssBytes) * 8_000_000 / int64(ack.RateIntervalUs)
}

func flag(value uint32) int64 {
	if value != 0 {
		return 1
	}
	return 0
}
