// What Vivace makes of a monitor interval:  U(x) = x^0.9 - latency * x * dRTT/dT - loss * x * L,  x in Mb/s.
// Fixed-point arithmetic; the slope of the RTT comes from sums that every acknowledgement adds to.
#ifndef DL_UTILITY_H
#define DL_UTILITY_H

#include "types.h"

#define VIVACE_MIN_PACKETS 50
// 2^14 samples of up to 2^16 units each: samples times their sum of squares stays below 2^63. Later ones do not count.
#define VIVACE_MAX_RTT_SAMPLES 16384
#define VIVACE_MAX_UNITS 65536
#define VIVACE_STEEPEST_PPM 1000000000ll // of a slope that is still computed with

struct vivace_options {
	u32 is_linear;           // x instead of x^0.9
	u32 loss_milli;          // coefficients in thousandths
	u32 latency_milli;
	u32 slope_tolerance_ppm; // smaller RTT slopes count as none
	u32 noise_percent;       // so do lines that rise less over an interval than this percentage of the samples' deviation
	u32 start_noise_percent; // the same while starting
	u32 interval_rtts;       // length of an interval after the start
};

struct vivace_interval {
	u64 rate;      // bytes per second
	u64 sent_rate; // what was really sent, when all of it is resolved
	u64 least_us;  // it is sent at least so long
	u64 sent_start_us;
	u64 sent_end_us;
	u64 first_packet; // counts of data packets sent since the flow began
	u64 end_packet;
	u64 lost;
	u64 delivered;
	u64 origin_us; // of the RTT regression
	s64 samples;
	s64 sum_t;
	s64 sum_r;
	s64 sum_tt;
	s64 sum_tr;
	s64 sum_rr;
	s64 span_units; // from the first sample to the last, in the units of sum_t
	s64 utility; // thousandths
	u32 base_rtt_us;
	u8 time_shift;
	u8 is_high;
};

struct vivace_ack {
	u64 now_us;
	u64 sent;      // data packets, with retransmissions
	u64 in_flight; // of which neither delivered nor lost
	u64 delivered; // packets
	u64 lost;      // packets ever marked lost
	u32 rtt_us;    // 0: no sample
	u32 min_rtt_us; // intervals are measured in it, so that a full queue does not slow decisions down
	u32 mss_bytes;
	u32 random;
};

// Position of the highest set bit, by halving: the BPF target has no instruction for it.
static __always_inline u32 highest_bit(u64 value)
{
	u32 position = 0;
	for (u32 half = 32; half; half >>= 1)
		if (value >> half) {
			value >>= half;
			position += half;
		}
	return position;
}

// log2 of a positive whole number with 16 fractional bits, one squaring per bit.
static __always_inline u64 log2_q16(u64 value)
{
	u32 whole = highest_bit(value);
	u64 mantissa = whole > 31 ? value >> (whole - 31) : value << (31 - whole); // 1.0 is 2^31
	u64 result = (u64)whole << 16;
	for (int bit = 15; bit >= 0; bit--) {
		mantissa = (mantissa * mantissa) >> 31;
		if (mantissa >= 1ull << 32) {
			mantissa >>= 1;
			result |= 1ull << bit;
		}
	}
	return result;
}

// 2^(1/2), 2^(1/4), … with 31 fractional bits.
static __always_inline u64 root_of_two_q31(int bit)
{
	switch (bit) {
	case 15: return 3037000500;
	case 14: return 2553802834;
	case 13: return 2341847524;
	case 12: return 2242560872;
	case 11: return 2194507417;
	case 10: return 2170868212;
	case 9: return 2159144272;
	case 8: return 2153306067;
	case 7: return 2150392887;
	case 6: return 2148937775;
	case 5: return 2148210589;
	case 4: return 2147847087;
	case 3: return 2147665360;
	case 2: return 2147574502;
	case 1: return 2147529075;
	}
	return 2147506361;
}

static __always_inline u64 exp2_q16(u64 exponent)
{
	u32 whole = (u32)(exponent >> 16) & 31;
	u64 mantissa = 1ull << 31;
	for (int bit = 15; bit >= 0; bit--)
		if (exponent & (1ull << bit))
			mantissa = (mantissa * root_of_two_q31(bit)) >> 31;
	return mantissa >> (31 - whole);
}

// Thousandths of (Mb/s)^0.9. The rate in kb/s: 1000 (x/1000)^0.9 = x^0.9 * 1000^0.1.
static __always_inline u64 throughput_milli(u64 rate, u32 is_linear)
{
	u64 kbps = MAX(rate / 125, 1ull);
	if (is_linear)
		return kbps;
	return exp2_q16(log2_q16(kbps) * 9 / 10 + 65312); // log2(1000)/10 with 16 fractional bits
}

