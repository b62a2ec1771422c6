// TCP Hybla: a flow with a long RTT grows as fast as one with a reference RTT would (rho = RTT / reference).
// Increments are kept in 128ths of a segment, rho with three fractional bits.
#ifndef DL_HYBLA_H
#define DL_HYBLA_H

#include "types.h"

#define HYBLA_MAX_CWND 65535
#define HYBLA_MAX_EXPONENT 16

struct hybla {
	u32 min_srtt_us8; // smallest smoothed RTT, eightfold as the kernel keeps it
	u32 rho_8ths;
	u32 remainder_128ths;
};

struct hybla_window {
	u32 cwnd;
	u32 ssthresh;
	u32 acks; // since the window last grew
};

// 2^(n/8) in 128ths
static __always_inline u32 hybla_power_of_eighth(u32 eighths)
{
	switch (eighths & 7) {
	case 0: return 128;
	case 1: return 139;
	case 2: return 152;
	case 3: return 165;
	case 4: return 181;
	case 5: return 197;
	case 6: return 215;
	}
	return 234;
}

static __always_inline u32 hybla_rho_8ths(u32 srtt_us8, u32 rtt0_ms)
{
	return MAX(srtt_us8 / (rtt0_ms * 1000), 8u);
}

static __always_inline void hybla_start(struct hybla *h, u32 srtt_us8, u32 rtt0_ms)
{
	h->min_srtt_us8 = srtt_us8;
	h->rho_8ths = hybla_rho_8ths(srtt_us8, rtt0_ms);
	h->remainder_128ths = 0;
}

static __always_inline void hybla_take_srtt(struct hybla *h, u32 srtt_us8, u32 rtt0_ms)
{
	if (srtt_us8 >= h->min_srtt_us8)
		return;
	h->min_srtt_us8 = srtt_us8;
	h->rho_8ths = hybla_rho_8ths(srtt_us8, rtt0_ms);
}

// 2^rho - 1 in slow start, rho^2 / cwnd after it.
static __always_inline u32 hybla_increment_128ths(const struct hybla *h, const struct hybla_window *w)
{
	u32 rho = h->rho_8ths >> 3;
	if (w->cwnd < w->ssthresh)
		return (hybla_power_of_eighth(h->rho_8ths) << MIN(rho, (u32)HYBLA_MAX_EXPONENT)) - 128;
	return w->cwnd ? 2 * h->rho_8ths * h->rho_8ths / w->cwnd : 0;
}

static __always_inline void hybla_on_ack(struct hybla *h, struct hybla_window *w)
{
	bool is_slow_start = w->cwnd < w->ssthresh;
	u32 increment = hybla_increment_128ths(h, w);
	u32 due = h->remainder_128ths + increment % 128;
	w->acks = due >= 128 ? 0 : w->acks + 1;
	w->cwnd += (increment >> 7) + (due >> 7);
	h->remainder_128ths = due & 127;
	if (!increment && w->acks >= w->cwnd) { // a window too large for its 128ths still grows as Reno's
		w->cwnd++;
		w->acks = 0;
	}
	if (is_slow_start)
		w->cwnd = MIN(w->cwnd, w->ssthresh);
	w->cwnd = MIN(w->cwnd, (u32)HYBLA_MAX_CWND);
}

#endif
