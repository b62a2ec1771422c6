// One record per acknowledgement of a watched socket, into that socket's own ring.
#ifndef DL_SAMPLE_H
#define DL_SAMPLE_H

#include "kernel.h"

enum sample_source { SOURCE_CONTROL = 1, SOURCE_PROBE = 2, SOURCE_TIMER = 3 };

static __always_inline bool is_of_an_ack(u8 source) { return source <= SOURCE_PROBE; }

// Field names as in docs/fields.csv; Go reads the same layout (bpf2go generates it).
struct ack_record {
	u64 time_ns; // CLOCK_MONOTONIC at the acknowledgement's arrival
	u64 cookie;
	u64 acked_bytes;
	u64 sent_bytes;
	u64 retransmitted_bytes;
	u64 pacing_rate_bytes_s;
	s32 ack_rtt_us; // of this acknowledgement; -1: none was taken
	u32 srtt_us;
	u32 rttvar_us;
	u32 min_rtt_us;
	u32 delivered_segments;
	u32 lost_total_segments; // ever marked lost; lost_segments: marked lost now
	u32 lost_segments;
	u32 sacked_segments;
	u32 retrans_segments;
	u32 total_retrans_segments;
	u32 unacked_segments;
	u32 in_flight_segments;
	u32 cwnd_segments;
	u32 ssthresh_segments;
	u32 snd_wnd_bytes;
	u32 snd_mss_bytes;
	u32 notsent_bytes;
	u32 rate_delivered_segments;
	u32 rate_interval_us;
	u32 app_limited_until_segments; // 0: not limited by the application
	u32 dsack_dups_segments;
	u32 reord_seen;
	u32 detector_value;
	u16 local_port;
	u16 peer_port;
	u8 ca_state;
	u8 is_rate_app_limited;
	u8 source;
	u8 detector_state;
	u32 snd_una;
	u32 snd_nxt;
	u32 acks; // number of this acknowledgement, or the latest, among the socket's, from 1
};

struct ack_tally {
	u64 acks;    // acknowledgements seen
	u64 dropped; // records that the ring had no room for
};

// What a detector or control tells about itself with each record; 0 and 0 when it has nothing to tell.
struct detector_view {
	u8 state;
	u32 value;
};

// The inner map is a template: a reader brings a ring of the size it needs.
struct ack_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

#define WATCHED_SOCKETS 256

struct {
	__uint(type, BPF_MAP_TYPE_HASH_OF_MAPS);
	__uint(max_entries, WATCHED_SOCKETS);
	__type(key, u64);
	__array(values, struct ack_ring);
} rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WATCHED_SOCKETS);
	__type(key, u64);
	__type(value, struct ack_tally);
} tallies SEC(".maps");

static __always_inline u32 in_flight_segments(const struct tcp_sock *tp)
{
	return tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
}

static __always_inline void fill_windows(struct ack_record *to, const struct sock *sk, const struct tcp_sock *tp)
{
	to->acked_bytes = tp->bytes_acked;
	to->sent_bytes = tp->bytes_sent;
	to->retransmitted_bytes = tp->bytes_retrans;
	to->pacing_rate_bytes_s = sk->sk_pacing_rate;
	to->cwnd_segments = tp->snd_cwnd;
	to->ssthresh_segments = tp->snd_ssthresh;
	to->snd_wnd_bytes = tp->snd_wnd;
	to->snd_mss_bytes = tp->mss_cache;
	to->snd_una = tp->snd_una;
	to->snd_nxt = tp->snd_nxt;
	to->notsent_bytes = MAX((s32)(tp->write_seq - tp->snd_nxt), 0);
}

static __always_inline void fill_segments(struct ack_record *to, const struct tcp_sock *tp)
{
	to->delivered_segments = tp->delivered;
	to->lost_total_segments = tp->lost;
	to->lost_segments = tp->lost_out;
	to->sacked_segments = tp->sacked_out;
	to->retrans_segments = tp->retrans_out;
	to->total_retrans_segments = tp->total_retrans;
	to->unacked_segments = tp->packets_out;
	to->in_flight_segments = in_flight_segments(tp);
	to->rate_delivered_segments = tp->rate_delivered;
	to->rate_interval_us = tp->rate_interval_us;
	to->app_limited_until_segments = tp->app_limited;
	to->dsack_dups_segments = tp->dsack_dups;
	to->reord_seen = tp->reord_seen;
}

// As tcp_info gives them: srtt is kept eightfold and the mean deviation fourfold.
static __always_inline void fill_times(struct ack_record *to, const struct tcp_sock *tp, s32 rtt_us)
{
	to->ack_rtt_us = rtt_us;
	to->srtt_us = tp->srtt_us >> 3;
	to->rttvar_us = tp->mdev_us >> 2;
	to->min_rtt_us = tp->rtt_min.s[0].v;
}

static __always_inline void record_ack(struct sock *sk, struct tcp_sock *tp, s32 rtt_us, u8 source, struct detector_view view)
{
	u64 cookie = sk->__sk_common.skc_cookie.counter;
	struct ack_tally *tally = bpf_map_lookup_elem(&tallies, &cookie);
	if (!tally)
		return;
	void *ring = bpf_map_lookup_elem(&rings, &cookie);
	if (!ring)
		return;
	if (is_of_an_ack(source))
		tally->acks++; // the socket is locked: one acknowledgement at a time
	struct ack_record *to = bpf_ringbuf_reserve(ring, sizeof(*to), 0);
	if (!to) {
		tally->dropped++;
		return;
	}
	to->cookie = cookie;
	// The kernel's own stamp of the arrival, which detectors go by; the probe runs before it is taken.
	to->time_ns = source == SOURCE_CONTROL ? tp->tcp_mstamp * 1000 : bpf_ktime_get_ns();
	fill_times(to, tp, rtt_us);
	fill_windows(to, sk, tp);
	fill_segments(to, tp);
	to->local_port = sk->__sk_common.skc_num;
	to->peer_port = __builtin_bswap16(sk->__sk_common.skc_dport);
	to->ca_state = READ_BITS(&tp->inet_conn, icsk_ca_state);
	to->is_rate_app_limited = READ_BITS(tp, rate_app_limited);
	to->source = source;
	to->detector_state = view.state;
	to->detector_value = view.value;
	to->acks = (u32)tally->acks;
	bpf_ringbuf_submit(to, BPF_RB_NO_WAKEUP); // the reader looks at fixed intervals
}

#endif
