//go:build ignore

// The per-ACK probe for sockets under a control that is not ours. tcp_probe fires before the acknowledgement is
// processed, so a record shows the state after the one before it.
#include "kernel.h"
#include "sample.h"

// Makes the record's layout known to the generator.
const struct ack_record *record_layout __attribute__((unused));

SEC("tp_btf/tcp_probe")
int probe_ack(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	if (tp)
		record_ack(sk, tp, tp->rack.rtt_us, SOURCE_PROBE, (struct detector_view){});
	return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