// Covariance of two series of samples from their sums.
static __always_inline s64 covariance(s64 samples, s64 sum_xy, s64 sum_x, s64 sum_y)
{
	return divide_signed(samples * sum_xy - sum_x * sum_y, (u64)(samples * samples));
}

// Slope of the RTT over time by least squares, in millionths.
static __always_inline s64 vivace_slope_ppm(const struct vivace_interval *m)
{
	if (m->samples < 2)
		return 0;
	s64 variance = covariance(m->samples, m->sum_tt, m->sum_t, m->sum_t);
	if (variance <= 0)
		return 0;
	s64 slope_ppm = divide_signed(covariance(m->samples, m->sum_tr, m->sum_t, m->sum_r) * 1000000, (u64)variance);
	return MAX(MIN(slope_ppm, VIVACE_STEEPEST_PPM), -VIVACE_STEEPEST_PPM);
}

// Jitter makes slopes without any queue. They show in how far the samples lie from the line: a slope counts only when
// the line's rise over the interval stands out from that. Squares are compared, so that no root is needed.
static __always_inline bool vivace_is_noise(const struct vivace_interval *m, s64 slope_ppm, u32 noise_percent)
{
	if (m->samples < 2)
		return true;
	s64 explained = divide_signed(covariance(m->samples, m->sum_tr, m->sum_t, m->sum_r) * slope_ppm, 1000000);
	s64 deviation_squared = covariance(m->samples, m->sum_rr, m->sum_r, m->sum_r) - explained;
	s64 rise = MAX(MIN(divide_signed(slope_ppm * m->span_units, 1000000), 1ll << 20), -(1ll << 20));
	return rise * rise * 10000 < deviation_squared * noise_percent * noise_percent;
}

// The slope that counts: none when it is small or noise, and no steeper than time itself.
static __always_inline s64 vivace_judged_slope_ppm(const struct vivace_interval *m, u32 tolerance_ppm, u32 noise_percent)
{
	s64 slope_ppm = vivace_slope_ppm(m);
	bool is_small = slope_ppm < (s64)tolerance_ppm && -slope_ppm < (s64)tolerance_ppm;
	if (is_small || vivace_is_noise(m, slope_ppm, noise_percent))
		return 0;
	return MAX(MIN(slope_ppm, 1000000ll), -1000000ll);
}

// What was really sent, where a window or the application kept the sender well below its rate.
static __always_inline u64 vivace_sent_rate(const struct vivace_interval *m, u32 mss_bytes)
{
	u64 span_us = m->sent_end_us - m->sent_start_us;
	u64 bytes = (m->end_packet - m->first_packet) * mss_bytes;
	u64 sent_rate = span_us ? bytes * 1000000 / span_us : m->rate;
	return sent_rate < m->rate / 10 * 9 ? sent_rate : m->rate;
}

static __always_inline s64 vivace_utility(const struct vivace_interval *m, const struct vivace_options *o, s64 slope_ppm)
{
	u64 kbps = MIN(m->sent_rate / 125, 1ull << 24);
	u64 resolved = m->lost + m->delivered;
	u64 loss_ppm = resolved ? m->lost * 1000000 / resolved : 0;
	s64 latency = divide_signed(divide_signed((s64)kbps * slope_ppm, 1000) * o->latency_milli, 1000000);
	s64 loss = (s64)(kbps * loss_ppm / 1000 * o->loss_milli / 1000000);
	return (s64)throughput_milli(m->sent_rate, o->is_linear) - latency - loss;
}

// So many bits are cut from times that a whole interval's regression fits into 64.
static __always_inline u8 vivace_time_shift(const struct vivace_interval *m, u32 mss_bytes)
{
	u64 packets_us = (u64)VIVACE_MIN_PACKETS * mss_bytes * 1000000 / MAX(m->rate, 1ull);
	u64 span_us = 2 * MAX(m->least_us, packets_us);
	u8 shift = 0;
	for (int i = 0; i < 16; i++)
		if ((span_us >> shift) > 16384)
			shift++;
	return shift;
}

static __always_inline void vivace_add_rtt(struct vivace_interval *m, const struct vivace_ack *ack)
{
	if (!m->samples) {
		m->origin_us = ack->now_us;
		m->base_rtt_us = ack->rtt_us;
	}
	s64 t = (s64)((ack->now_us - m->origin_us) >> m->time_shift);
	s64 r = ((s64)ack->rtt_us - (s64)m->base_rtt_us) >> m->time_shift;
	if (m->samples >= VIVACE_MAX_RTT_SAMPLES || t > VIVACE_MAX_UNITS)
		return;
	r = MAX(MIN(r, (s64)VIVACE_MAX_UNITS), -(s64)VIVACE_MAX_UNITS);
	m->span_units = t;
	m->samples++;
	m->sum_t += t;
	m->sum_r += r;
	m->sum_tt += t * t;
	m->sum_tr += t * r;
	m->sum_rr += r * r;
}

#endif
