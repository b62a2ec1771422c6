//go:build ignore

// dl_cubic_meansd: the kernel's Cubic that leaves slow start by the mean and deviation of the RTTs before, as Peters 2021
// proposes. See docs/controls/dl_cubic_meansd.md.
#include "cubic.h"
#include "meansd.h"
#include "sample.h"

const volatile u32 k_tenths = 20;
const volatile u32 least_rise_us = 4000;
const volatile u32 low_window = 16;

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct meansd);
} detectors SEC(".maps");

SEC("struct_ops/init")
void meansd_init(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	cubictcp_init(sk);
	struct meansd *m = bpf_sk_storage_get(&detectors, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (m)
		*m = (struct meansd){};
}

SEC("struct_ops/cong_avoid")
void meansd_cong_avoid(u64 *ctx)
{
	cubictcp_cong_avoid(ARGUMENT(ctx, 0, struct sock *), ARGUMENT(ctx, 1, u32), ARGUMENT(ctx, 2, u32));
}

SEC("struct_ops/set_state")
void meansd_set_state(u64 *ctx)
{
	cubictcp_state(ARGUMENT(ctx, 0, struct sock *), ARGUMENT(ctx, 1, u8));
}

SEC("struct_ops/cwnd_event")
void meansd_cwnd_event(u64 *ctx)
{
	cubictcp_cwnd_event(ARGUMENT(ctx, 0, struct sock *), ARGUMENT(ctx, 1, u32));
}

// The initial slow start only: a loss or an exit makes the threshold finite.
static __always_inline bool in_initial_slow_start(const struct tcp_sock *tp)
{
	return tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH;
}

SEC("struct_ops/pkts_acked")
void meansd_pkts_acked(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	const struct ack_sample *sample = ARGUMENT(ctx, 1, const struct ack_sample *);
	struct tcp_sock *tp = tcp_of(sk);
	struct meansd *m = bpf_sk_storage_get(&detectors, sk, 0, 0);
	struct detector_view view = {};
	struct meansd_limits limits = {.k_tenths = k_tenths, .least_rise_us = least_rise_us};
	s32 rtt_us = sample->rtt_us;
	if (is_delay_sample_fit(sk, sample))
		keep_minimum_delay(cubic_of(sk), rtt_us);
	if (m) {
		if (in_initial_slow_start(tp) && rtt_us >= 0 &&
		    meansd_on_ack(m, tp->snd_una, tp->snd_nxt, rtt_us, tp->snd_cwnd >= low_window, limits))
			tp->snd_ssthresh = tp->snd_cwnd;
		view.state = in_initial_slow_start(tp);
		view.value = m->threshold_us;
	}
	record_ack(sk, tp, rtt_us, SOURCE_CONTROL, view);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops control = {
	.init = (void *)meansd_init,
	.ssthresh = (void *)cubic_ssthresh,
	.cong_avoid = (void *)meansd_cong_avoid,
	.set_state = (void *)meansd_set_state,
	.cwnd_event = (void *)meansd_cwnd_event,
	.pkts_acked = (void *)meansd_pkts_acked,
	.undo_cwnd = (void *)cubic_undo_cwnd,
	.name = "dl_cubic_meansd",
	.flags = TCP_CONG_NON_RESTRICTED,
};

char _license[] SEC("license") = "Dual BSD/GPL";
