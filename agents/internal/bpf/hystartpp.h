// HyStart++ (RFC 9406): a round's minimum RTT well above the last round's turns slow start into conservative
// slow start (CSS), which grows by a quarter; five such rounds end it, a minimum below the baseline undoes it.
#ifndef DL_HYSTARTPP_H
#define DL_HYSTARTPP_H

#include "types.h"

// RFC 9406 section 4.3
#define HSPP_MIN_RTT_THRESH_US 4000u
#define HSPP_MAX_RTT_THRESH_US 16000u
#define HSPP_MIN_RTT_DIVISOR 8
#define HSPP_RTT_SAMPLES 8
#define HSPP_RESUME_SAMPLES 9 // decision 0025
#define HSPP_CSS_GROWTH_DIVISOR 4
#define HSPP_CSS_ROUNDS 5
#define HSPP_L_UNPACED 8

enum hspp_phase { HSPP_SLOW_START = 1, HSPP_CSS = 2, HSPP_DONE = 3 };

struct hspp {
	u32 window_end; // sequence number that ends the round
	u32 last_round_us;
	u32 this_round_us;
	u32 baseline_us;
	u32 samples;
	u32 css_rounds;
	u32 css_credit; // acknowledged segments that have not grown the window yet
	u8 phase;       // 0 until the first acknowledgement
};

static __always_inline bool is_sequence_after(u32 a, u32 b)
{
	return (s32)(a - b) > 0;
}

static __always_inline void hspp_start_round(struct hspp *h, u32 snd_nxt)
{
	h->window_end = snd_nxt;
	h->last_round_us = h->this_round_us;
	h->this_round_us = NO_VALUE_U32;
	h->samples = 0;
}

static __always_inline void hspp_start(struct hspp *h, u32 snd_nxt)
{
	h->phase = HSPP_SLOW_START;
	h->this_round_us = NO_VALUE_U32;
	h->baseline_us = NO_VALUE_U32;
	hspp_start_round(h, snd_nxt);
}

static __always_inline u32 hspp_threshold_us(u32 last_round_us)
{
	return MAX(HSPP_MIN_RTT_THRESH_US, MIN(last_round_us / HSPP_MIN_RTT_DIVISOR, HSPP_MAX_RTT_THRESH_US));
}

static __always_inline void hspp_enter_css(struct hspp *h)
{
	h->baseline_us = h->this_round_us;
	h->phase = HSPP_CSS;
	h->css_rounds = 0;
	h->css_credit = 0;
}

static __always_inline void hspp_resume(struct hspp *h)
{
	h->baseline_us = NO_VALUE_U32;
	h->phase = HSPP_SLOW_START;
}

static __always_inline bool hspp_sees_rise(const struct hspp *h)
{
	return h->samples >= HSPP_RTT_SAMPLES && h->this_round_us != NO_VALUE_U32 &&
	       h->last_round_us != NO_VALUE_U32 &&
	       h->this_round_us >= h->last_round_us + hspp_threshold_us(h->last_round_us);
}

static __always_inline void hspp_take_rtt(struct hspp *h, u32 rtt_us)
{
	h->this_round_us = MIN(h->this_round_us, rtt_us);
	h->samples++;
	if (h->phase == HSPP_CSS && h->samples >= HSPP_RESUME_SAMPLES && h->this_round_us < h->baseline_us)
		hspp_resume(h);
	if (h->phase == HSPP_SLOW_START && hspp_sees_rise(h)) // with a lower baseline, maybe
		hspp_enter_css(h);
}

// True when this acknowledgement ends slow start. A negative RTT is no sample.
static __always_inline bool hspp_on_ack(struct hspp *h, u32 snd_una, u32 snd_nxt, s32 rtt_us)
{
	if (!h->phase)
		hspp_start(h, snd_nxt);
	if (is_sequence_after(snd_una, h->window_end)) {
		hspp_start_round(h, snd_nxt);
		if (h->phase == HSPP_CSS && ++h->css_rounds >= HSPP_CSS_ROUNDS)
			h->phase = HSPP_DONE;
	}
	if (h->phase == HSPP_DONE)
		return true;
	if (rtt_us >= 0)
		hspp_take_rtt(h, rtt_us);
	return false;
}

// How many of the acknowledged segments may grow the window (RFC 9406 sections 4.2 and 4.3).
static __always_inline u32 hspp_growth_segments(struct hspp *h, u32 acked, bool is_paced)
{
	u32 counted = is_paced ? acked : MIN(acked, (u32)HSPP_L_UNPACED);
	if (h->phase != HSPP_CSS)
		return counted;
	h->css_credit += counted;
	u32 grown = h->css_credit / HSPP_CSS_GROWTH_DIVISOR;
	h->css_credit -= grown * HSPP_CSS_GROWTH_DIVISOR;
	return grown;
}

#endif
