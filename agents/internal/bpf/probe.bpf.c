//go:build ignore

// The per-ACK probe for sockets under a control that is not ours. tcp_probe fires before the acknowledgement is
// processed, so a record shows the state after the one before it.
#include "kernel.h"
#include "sample.h"

// Makes the record's layout known to the generator.
const struct ack_record *record_layout __attribute__((unused));

static __always_inline int record(struct sock *sk, u8 source)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	if (tp)
		record_ack(sk, tp, tp->rack.rtt_us, source, (struct detector_view){});
	return 0;
}

SEC("tp_btf/tcp_probe")
int probe_ack(u64 *ctx)
{
	return record(ARGUMENT(ctx, 0, struct sock *), SOURCE_PROBE);
}

#define CA_LOSS 4

// Only the retransmission timer makes a socket's state Loss (tcp_enter_loss). This fires when losses are marked and the
// windows are cut, just before the state itself changes.
SEC("tp_btf/tcp_cong_state_set")
int probe_timer(u64 *ctx)
{
	if (ARGUMENT(ctx, 1, u8) != CA_LOSS)
		return 0;
	return record(ARGUMENT(ctx, 0, struct sock *), SOURCE_TIMER);
}

char _license[] SEC("license") = "Dual BSD/GPL";
