//go:build ignore

// dl_vivace: PCC Vivace with the utility as an option. See docs/controls/dl_vivace.md.
// It takes over cong_control, so the stack's own window reduction, restoration and pacing are out of play.
#include "kernel.h"
#include "sample.h"
#include "vivace.h"

const volatile u32 is_linear = 0;
const volatile u32 loss_milli = 11350;
const volatile u32 latency_milli = 900000;
const volatile u32 slope_tolerance_ppm = 20000;
const volatile u32 noise_percent = 300;
const volatile u32 start_noise_percent = 0;
const volatile u32 interval_rtts = 2;
const volatile u32 initial_kbps = 4194;

struct vivace_flow {
	struct vivace vivace;
	u32 rtt_us;    // of the acknowledgement under way
	bool is_stale; // what is being measured tells nothing
	bool has_timed_out;
	bool is_started;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct vivace_flow);
} flows SEC(".maps");

static __always_inline struct vivace_ack vivace_ack_of(struct tcp_sock *tp, u32 rtt_us)
{
	struct vivace_ack ack = {
		.now_us = tp->tcp_mstamp,
		.sent = tp->data_segs_out,
		.in_flight = in_flight_segments(tp),
		.delivered = tp->delivered,
		.lost = tp->lost,
		.rtt_us = rtt_us,
		.min_rtt_us = tp->rtt_min.s[0].v,
		.mss_bytes = tp->mss_cache,
		.random = bpf_get_prandom_u32(),
	};
	return ack;
}

static __always_inline void send_at(struct sock *sk, struct tcp_sock *tp, u64 rate)
{
	sk->sk_pacing_rate = MIN(rate, (u64)sk->sk_max_pacing_rate);
	tp->snd_cwnd = MIN(vivace_cwnd(rate, tp->srtt_us >> 3, tp->mss_cache), tp->snd_cwnd_clamp);
}

SEC("struct_ops/init")
void vivace_init(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	struct tcp_sock *tp = tcp_of(sk);
	struct vivace_flow *flow = bpf_sk_storage_get(&flows, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (flow) {
		flow->is_started = false;
		flow->is_stale = false;
		flow->has_timed_out = false;
	}
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

static __always_inline bool is_in_loss(const struct tcp_sock *tp)
{
	return READ_BITS(&tp->inet_conn, icsk_ca_state) == TCP_CA_Loss;
}

static __always_inline void step(struct vivace_flow *flow, struct tcp_sock *tp)
{
	struct vivace_options options = {
		.is_linear = is_linear,
		.loss_milli = loss_milli,
		.latency_milli = latency_milli,
		.slope_tolerance_ppm = slope_tolerance_ppm,
		.noise_percent = noise_percent,
		.start_noise_percent = start_noise_percent,
		.interval_rtts = interval_rtts,
	};
	struct vivace_ack ack = vivace_ack_of(tp, flow->rtt_us);
	if (!flow->is_started) {
		flow->is_started = true;
		vivace_start(&flow->vivace, &ack, &options, (u64)initial_kbps * 125);
	} else if (is_in_loss(tp) || tp->app_limited) {
		flow->is_stale = true;
		flow->has_timed_out |= is_in_loss(tp);
	} else if (flow->is_stale) {
		vivace_restart(&flow->vivace, &ack, flow->has_timed_out);
		flow->is_stale = false;
		flow->has_timed_out = false;
	} else {
		vivace_on_ack(&flow->vivace, &ack, &options);
	}
}

SEC("struct_ops/cong_control")
void vivace_cong_control(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	struct tcp_sock *tp = tcp_of(sk);
	struct vivace_flow *flow = bpf_sk_storage_get(&flows, sk, 0, 0);
	if (!flow)
		return;
	step(flow, tp);
	send_at(sk, tp, vivace_rate(&flow->vivace));
}

SEC("struct_ops/ssthresh")
u32 vivace_ssthresh(u64 *ctx)
{
	return TCP_INFINITE_SSTHRESH;
}

SEC("struct_ops/undo_cwnd")
u32 vivace_undo_cwnd(u64 *ctx)
{
	return tcp_of(ARGUMENT(ctx, 0, struct sock *))->snd_cwnd;
}

// Runs before cong_control for the same acknowledgement.
SEC("struct_ops/pkts_acked")
void vivace_pkts_acked(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	const struct ack_sample *sample = ARGUMENT(ctx, 1, const struct ack_sample *);
	struct vivace_flow *flow = bpf_sk_storage_get(&flows, sk, 0, 0);
	struct detector_view view = {};
	if (flow) {
		flow->rtt_us = sample->rtt_us > 0 ? sample->rtt_us : 0;
		view.state = flow->is_started ? flow->vivace.phase : 0;
		view.value = (u32)(vivace_rate(&flow->vivace) / 125); // kb/s
	}
	record_ack(sk, tcp_of(sk), sample->rtt_us, SOURCE_CONTROL, view);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops control = {
	.init = (void *)vivace_init,
	.ssthresh = (void *)vivace_ssthresh,
	.cong_control = (void *)vivace_cong_control,
	.pkts_acked = (void *)vivace_pkts_acked,
	.undo_cwnd = (void *)vivace_undo_cwnd,
	.name = "dl_vivace",
	.flags = TCP_CONG_NON_RESTRICTED,
};

char _license[] SEC("license") = "Dual BSD/GPL";
