//go:build ignore

// dl_cubic_hspp: the kernel's Cubic with HyStart++ (RFC 9406) in place of HyStart. See docs/controls/dl_cubic_hspp.md.
#include "cubic.h"
#include "hystartpp.h"
#include "sample.h"

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct hspp);
} detectors SEC(".maps");

SEC("struct_ops/init")
void hspp_init(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	cubictcp_init(sk);
	struct hspp *h = bpf_sk_storage_get(&detectors, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (h)
		h->phase = 0;
}

// RFC 9406 section 4.2: the initial slow start only. A loss or an exit makes the threshold finite.
static __always_inline bool in_initial_slow_start(const struct tcp_sock *tp)
{
	return tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH;
}

SEC("struct_ops/cong_avoid")
void hspp_cong_avoid(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	u32 acked = ARGUMENT(ctx, 2, u32);
	struct hspp *h = bpf_sk_storage_get(&detectors, sk, 0, 0);
	if (h && in_initial_slow_start(tcp_of(sk)))
		acked = hspp_growth_segments(h, acked, sk->sk_pacing_status != SK_PACING_NONE);
	cubictcp_cong_avoid(sk, ARGUMENT(ctx, 1, u32), acked);
}

SEC("struct_ops/set_state")
void hspp_set_state(u64 *ctx)
{
	cubictcp_state(ARGUMENT(ctx, 0, struct sock *), ARGUMENT(ctx, 1, u8));
}

SEC("struct_ops/cwnd_event")
void hspp_cwnd_event(u64 *ctx)
{
	cubictcp_cwnd_event(ARGUMENT(ctx, 0, struct sock *), ARGUMENT(ctx, 1, u32));
}

SEC("struct_ops/pkts_acked")
void hspp_pkts_acked(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	const struct ack_sample *sample = ARGUMENT(ctx, 1, const struct ack_sample *);
	struct tcp_sock *tp = tcp_of(sk);
	struct bictcp *cubic = cubic_of(sk);
	struct hspp *h = bpf_sk_storage_get(&detectors, sk, 0, 0);
	struct detector_view view = {};
	if (is_delay_sample_fit(sk, sample))
		keep_minimum_delay(cubic, sample->rtt_us);
	if (h) {
		if (in_initial_slow_start(tp) && hspp_on_ack(h, tp->snd_una, tp->snd_nxt, sample->rtt_us))
			tp->snd_ssthresh = tp->snd_cwnd;
		view.state = in_initial_slow_start(tp) ? h->phase : HSPP_DONE;
		view.value = h->css_rounds;
	}
	record_ack(sk, tcp_of(sk), sample->rtt_us, SOURCE_CONTROL, view);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops control = {
	.init = (void *)hspp_init,
	.ssthresh = (void *)cubic_ssthresh,
	.cong_avoid = (void *)hspp_cong_avoid,
	.set_state = (void *)hspp_set_state,
	.cwnd_event = (void *)hspp_cwnd_event,
	.pkts_acked = (void *)hspp_pkts_acked,
	.undo_cwnd = (void *)cubic_undo_cwnd,
	.name = "dl_cubic_hspp",
	.flags = TCP_CONG_NON_RESTRICTED,
};

char _license[] SEC("license") = "Dual BSD/GPL";
