//go:build ignore

// Runs the controls' arithmetic on given numbers, as the kernel's machine does it, for tests. Never attached.
#include "kernel.h"
#include "hystartpp.h"
#include "vivace.h"

struct throughput_case {
	u64 rate;
	u64 is_linear;
	u64 milli;
};

SEC("syscall")
int bench_throughput(struct throughput_case *c)
{
	c->milli = throughput_milli(c->rate, (u32)c->is_linear);
	return 0;
}

struct step_case {
	u64 base_rate;
	s64 gradient;
	u64 steps;
	u64 bound_hits;
	s64 change;
};

SEC("syscall")
int bench_step(struct step_case *c)
{
	struct vivace v = { .base_rate = c->base_rate, .steps = (u32)c->steps, .bound_hits = (u32)c->bound_hits };
	c->change = vivace_step(&v, c->gradient);
	c->bound_hits = v.bound_hits;
	return 0;
}

// One flow that lives across calls, an acknowledgement per call.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct vivace);
} flow SEC(".maps");

struct vivace_case {
	u64 now_us;
	u64 sent;
	u64 in_flight;
	u64 delivered;
	u64 lost;
	u32 rtt_us;
	u32 min_rtt_us;
	u32 random;
	u32 initial_kbps; // starts the flow when not 0
	u32 latency_milli;
	u32 noise_percent;
	u32 start_noise_percent;
	u32 interval_rtts;
	u32 phase;
	u32 spare;
	u64 rate;
};

SEC("syscall")
int bench_vivace(struct vivace_case *c)
{
	u32 key = 0;
	struct vivace *v = bpf_map_lookup_elem(&flow, &key);
	if (!v)
		return 1;
	struct vivace_options options = {
		.loss_milli = 11350, .latency_milli = c->latency_milli, .slope_tolerance_ppm = 20000,
		.noise_percent = c->noise_percent, .start_noise_percent = c->start_noise_percent,
		.interval_rtts = c->interval_rtts,
	};
	struct vivace_ack ack = {
		.now_us = c->now_us, .sent = c->sent, .in_flight = c->in_flight, .delivered = c->delivered,
		.lost = c->lost, .rtt_us = c->rtt_us, .min_rtt_us = c->min_rtt_us, .mss_bytes = 1448, .random = c->random,
	};
	if (c->initial_kbps)
		vivace_start(v, &ack, &options, (u64)c->initial_kbps * 125);
	else
		vivace_on_ack(v, &ack, &options);
	c->phase = v->phase;
	c->rate = vivace_rate(v);
	return 0;
}

// The slope of the samples so far, one sample per call.
struct slope_case {
	u64 now_us;
	u32 rtt_us;
	u32 least_us; // opens an interval when not 0
	u32 tolerance_ppm;
	u32 noise_percent;
	s64 slope_ppm;
	s64 judged_ppm;
};

SEC("syscall")
int bench_slope(struct slope_case *c)
{
	u32 key = 0;
	struct vivace *v = bpf_map_lookup_elem(&flow, &key);
	if (!v)
		return 1;
	struct vivace_interval *m = &v->intervals[0];
	struct vivace_ack ack = { .now_us = c->now_us, .rtt_us = c->rtt_us, .min_rtt_us = c->least_us, .mss_bytes = 1448 };
	if (c->least_us) {
		v->phase = VIVACE_STARTING;
		m->rate = 1250000000;
		vivace_open(v, &ack, m);
	}
	vivace_add_rtt(m, &ack);
	c->slope_ppm = vivace_slope_ppm(m);
	c->judged_ppm = vivace_judged_slope_ppm(m, c->tolerance_ppm, c->noise_percent);
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct hspp);
} detector SEC(".maps");

struct hspp_case {
	u32 snd_una;
	u32 snd_nxt;
	s32 rtt_us;
	u32 acked;
	u32 is_paced;
	u32 growth;
	u32 phase;
	u32 has_exit;
};

SEC("syscall")
int bench_hspp(struct hspp_case *c)
{
	u32 key = 0;
	struct hspp *h = bpf_map_lookup_elem(&detector, &key);
	if (!h)
		return 1;
	c->has_exit = hspp_on_ack(h, c->snd_una, c->snd_nxt, c->rtt_us);
	c->growth = hspp_growth_segments(h, c->acked, c->is_paced);
	c->phase = h->phase;
	return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
