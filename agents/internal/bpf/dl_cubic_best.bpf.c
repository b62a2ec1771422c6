//go:build ignore

// dl_cubic_best: the kernel's Cubic with BEST in place of HyStart. See docs/controls/dl_cubic_best.md.
#include "cubic.h"
#include "best.h"
#include "sample.h"

const volatile u32 percentile = 50;
const volatile u32 first_round = 4;
const volatile u32 last_round = 7;
const volatile u32 class_mbps = 1;
const volatile u32 most_estimates = 300;
const volatile u32 low_window = 16;
const volatile u32 merge_us = 0;

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct best);
} estimators SEC(".maps");

SEC("struct_ops/init")
void best_init(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	cubictcp_init(sk);
	struct best *best = bpf_sk_storage_get(&estimators, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (best) {
		best->is_started = false;
		best->is_done = false;
	}
}

SEC("struct_ops/cong_avoid")
void best_cong_avoid(u64 *ctx)
{
	cubictcp_cong_avoid(ARGUMENT(ctx, 0, struct sock *), ARGUMENT(ctx, 1, u32), ARGUMENT(ctx, 2, u32));
}

SEC("struct_ops/set_state")
void best_set_state(u64 *ctx)
{
	cubictcp_state(ARGUMENT(ctx, 0, struct sock *), ARGUMENT(ctx, 1, u8));
}

SEC("struct_ops/cwnd_event")
void best_cwnd_event(u64 *ctx)
{
	cubictcp_cwnd_event(ARGUMENT(ctx, 0, struct sock *), ARGUMENT(ctx, 1, u32));
}

static __always_inline void estimate(struct tcp_sock *tp, struct best *best, u32 rtt_us)
{
	struct best_options options = {
		.percentile = percentile,
		.first_round = first_round,
		.last_round = last_round,
		.class_mbps = class_mbps,
		.most_estimates = most_estimates,
		.low_window = low_window,
		.merge_us = merge_us,
	};
	struct best_ack ack = {
		.now_us = tp->tcp_mstamp,
		.acked_bytes = tp->bytes_acked,
		.snd_una = tp->snd_una,
		.snd_nxt = tp->snd_nxt,
		.rtt_us = rtt_us,
		.mss_bytes = tp->mss_cache,
		.cwnd_segments = tp->snd_cwnd,
	};
	u32 ssthresh = best_on_ack(best, &ack, &options);
	if (ssthresh)
		tp->snd_ssthresh = MAX(ssthresh, 2u);
}

SEC("struct_ops/pkts_acked")
void best_pkts_acked(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	const struct ack_sample *sample = ARGUMENT(ctx, 1, const struct ack_sample *);
	struct tcp_sock *tp = tcp_of(sk);
	struct bictcp *cubic = cubic_of(sk);
	struct best *best = bpf_sk_storage_get(&estimators, sk, 0, 0);
	struct detector_view view = {};
	if (best) {
		if (is_delay_sample_fit(sk, sample)) {
			keep_minimum_delay(cubic, sample->rtt_us);
			if (in_slow_start(tp))
				estimate(tp, best, sample->rtt_us);
		}
		view.state = best->is_done ? 2 : 1;
		view.value = best->estimate_mbps;
	}
	record_ack(sk, tcp_of(sk), sample->rtt_us, SOURCE_CONTROL, view);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops control = {
	.init = (void *)best_init,
	.ssthresh = (void *)cubic_ssthresh,
	.cong_avoid = (void *)best_cong_avoid,
	.set_state = (void *)best_set_state,
	.cwnd_event = (void *)best_cwnd_event,
	.pkts_acked = (void *)best_pkts_acked,
	.undo_cwnd = (void *)cubic_undo_cwnd,
	.name = "dl_cubic_best",
	.flags = TCP_CONG_NON_RESTRICTED,
};

char _license[] SEC("license") = "Dual BSD/GPL";
