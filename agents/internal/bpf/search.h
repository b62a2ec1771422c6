// SEARCH, slow-start exit at the right chokepoint: bytes over a window of 3.5 initial RTTs, kept in bins,
// compared with the same window one RTT ago. Versions differ in what they compare:
//   1.0 (Kachooei 2023: SEARCH: Robust TCP Slow Start Performance over Satellite Networks, IEEE LCN)
//                        sent one RTT ago with delivered now, exit when more than 25 % is missing
//   3.1 (Linux module)   twice the delivered of one RTT ago with delivered now, exit from 35 %
//   4.0 (draft-09)       as 1.0, exit from 26 %
#ifndef DL_SEARCH_H
#define DL_SEARCH_H

#include "types.h"

#define SEARCH_WINDOW_BINS 10
#define SEARCH_HISTORY_BINS 32 // a power of two; 26 are ever read
#define SEARCH_BIN_PERCENT_OF_RTT 35
#define SEARCH_BINS_PER_RTT 2 // whole bins in an initial RTT
#define SEARCH_MAX_MISSED_BINS SEARCH_WINDOW_BINS

enum search_version { SEARCH_1_0 = 10, SEARCH_3_1 = 31, SEARCH_4_0 = 40 };

struct search_options {
	u32 version;
	u32 threshold_percent; // 0: the version's own
	u32 resets_when_app_limited;
	u32 missed_rtts;       // of 3.1: history is dropped after this many initial RTTs without an acknowledgement; 0: only when no bin is left
};

struct search_ack {
	u64 now_us;
	u64 acked_bytes;
	u64 sent_bytes;
	u32 rtt_us; // of this acknowledgement
	bool is_app_limited;
};

struct search_total {
	u64 acked_bytes;
	u64 sent_bytes;
};

struct search {
	struct search_total last; // at the acknowledgement before
	u64 bin_end_us;
	u64 acked_bytes[SEARCH_HISTORY_BINS]; // cumulative at the end of each bin
	u64 sent_bytes[SEARCH_HISTORY_BINS];
	u32 bin_us; // 0 until the first RTT
	u32 bin;    // the current one, counted from 0
	s32 norm_percent; // of the last test
	bool is_started;
};

static __always_inline void search_reset(struct search *s)
{
	s->is_started = false;
}

static __always_inline void search_store(struct search *s, u32 bin, struct search_total total)
{
	s->acked_bytes[bin & (SEARCH_HISTORY_BINS - 1)] = total.acked_bytes;
	s->sent_bytes[bin & (SEARCH_HISTORY_BINS - 1)] = total.sent_bytes;
}

static __always_inline struct search_total search_total_of(const struct search_ack *ack)
{
	struct search_total total = { .acked_bytes = ack->acked_bytes, .sent_bytes = ack->sent_bytes };
	return total;
}

static __always_inline struct search_total search_stored(const struct search *s, u32 bin)
{
	struct search_total total = {
		.acked_bytes = s->acked_bytes[bin & (SEARCH_HISTORY_BINS - 1)],
		.sent_bytes = s->sent_bytes[bin & (SEARCH_HISTORY_BINS - 1)],
	};
	return total;
}

static __always_inline void search_start(struct search *s, const struct search_ack *ack)
{
	if (!s->bin_us)
		s->bin_us = MAX((u32)((u64)ack->rtt_us * SEARCH_BIN_PERCENT_OF_RTT / 100), 1u);
	s->bin = 0;
	s->bin_end_us = ack->now_us + s->bin_us;
	s->is_started = true;
	search_store(s, 0, search_total_of(ack));
}

// 4.0 starts again with the next acknowledgement, the others with this one.
static __always_inline void search_restart(struct search *s, const struct search_ack *ack, u32 version)
{
	search_reset(s);
	if (version != SEARCH_4_0)
		search_start(s, ack);
}

// Bytes in the window that ends at `bin`, shifted back by `percent` of a bin. The bin before the first counts as empty.
static __always_inline u64 search_window_bytes(const u64 *totals, u32 bin, u32 percent)
{
	u32 first = bin - SEARCH_WINDOW_BINS;
	u64 oldest = first ? totals[(first - 1) & (SEARCH_HISTORY_BINS - 1)] : 0;
	u64 old = totals[first & (SEARCH_HISTORY_BINS - 1)];
	u64 young = totals[(bin - 1) & (SEARCH_HISTORY_BINS - 1)];
	u64 youngest = totals[bin & (SEARCH_HISTORY_BINS - 1)];
	return (young - old) + (old - oldest) * percent / 100 + (youngest - young) * (100 - percent) / 100;
}

static __always_inline bool search_has_history(const struct search *s, u32 shifted_bin, u32 version)
{
	u32 lag = s->bin - shifted_bin;
	if (version == SEARCH_4_0)
		return shifted_bin > SEARCH_WINDOW_BINS && lag < 15;
	return shifted_bin >= SEARCH_WINDOW_BINS + (version == SEARCH_1_0) && lag < 14;
}

