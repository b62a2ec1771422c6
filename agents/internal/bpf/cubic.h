// The kernel's own Cubic, entry by entry, without its HyStart. HyStart lives only in the kernel's `acked` entry,
// so a control that forwards every other entry and keeps the minimum delay itself is exact Cubic without it.
#ifndef DL_CUBIC_H
#define DL_CUBIC_H

#include "kernel.h"

static __always_inline struct bictcp *cubic_of(struct sock *sk)
{
	return (struct bictcp *)tcp_of(sk)->inet_conn.icsk_ca_priv;
}

// When an epoch of Cubic's was first seen. Lives behind Cubic's own 60 bytes in the private area: Cubic counts epochs in
// jiffies, whose length a program cannot know on every host.
struct epoch_clock {
	u64 seen_us;
	u32 epoch_start;
};

#define EPOCH_CLOCK_AT 11 // of 13 words; the area is zeroed when a socket takes up the control

static __always_inline struct epoch_clock *epoch_clock_of(struct sock *sk)
{
	return (struct epoch_clock *)&tcp_of(sk)->inet_conn.icsk_ca_priv[EPOCH_CLOCK_AT];
}

// Cubic takes no delay sample in the second after an epoch began: recovery distorts it.
static __always_inline bool is_delay_sample_fit(struct sock *sk, const struct ack_sample *sample)
{
	const struct bictcp *cubic = cubic_of(sk);
	struct epoch_clock *clock = epoch_clock_of(sk);
	u64 now_us = tcp_of(sk)->tcp_mstamp;
	if (sample->rtt_us < 0)
		return false;
	if (clock->epoch_start != cubic->epoch_start) {
		clock->epoch_start = cubic->epoch_start;
		clock->seen_us = now_us;
	}
	return !cubic->epoch_start || now_us - clock->seen_us >= 1000000;
}

static __always_inline void keep_minimum_delay(struct bictcp *cubic, u32 rtt_us)
{
	u32 delay_us = MAX(rtt_us, 1u);
	if (!cubic->delay_min || cubic->delay_min > delay_us)
		cubic->delay_min = delay_us;
}

SEC("struct_ops/ssthresh")
u32 cubic_ssthresh(u64 *ctx)
{
	return cubictcp_recalc_ssthresh(ARGUMENT(ctx, 0, struct sock *));
}

SEC("struct_ops/undo_cwnd")
u32 cubic_undo_cwnd(u64 *ctx)
{
	return tcp_reno_undo_cwnd(ARGUMENT(ctx, 0, struct sock *));
}

#endif
