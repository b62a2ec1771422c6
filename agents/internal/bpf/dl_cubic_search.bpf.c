//go:build ignore

// dl_cubic_search: the kernel's Cubic with SEARCH in place of HyStart. See docs/controls/dl_cubic_search.md.
#include "cubic.h"
#include "sample.h"
#include "search.h"

const volatile u32 version = SEARCH_3_1;
const volatile u32 threshold_percent = 0;
const volatile u32 missed_rtts = 2;
const volatile u32 resets_when_app_limited = 0;
const volatile u32 rollback = 0;

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct search);
} searches SEC(".maps");

static __always_inline void forget_history(struct sock *sk)
{
	struct search *search = bpf_sk_storage_get(&searches, sk, 0, 0);
	if (search)
		search_reset(search);
}

SEC("struct_ops/init")
void search_init(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	cubictcp_init(sk);
	struct search *search = bpf_sk_storage_get(&searches, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (search) {
		search_reset(search);
		search->bin_us = 0;
	}
}

SEC("struct_ops/cong_avoid")
void search_cong_avoid(u64 *ctx)
{
	cubictcp_cong_avoid(ARGUMENT(ctx, 0, struct sock *), ARGUMENT(ctx, 1, u32), ARGUMENT(ctx, 2, u32));
}

SEC("struct_ops/set_state")
void search_set_state(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	u8 state = ARGUMENT(ctx, 1, u8);
	cubictcp_state(sk, state);
	if (state == TCP_CA_Loss)
		forget_history(sk);
}

SEC("struct_ops/cwnd_event")
void search_cwnd_event(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	u32 event = ARGUMENT(ctx, 1, u32);
	cubictcp_cwnd_event(sk, event);
	if (event == CA_EVENT_CWND_RESTART)
		forget_history(sk);
}

static __always_inline void leave_slow_start(struct tcp_sock *tp, const struct search *search)
{
	if (rollback)
		tp->snd_cwnd = search_rollback_segments(search, tp->snd_cwnd, tp->mss_cache);
	tp->snd_ssthresh = tp->snd_cwnd;
}

static __always_inline void look_for_exit(struct tcp_sock *tp, struct search *search, u32 rtt_us)
{
	struct search_options options = {
		.version = version,
		.threshold_percent = threshold_percent,
		.missed_rtts = missed_rtts,
		.resets_when_app_limited = resets_when_app_limited,
	};
	struct search_ack ack = {
		.now_us = tp->tcp_mstamp,
		.acked_bytes = tp->bytes_acked,
		.sent_bytes = tp->bytes_sent,
		.rtt_us = rtt_us,
		.is_app_limited = tp->app_limited != 0,
	};
	if (search_on_ack(search, &ack, &options))
		leave_slow_start(tp, search);
}

SEC("struct_ops/pkts_acked")
void search_pkts_acked(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	const struct ack_sample *sample = ARGUMENT(ctx, 1, const struct ack_sample *);
	struct tcp_sock *tp = tcp_of(sk);
	struct bictcp *cubic = cubic_of(sk);
	struct search *search = bpf_sk_storage_get(&searches, sk, 0, 0);
	struct detector_view view = {};
	if (search) {
		if (is_delay_sample_fit(sk, sample)) {
			keep_minimum_delay(cubic, sample->rtt_us);
			if (in_slow_start(tp))
				look_for_exit(tp, search, sample->rtt_us);
		}
		view.state = in_slow_start(tp);
		view.value = search->norm_percent;
	}
	record_ack(sk, tcp_of(sk), sample->rtt_us, SOURCE_CONTROL, view);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops control = {
	.init = (void *)search_init,
	.ssthresh = (void *)cubic_ssthresh,
	.cong_avoid = (void *)search_cong_avoid,
	.set_state = (void *)search_set_state,
	.cwnd_event = (void *)search_cwnd_event,
	.pkts_acked = (void *)search_pkts_acked,
	.undo_cwnd = (void *)cubic_undo_cwnd,
	.name = "dl_cubic_search",
	.flags = TCP_CONG_NON_RESTRICTED,
};

char _license[] SEC("license") = "Dual BSD/GPL";
