//go:build ignore

// dl_hybla: TCP Hybla as in the kernel's module, for kernels that lack it. See docs/controls/dl_hybla.md.
#include "kernel.h"
#include "hybla.h"
#include "sample.h"

const volatile u32 rtt0_ms = 25;

static __always_inline struct hybla *hybla_of(struct sock *sk)
{
	return (struct hybla *)tcp_of(sk)->inet_conn.icsk_ca_priv;
}

SEC("struct_ops/init")
void hybla_init(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	struct tcp_sock *tp = tcp_of(sk);
	struct hybla *h = hybla_of(sk);
	hybla_start(h, tp->srtt_us, rtt0_ms);
	tp->snd_cwnd = h->rho_8ths >> 3;
}

SEC("struct_ops/ssthresh")
u32 hybla_ssthresh(u64 *ctx)
{
	return tcp_reno_ssthresh(ARGUMENT(ctx, 0, struct sock *));
}

SEC("struct_ops/undo_cwnd")
u32 hybla_undo_cwnd(u64 *ctx)
{
	return tcp_reno_undo_cwnd(ARGUMENT(ctx, 0, struct sock *));
}

static __always_inline void grow(struct tcp_sock *tp, struct hybla *h)
{
	struct hybla_window window = {
		.cwnd = tp->snd_cwnd,
		.ssthresh = tp->snd_ssthresh,
		.acks = tp->snd_cwnd_cnt,
	};
	hybla_on_ack(h, &window);
	tp->snd_cwnd = window.cwnd;
	tp->snd_cwnd_cnt = window.acks;
}

SEC("struct_ops/cong_avoid")
void hybla_cong_avoid(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	struct tcp_sock *tp = tcp_of(sk);
	struct hybla *h = hybla_of(sk);
	hybla_take_srtt(h, tp->srtt_us, rtt0_ms);
	if (!is_cwnd_limited(tp))
		return;
	if (READ_BITS(&tp->inet_conn, icsk_ca_state) == TCP_CA_Open)
		grow(tp, h);
	else
		tcp_reno_cong_avoid(sk, ARGUMENT(ctx, 1, u32), ARGUMENT(ctx, 2, u32));
}

SEC("struct_ops/pkts_acked")
void hybla_pkts_acked(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	const struct ack_sample *sample = ARGUMENT(ctx, 1, const struct ack_sample *);
	struct detector_view view = { .state = in_slow_start(tcp_of(sk)), .value = hybla_of(sk)->rho_8ths };
	record_ack(sk, tcp_of(sk), sample->rtt_us, SOURCE_CONTROL, view);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops control = {
	.init = (void *)hybla_init,
	.ssthresh = (void *)hybla_ssthresh,
	.cong_avoid = (void *)hybla_cong_avoid,
	.pkts_acked = (void *)hybla_pkts_acked,
	.undo_cwnd = (void *)hybla_undo_cwnd,
	.name = "dl_hybla",
	.flags = TCP_CONG_NON_RESTRICTED,
};

char _license[] SEC("license") = "Dual BSD/GPL";
