//go:build ignore

// dl_cubic_nohs: the kernel's Cubic without HyStart, for this socket only. See docs/controls/dl_cubic_nohs.md.
#include "cubic.h"
#include "sample.h"

SEC("struct_ops/init")
void nohs_init(u64 *ctx)
{
	cubictcp_init(ARGUMENT(ctx, 0, struct sock *));
}

SEC("struct_ops/cong_avoid")
void nohs_cong_avoid(u64 *ctx)
{
	cubictcp_cong_avoid(ARGUMENT(ctx, 0, struct sock *), ARGUMENT(ctx, 1, u32), ARGUMENT(ctx, 2, u32));
}

SEC("struct_ops/set_state")
void nohs_set_state(u64 *ctx)
{
	cubictcp_state(ARGUMENT(ctx, 0, struct sock *), ARGUMENT(ctx, 1, u8));
}

SEC("struct_ops/cwnd_event")
void nohs_cwnd_event(u64 *ctx)
{
	cubictcp_cwnd_event(ARGUMENT(ctx, 0, struct sock *), ARGUMENT(ctx, 1, u32));
}

SEC("struct_ops/pkts_acked")
void nohs_pkts_acked(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	const struct ack_sample *sample = ARGUMENT(ctx, 1, const struct ack_sample *);
	struct bictcp *cubic = cubic_of(sk);
	if (is_delay_sample_fit(sk, sample))
		keep_minimum_delay(cubic, sample->rtt_us);
	record_ack(sk, tcp_of(sk), sample->rtt_us, SOURCE_CONTROL, (struct detector_view){});
}

SEC(".struct_ops.link")
struct tcp_congestion_ops control = {
	.init = (void *)nohs_init,
	.ssthresh = (void *)cubic_ssthresh,
	.cong_avoid = (void *)nohs_cong_avoid,
	.set_state = (void *)nohs_set_state,
	.cwnd_event = (void *)nohs_cwnd_event,
	.pkts_acked = (void *)nohs_pkts_acked,
	.undo_cwnd = (void *)cubic_undo_cwnd,
	.name = "dl_cubic_nohs",
	.flags = TCP_CONG_NON_RESTRICTED,
};

char _license[] SEC("license") = "Dual BSD/GPL";
