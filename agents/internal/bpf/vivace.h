// PCC Vivace (NSDI 2018): sends at a rate, watches what becomes of it over monitor intervals, and climbs the
// gradient of a utility (utility.h).
//
// A step is a plan of one interval (starting, moving) or of two pairs around the base rate (probing). When a plan
// is sent, the base rate is held until all its results are in: a decision always rests on its own intervals.
#ifndef DL_VIVACE_H
#define DL_VIVACE_H

#include "utility.h"

#define VIVACE_PROBES 4
#define VIVACE_EPSILON_PERCENT 5
#define VIVACE_FEW_PACKETS 10
#define VIVACE_EDGE_PACKETS 10 // at either end of an interval, where its neighbour's queue shows
#define VIVACE_MIN_RATE 8000 // bytes per second
#define VIVACE_BOUND_PERCENT 5
#define VIVACE_BOUND_STEP_PERCENT 10

enum vivace_phase { VIVACE_STARTING = 1, VIVACE_PROBING = 2, VIVACE_MOVING = 3 };

struct vivace {
	struct vivace_interval intervals[VIVACE_PROBES];
	u64 base_rate;
	u64 last_rate; // of the result before, for the gradient
	s64 last_utility;
	u64 resolved; // packets no longer in flight
	u64 delivered;
	u64 lost;
	u32 planned;  // intervals in this plan
	u32 sending;  // the one being sent; equal to planned: all are out
	u32 finished; // results that are in
	u32 interval_rtts; // length of an interval after the start
	u32 steps;    // moves in the same direction
	u32 bound_hits;
	s32 direction;
	u8 phase;
};

// An interval lasts its RTTs and fifty packets; at a rate so low that these take more than four RTTs, ten will do.
static __always_inline bool vivace_is_long_enough(const struct vivace_interval *m, const struct vivace_ack *ack)
{
	u64 lasted_us = ack->now_us - m->sent_start_us;
	u64 packets = ack->sent - m->first_packet;
	if (lasted_us < m->least_us)
		return false;
	return packets >= VIVACE_MIN_PACKETS ||
	       (packets >= VIVACE_FEW_PACKETS && lasted_us >= 4ull * ack->min_rtt_us);
}

static __always_inline void vivace_open(const struct vivace *v, const struct vivace_ack *ack, struct vivace_interval *m)
{
	m->least_us = (u64)ack->min_rtt_us * (v->phase == VIVACE_STARTING ? 1 : v->interval_rtts);
	m->sent_start_us = ack->now_us;
	m->first_packet = ack->sent;
	m->end_packet = 0;
	m->lost = 0;
	m->delivered = 0;
	m->origin_us = 0;
	m->samples = 0;
	m->sum_t = 0;
	m->sum_r = 0;
	m->sum_tt = 0;
	m->sum_tr = 0;
	m->sum_rr = 0;
	m->span_units = 0;
	m->time_shift = vivace_time_shift(m, ack->mss_bytes);
}

static __always_inline void vivace_plan_one(struct vivace *v, const struct vivace_ack *ack)
{
	v->planned = 1;
	v->sending = 0;
	v->finished = 0;
	v->intervals[0].rate = v->base_rate;
	vivace_open(v, ack, &v->intervals[0]);
}

static __always_inline void vivace_plan_probes(struct vivace *v, const struct vivace_ack *ack)
{
	v->phase = VIVACE_PROBING;
	v->planned = VIVACE_PROBES;
	v->sending = 0;
	v->finished = 0;
	v->steps = 0;
	v->bound_hits = 0;
	for (u32 i = 0; i < VIVACE_PROBES; i++) {
		bool is_high = ((ack->random >> (i / 2)) ^ i) & 1; // each pair in random order
		v->intervals[i].is_high = is_high;
		v->intervals[i].rate = v->base_rate * (is_high ? 100 + VIVACE_EPSILON_PERCENT : 100 - VIVACE_EPSILON_PERCENT) / 100;
	}
	vivace_open(v, ack, &v->intervals[0]);
}

static __always_inline void vivace_start(struct vivace *v, const struct vivace_ack *ack, const struct vivace_options *o,
					 u64 rate)
{
	v->phase = VIVACE_STARTING;
	v->interval_rtts = o->interval_rtts;
	v->base_rate = MAX(rate, (u64)VIVACE_MIN_RATE);
	v->last_rate = 0;
	v->last_utility = 0;
	v->delivered = ack->delivered;
	v->lost = ack->lost;
	v->resolved = ack->sent - ack->in_flight;
	vivace_plan_one(v, ack);
}

