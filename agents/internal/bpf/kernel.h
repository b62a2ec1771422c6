// The few kernel types, constants and helpers that the controls use, declared by hand.
// Field offsets are relocated when the program is loaded (CO-RE), so only names and kinds matter here:
// one object serves every kernel that has the fields.
#ifndef DL_KERNEL_H
#define DL_KERNEL_H

#include "types.h"

#define SEC(name) __attribute__((section(name), used))
#define __uint(name, value) int(*name)[value]
#define __type(name, value) typeof(value) *name
#define __array(name, value) typeof(value) *name[]
#define __kfunc_extern extern __attribute__((section(".ksyms")))

// A struct_ops or tracing program gets its arguments as an array of 64-bit words.
#define ARGUMENT(ctx, index, type) ((type)(ctx)[index])

// Limits and codes of the kernel's stable interface.
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_HASH_OF_MAPS = 13,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
};
#define BPF_F_NO_PREALLOC 1
#define BPF_SK_STORAGE_GET_F_CREATE 1
#define BPF_RB_NO_WAKEUP 1

#define TCP_CONG_NON_RESTRICTED 1
#define TCP_INFINITE_SSTHRESH 0x7fffffff
#define SK_PACING_NONE 0
#define SK_PACING_NEEDED 1

enum tcp_ca_event {
	CA_EVENT_TX_START,
	CA_EVENT_CWND_RESTART,
	CA_EVENT_COMPLETE_CWR,
	CA_EVENT_LOSS,
};

enum tcp_ca_state {
	TCP_CA_Open,
	TCP_CA_Disorder,
	TCP_CA_CWR,
	TCP_CA_Recovery,
	TCP_CA_Loss,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	s64 counter;
} atomic64_t;

struct sock_common {
	u16 skc_dport;
	u16 skc_num;
	atomic64_t skc_cookie;
};

struct sock {
	struct sock_common __sk_common;
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
	u32 sk_pacing_status;
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	u8 icsk_ca_state : 5;
	u64 icsk_ca_priv[13];
};

struct minmax_sample {
	u32 t;
	u32 v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct tcp_rack {
	u32 rtt_us;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u64 bytes_acked;
	u64 bytes_sent;
	u64 bytes_retrans;
	u64 tcp_mstamp;
	u32 snd_una;
	u32 snd_nxt;
	u32 write_seq;
	u32 snd_wnd;
	u32 mss_cache;
	u32 snd_cwnd;
	u32 snd_cwnd_cnt;
	u32 snd_cwnd_clamp;
	u32 snd_ssthresh;
	u32 max_packets_out;
	u32 packets_out;
	u32 sacked_out;
	u32 lost_out;
	u32 retrans_out;
	u32 lost;
	u32 delivered;
	u32 data_segs_out;
	u32 total_retrans;
	u32 srtt_us;
	u32 mdev_us;
	u32 app_limited;
	u32 rate_delivered;
	u32 rate_interval_us;
	u32 dsack_dups;
	u32 reord_seen;
	struct minmax rtt_min;
	struct tcp_rack rack;
	u8 is_cwnd_limited : 1;
	u8 rate_app_limited : 1;
};

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
	u32 in_flight;
};

struct rate_sample {
	s32 delivered;
	long interval_us;
	long rtt_us;
	int losses;
	u32 acked_sacked;
};

// Private state of the kernel's Cubic, kept in icsk_ca_priv.
struct bictcp {
	u32 delay_min;
	u32 epoch_start;
};

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 new_state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	void (*cong_control)(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs);
	u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
	u32 flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
};

#pragma clang attribute pop

// Helpers by their number in the kernel's stable interface.
static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static u64 (*const bpf_ktime_get_ns)(void) = (void *)5;
static u32 (*const bpf_get_prandom_u32)(void) = (void *)7;
static void *(*const bpf_sk_storage_get)(void *map, void *sk, void *value, u64 flags) = (void *)107;
static void *(*const bpf_ringbuf_reserve)(void *ring, u64 size, u64 flags) = (void *)131;
static void (*const bpf_ringbuf_submit)(void *record, u64 flags) = (void *)132;
static struct tcp_sock *(*const bpf_skc_to_tcp_sock)(void *sk) = (void *)137;

// A bit field has no address: its place and shifts are relocated one by one.
enum { FIELD_BYTE_OFFSET, FIELD_BYTE_SIZE, FIELD_EXISTS, FIELD_SIGNED, FIELD_LSHIFT, FIELD_RSHIFT };
#define READ_BITS(base, field)                                                                      \
	({                                                                                          \
		const void *at = (const void *)(base) +                                             \
				 __builtin_preserve_field_info((base)->field, FIELD_BYTE_OFFSET);   \
		u64 bits = 0;                                                                       \
		switch (__builtin_preserve_field_info((base)->field, FIELD_BYTE_SIZE)) {            \
		case 1: bits = *(const u8 *)at; break;                                              \
		case 2: bits = *(const u16 *)at; break;                                             \
		case 4: bits = *(const u32 *)at; break;                                             \
		case 8: bits = *(const u64 *)at; break;                                             \
		}                                                                                   \
		bits <<= __builtin_preserve_field_info((base)->field, FIELD_LSHIFT);                \
		bits >> __builtin_preserve_field_info((base)->field, FIELD_RSHIFT);                 \
	})

#define HAS_FIELD(base, field) __builtin_preserve_field_info((base)->field, FIELD_EXISTS)

// Calls into the kernel (kfuncs), GPL only.
__kfunc_extern u32 tcp_reno_ssthresh(struct sock *sk);
__kfunc_extern u32 tcp_reno_undo_cwnd(struct sock *sk);
__kfunc_extern void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked);
__kfunc_extern void cubictcp_init(struct sock *sk);
__kfunc_extern u32 cubictcp_recalc_ssthresh(struct sock *sk);
__kfunc_extern void cubictcp_cong_avoid(struct sock *sk, u32 ack, u32 acked);
__kfunc_extern void cubictcp_state(struct sock *sk, u8 new_state);
__kfunc_extern void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event);

static __always_inline struct tcp_sock *tcp_of(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static __always_inline bool in_slow_start(const struct tcp_sock *tp)
{
	return tp->snd_cwnd < tp->snd_ssthresh;
}

// The kernel grows the window only while it is what holds the sender back (tcp_is_cwnd_limited).
static __always_inline bool is_cwnd_limited(const struct tcp_sock *tp)
{
	if (READ_BITS(tp, is_cwnd_limited))
		return true;
	return in_slow_start(tp) && tp->snd_cwnd < 2 * tp->max_packets_out;
}

#endif
