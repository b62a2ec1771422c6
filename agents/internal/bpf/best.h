// BEST, slow start from a bandwidth estimate: the spacing of acknowledgements gives an estimate each; the median
// of a round, times the RTT, becomes the slow-start threshold once.
#ifndef DL_BEST_H
#define DL_BEST_H

#include "types.h"

#define BEST_CLASSES 1024 // a power of two; the last class holds everything above

struct best_options {
	u32 percentile;
	u32 first_round; // the first round at whose opening the estimates of the one before may decide; they count from 1
	u32 last_round;
	u32 class_mbps;     // width of an estimate's class
	u32 most_estimates; // of a round; later ones are dropped
	u32 low_window;     // segments; below it acknowledgements give no estimate
	u32 merge_us;       // acknowledgements that follow each other no later than that count as one; 0: each counts
};

// A bunch is one acknowledgement, or several that are merged. It has ended when an acknowledgement comes that is not of it.
struct best {
	u64 last_ack_us; // and the next two: the latest acknowledgement, so far the end of its bunch
	u64 last_acked_bytes;
	u32 last_cwnd_segments;
	u64 bunch_end_us; // of the bunch before
	u64 bunch_acked_bytes;
	u32 round_end; // sequence number
	u32 round;
	u32 estimates;
	u32 estimate_mbps; // of the last finished round
	u16 counts[BEST_CLASSES];
	u8 is_started;
	u8 is_bunch_known; // the bunch before the latest acknowledgement's
	u8 is_done;
};

struct best_ack {
	u64 now_us;
	u64 acked_bytes;
	u32 snd_una;
	u32 snd_nxt;
	u32 rtt_us;
	u32 mss_bytes;
	u32 cwnd_segments;
};

static __always_inline void best_clear_round(struct best *b, u32 snd_nxt)
{
	b->round_end = snd_nxt;
	b->estimates = 0;
	u64 *words = (u64 *)b->counts;
	for (u32 i = 0; i < BEST_CLASSES * sizeof(u16) / sizeof(u64); i++)
		words[i] = 0;
}

// Whole Mb/s: bytes times eight over microseconds; 0 for two acknowledgements in one microsecond.
static __always_inline void best_add_estimate(struct best *b, u64 bytes, u64 interval_us, const struct best_options *options)
{
	if (b->estimates >= options->most_estimates)
		return;
	u64 class = interval_us ? bytes * 8 / interval_us / options->class_mbps : 0;
	b->counts[MIN(class, (u64)BEST_CLASSES - 1) & (BEST_CLASSES - 1)]++;
	b->estimates++;
}

// The latest acknowledgement was the last of its bunch: what the bunch acknowledged, over the time since the one before.
static __always_inline void best_end_bunch(struct best *b, const struct best_options *options)
{
	if (b->is_bunch_known && b->last_cwnd_segments >= options->low_window)
		best_add_estimate(b, b->last_acked_bytes - b->bunch_acked_bytes, b->last_ack_us - b->bunch_end_us, options);
	b->bunch_end_us = b->last_ack_us;
	b->bunch_acked_bytes = b->last_acked_bytes;
	b->is_bunch_known = true;
}

static __always_inline u32 best_percentile_mbps(const struct best *b, const struct best_options *options)
{
	u32 rank = (u32)((u64)b->estimates * options->percentile / 100);
	u32 below = 0;
	for (u32 i = 0; i < BEST_CLASSES; i++) {
		below += b->counts[i];
		if (below > rank)
			return i * options->class_mbps;
	}
	return 0;
}

static __always_inline u32 best_segments(u32 rate_mbps, u32 rtt_us, u32 mss_bytes)
{
	return mss_bytes ? (u32)((u64)rate_mbps * rtt_us / 8 / mss_bytes) : 0;
}

// The opening of a round judges the one that has ended.
static __always_inline u32 best_open_round(struct best *b, const struct best_ack *ack, const struct best_options *options)
{
	u32 ssthresh = 0;
	b->round++;
	b->estimate_mbps = best_percentile_mbps(b, options);
	if (b->round >= options->first_round && b->round <= options->last_round)
		ssthresh = best_segments(b->estimate_mbps, ack->rtt_us, ack->mss_bytes);
	best_clear_round(b, ack->snd_nxt);
	return ssthresh;
}

// The slow-start threshold in segments that this acknowledgement sets, 0 for none.
static __always_inline u32 best_on_ack(struct best *b, const struct best_ack *ack, const struct best_options *options)
{
	u32 ssthresh = 0;
	if (b->is_done)
		return 0;
	if (!b->is_started) {
		b->is_started = true;
		b->is_bunch_known = false;
		b->round = 1;
		best_clear_round(b, ack->snd_nxt);
	} else {
		if (!options->merge_us || ack->now_us - b->last_ack_us > options->merge_us)
			best_end_bunch(b, options);
		if ((s32)(ack->snd_una - b->round_end) > 0)
			ssthresh = best_open_round(b, ack, options);
	}
	b->last_ack_us = ack->now_us;
	b->last_acked_bytes = ack->acked_bytes;
	b->last_cwnd_segments = ack->cwnd_segments;
	b->is_done = ssthresh > 0;
	return ssthresh;
}

#endif