// The rate to send at now.
static __always_inline u64 vivace_rate(const struct vivace *v)
{
	return v->sending < v->planned ? v->intervals[v->sending & (VIVACE_PROBES - 1)].rate : v->base_rate;
}

static __always_inline void vivace_close_sent(struct vivace *v, const struct vivace_ack *ack)
{
	struct vivace_interval *m = &v->intervals[v->sending & (VIVACE_PROBES - 1)];
	if (!vivace_is_long_enough(m, ack))
		return;
	m->end_packet = ack->sent;
	m->sent_end_us = ack->now_us;
	v->sending++;
	if (v->sending < v->planned)
		vivace_open(v, ack, &v->intervals[v->sending & (VIVACE_PROBES - 1)]);
}

// Credits an acknowledgement to the interval whose packets it resolves; packets are resolved in the order sent.
static __always_inline void vivace_credit(struct vivace *v, const struct vivace_ack *ack, u64 delivered, u64 lost)
{
	struct vivace_interval *m = &v->intervals[v->finished & (VIVACE_PROBES - 1)];
	bool is_out = v->finished < v->sending;
	u64 end = is_out ? m->end_packet : ack->sent;
	bool has_edges = end - m->first_packet > VIVACE_MIN_PACKETS;
	u64 edge = has_edges ? VIVACE_EDGE_PACKETS : 0;
	if (v->resolved > m->first_packet + edge && v->resolved <= end - edge) {
		m->delivered += delivered;
		m->lost += lost;
		if (ack->rtt_us)
			vivace_add_rtt(m, ack);
	}
}

static __always_inline bool vivace_is_finished(const struct vivace *v)
{
	const struct vivace_interval *m = &v->intervals[v->finished & (VIVACE_PROBES - 1)];
	return v->finished < v->sending && v->resolved >= m->end_packet;
}

// Steps grow with how long the direction has held: 1, 2, 3, then by two.
static __always_inline u64 vivace_amplifier(u32 steps)
{
	return steps <= 3 ? MAX(steps, 1u) : 2 * (u64)MIN(steps, 1000u) - 3;
}

// gradient: thousandths of utility per Mb/s. The change of rate in bytes per second, bounded by a share of the rate.
static __always_inline s64 vivace_step(struct vivace *v, s64 gradient)
{
	s64 change = gradient * (s64)vivace_amplifier(v->steps) * 125; // 1 Mb/s = 125000 bytes per second
	u64 percent = VIVACE_BOUND_PERCENT + VIVACE_BOUND_STEP_PERCENT * (u64)MIN(v->bound_hits, 10u);
	s64 bound = (s64)(v->base_rate * percent / 100);
	if (change > bound || change < -bound) {
		v->bound_hits++;
		return change > 0 ? bound : -bound;
	}
	v->bound_hits = 0;
	return change;
}

static __always_inline void vivace_move(struct vivace *v, const struct vivace_ack *ack, s64 gradient)
{
	s64 next = (s64)v->base_rate + vivace_step(v, gradient);
	v->phase = VIVACE_MOVING;
	v->base_rate = (u64)MAX(next, (s64)VIVACE_MIN_RATE);
	vivace_plan_one(v, ack);
}

// Thousandths of utility per Mb/s between two rates.
static __always_inline s64 vivace_gradient(s64 utility_change, s64 rate_change)
{
	s64 kbps = divide_signed(rate_change, 125);
	u64 size = kbps < 0 ? (u64)-kbps : (u64)kbps;
	if (!size)
		return 0;
	s64 per_mbps = divide_signed(utility_change * 1000, size);
	return kbps < 0 ? -per_mbps : per_mbps;
}

static __always_inline void vivace_decide_starting(struct vivace *v, const struct vivace_ack *ack)
{
	const struct vivace_interval *m = &v->intervals[0];
	if (v->last_rate && m->utility < v->last_utility) {
		v->base_rate = v->last_rate;
		vivace_plan_probes(v, ack);
		return;
	}
	// While a window holds the sender back, as a send buffer does that is still growing, the rate waits for it.
	if (m->sent_rate >= m->rate) {
		v->last_rate = v->base_rate;
		v->last_utility = m->utility;
		v->base_rate *= 2;
	}
	vivace_plan_one(v, ack);
}