// The missing share of the expected bytes in whole percent; false when there is nothing to expect. Rounded down as in
// the module and the draft; up in 1.0, whose exit asks for more than a quarter.
static __always_inline bool search_norm_percent(struct search *s, u32 shifted_bin, u32 percent, u32 version)
{
	u64 delivered = s->acked_bytes[s->bin & (SEARCH_HISTORY_BINS - 1)] -
			s->acked_bytes[(s->bin - SEARCH_WINDOW_BINS) & (SEARCH_HISTORY_BINS - 1)];
	u64 expected = version == SEARCH_3_1 ? 2 * search_window_bytes(s->acked_bytes, shifted_bin, percent)
					     : search_window_bytes(s->sent_bytes, shifted_bin, percent);
	if (!expected)
		return false;
	s64 missing = 100 * ((s64)expected - (s64)delivered);
	if (version == SEARCH_1_0 && missing > 0)
		missing += (s64)expected - 1;
	s->norm_percent = (s32)divide_signed(missing, expected);
	return true;
}

static __always_inline s32 search_threshold_percent(const struct search_options *options)
{
	if (options->threshold_percent)
		return (s32)options->threshold_percent;
	return options->version == SEARCH_1_0 ? 25 : options->version == SEARCH_3_1 ? 35 : 26;
}

static __always_inline bool search_tests_exit(struct search *s, u32 rtt_us, const struct search_options *options)
{
	u32 shift_bins = rtt_us / s->bin_us;
	u32 shift_percent = (u32)(100 * (u64)(rtt_us % s->bin_us) / s->bin_us);
	if (shift_bins > s->bin)
		return false;
	u32 shifted_bin = s->bin - shift_bins;
	if (!search_has_history(s, shifted_bin, options->version))
		return false;
	if (!search_norm_percent(s, shifted_bin, shift_percent, options->version))
		return false;
	s32 threshold = search_threshold_percent(options);
	return options->version == SEARCH_1_0 ? s->norm_percent > threshold : s->norm_percent >= threshold;
}

static __always_inline bool search_is_stale(u64 missed_bins, const struct search_options *options)
{
	if (options->version == SEARCH_4_0)
		return missed_bins > SEARCH_MAX_MISSED_BINS;
	if (options->version == SEARCH_3_1 && options->missed_rtts &&
	    missed_bins > (u64)options->missed_rtts * SEARCH_BINS_PER_RTT)
		return true;
	return missed_bins >= SEARCH_HISTORY_BINS;
}

// Closes bins. 1.0 counts what came up to a bin's end; the module and its successor put the acknowledgement that closes
// a bin into it, and let bins without an acknowledgement keep the total of the bin before.
static __always_inline void search_advance(struct search *s, u32 bins, const struct search_ack *ack, u32 version)
{
	bool is_exact = version == SEARCH_1_0;
	struct search_total passed = is_exact ? s->last : search_stored(s, s->bin);
	for (u32 i = 1; i < SEARCH_HISTORY_BINS && i < bins; i++)
		search_store(s, s->bin + i, passed);
	s->bin += bins;
	s->bin_end_us += (u64)bins * s->bin_us;
	search_store(s, s->bin, is_exact ? s->last : search_total_of(ack));
}

static __always_inline bool search_judge(struct search *s, const struct search_ack *ack,
					 const struct search_options *options)
{
	if (!s->is_started) {
		search_start(s, ack);
		return false;
	}
	bool is_strict = options->version != SEARCH_3_1;
	if (ack->now_us < s->bin_end_us || (is_strict && ack->now_us == s->bin_end_us))
		return false;
	u64 bins = (ack->now_us - s->bin_end_us) / s->bin_us + 1;
	if (search_is_stale(bins, options)) {
		if (bins > SEARCH_MAX_MISSED_BINS)
			s->bin_us = 0; // the path has changed: learn its RTT again
		search_restart(s, ack, options->version);
		return false;
	}
	search_advance(s, (u32)bins, ack, options->version);
	if (ack->is_app_limited && options->resets_when_app_limited) {
		search_restart(s, ack, options->version);
		return false;
	}
	return search_tests_exit(s, ack->rtt_us, options);
}

// True when this acknowledgement ends slow start.
static __always_inline bool search_on_ack(struct search *s, const struct search_ack *ack,
					  const struct search_options *options)
{
	bool has_exit = search_judge(s, ack, options);
	s->last = search_total_of(ack);
	return has_exit;
}

// The window without what was delivered in the last two initial RTTs, and at least the initial one (option of 3.1).
static __always_inline u32 search_rollback_segments(const struct search *s, u32 cwnd_segments, u32 mss_bytes)
{
	u32 overshoot_bins = 2 * 100 / SEARCH_BIN_PERCENT_OF_RTT;
	u64 bytes = s->acked_bytes[s->bin & (SEARCH_HISTORY_BINS - 1)] -
		    s->acked_bytes[(s->bin - overshoot_bins) & (SEARCH_HISTORY_BINS - 1)];
	u64 segments = mss_bytes ? bytes / mss_bytes : 0;
	return segments < cwnd_segments ? MAX(cwnd_segments - (u32)segments, 10u) : 10;
}

#endif
