// HyStart's delay rule with the threshold that Peters 2021 proposes: a round whose smallest RTT lies above the mean of all
// RTTs before it, by k of their standard deviations, ends slow start.
#ifndef DL_MEANSD_H
#define DL_MEANSD_H

#include "types.h"

#define MEANSD_MIN_SAMPLES 8 // HYSTART_MIN_SAMPLES: the ninth of a round is the first that can tell
#define MEANSD_MOST_RTT_US ((1u << 22) - 1) // with so many samples their squares' sum stays below 2^62
#define MEANSD_MOST_SAMPLES (1u << 18)

struct meansd {
	u64 sum_us;
	u64 squares;
	u32 count;      // of the RTTs in these sums: all so far
	u32 window_end; // sequence number that ends the round
	u32 round_us;   // smallest RTT of the round
	u32 round_samples;
	u32 threshold_us; // of the round; 0: too few RTTs before it
	u32 is_begun;
};

struct meansd_limits {
	u32 k_tenths;
	u32 least_rise_us;
};

static __always_inline u32 meansd_root(u64 value)
{
	u64 root = 0;
	for (int bit = 22; bit >= 0; bit--) {
		u64 longer = root | (1ull << bit);
		if (longer * longer <= value)
			root = longer;
	}
	return (u32)root;
}

// sum^2 / count without leaving 64 bits: sum = mean * count + rest.
static __always_inline u32 meansd_deviation_us(const struct meansd *m)
{
	u64 mean = m->sum_us / m->count;
	u64 rest = m->sum_us - mean * m->count;
	u64 of_mean = mean * mean * m->count + 2 * mean * rest + rest * rest / m->count;
	return meansd_root((m->squares - of_mean) / m->count);
}

static __always_inline void meansd_start_round(struct meansd *m, u32 snd_nxt, struct meansd_limits limits)
{
	m->window_end = snd_nxt;
	m->round_us = NO_VALUE_U32;
	m->round_samples = 0;
	m->threshold_us = 0;
	if (m->count >= MEANSD_MIN_SAMPLES) {
		u32 rise_us = limits.k_tenths * meansd_deviation_us(m) / 10;
		m->threshold_us = (u32)(m->sum_us / m->count) + MAX(rise_us, limits.least_rise_us);
	}
}

static __always_inline void meansd_take(struct meansd *m, u32 rtt_us)
{
	if (m->count >= MEANSD_MOST_SAMPLES)
		return;
	m->sum_us += rtt_us;
	m->squares += (u64)rtt_us * rtt_us;
	m->count++;
}

// True when this acknowledgement ends slow start. is_judged: the window is large enough for it.
static __always_inline bool meansd_on_ack(struct meansd *m, u32 snd_una, u32 snd_nxt, u32 sample_us, bool is_judged,
					  struct meansd_limits limits)
{
	u32 rtt_us = MIN(MAX(sample_us, 1u), MEANSD_MOST_RTT_US);
	if (!m->is_begun || (s32)(snd_una - m->window_end) > 0)
		meansd_start_round(m, snd_nxt, limits);
	m->is_begun = 1;
	meansd_take(m, rtt_us);
	if (!is_judged)
		return false;
	m->round_us = MIN(m->round_us, rtt_us);
	if (m->round_samples < MEANSD_MIN_SAMPLES) {
		m->round_samples++;
		return false;
	}
	return m->threshold_us && m->round_us > m->threshold_us;
}

#endif