static __always_inline void vivace_decide_probing(struct vivace *v, const struct vivace_ack *ack)
{
	s64 first = v->intervals[0].is_high ? v->intervals[0].utility - v->intervals[1].utility
					    : v->intervals[1].utility - v->intervals[0].utility;
	s64 second = v->intervals[2].is_high ? v->intervals[2].utility - v->intervals[3].utility
					     : v->intervals[3].utility - v->intervals[2].utility;
	s32 direction = first > 0 && second > 0 ? 1 : first < 0 && second < 0 ? -1 : 0;
	if (!direction) {
		vivace_plan_probes(v, ack);
		return;
	}
	s64 span = (s64)(v->base_rate * 2 * VIVACE_EPSILON_PERCENT / 100);
	v->last_rate = v->base_rate;
	v->last_utility = divide_signed(v->intervals[0].utility + v->intervals[1].utility + v->intervals[2].utility +
						v->intervals[3].utility, 4);
	v->direction = direction;
	v->steps = 1;
	vivace_move(v, ack, vivace_gradient(divide_signed(first + second, 2), span));
}

static __always_inline void vivace_decide_moving(struct vivace *v, const struct vivace_ack *ack)
{
	s64 gradient = vivace_gradient(v->intervals[0].utility - v->last_utility, (s64)v->base_rate - (s64)v->last_rate);
	s32 direction = gradient > 0 ? 1 : gradient < 0 ? -1 : 0;
	if (direction != v->direction) {
		v->base_rate = v->last_rate;
		vivace_plan_probes(v, ack);
		return;
	}
	v->last_rate = v->base_rate;
	v->last_utility = v->intervals[0].utility;
	v->steps++;
	vivace_move(v, ack, gradient);
}

static __always_inline void vivace_decide(struct vivace *v, const struct vivace_ack *ack)
{
	if (v->phase == VIVACE_STARTING)
		vivace_decide_starting(v, ack);
	else if (v->phase == VIVACE_PROBING)
		vivace_decide_probing(v, ack);
	else
		vivace_decide_moving(v, ack);
}

static __always_inline void vivace_on_ack(struct vivace *v, const struct vivace_ack *ack, const struct vivace_options *o)
{
	u64 delivered = ack->delivered - v->delivered;
	u64 lost = ack->lost - v->lost;
	v->delivered = ack->delivered;
	v->lost = ack->lost;
	v->resolved = ack->sent - ack->in_flight;
	if (v->sending < v->planned)
		vivace_close_sent(v, ack);
	vivace_credit(v, ack, delivered, lost);
	if (!vivace_is_finished(v))
		return;
	struct vivace_interval *m = &v->intervals[v->finished & (VIVACE_PROBES - 1)];
	u32 noise_percent = v->phase == VIVACE_STARTING ? o->start_noise_percent : o->noise_percent;
	s64 slope_ppm = vivace_judged_slope_ppm(m, o->slope_tolerance_ppm, noise_percent);
	m->sent_rate = vivace_sent_rate(m, ack->mss_bytes);
	m->utility = vivace_utility(m, o, slope_ppm);
	v->finished++;
	if (v->finished >= v->planned)
		vivace_decide(v, ack);
}

// After a timeout or a pause by the application the intervals under way tell nothing: probe anew. A timeout is also
// the verdict that they would have given, too late: the rate is halved.
static __always_inline void vivace_restart(struct vivace *v, const struct vivace_ack *ack, bool has_timed_out)
{
	v->delivered = ack->delivered;
	v->lost = ack->lost;
	v->resolved = ack->sent - ack->in_flight;
	if (has_timed_out)
		v->base_rate = MAX(v->base_rate / 2, (u64)VIVACE_MIN_RATE);
	if (v->phase == VIVACE_STARTING && !has_timed_out)
		vivace_plan_one(v, ack);
	else
		vivace_plan_probes(v, ack);
}

static __always_inline u32 vivace_cwnd(u64 rate, u32 srtt_us, u32 mss_bytes)
{
	u64 segments = 2 * rate * srtt_us / 1000000 / MAX(mss_bytes, 1u);
	return (u32)MAX(MIN(segments, 1ull << 24), 4ull);
}

#endif
