"""Time of each detector over a 120-s per-ACK GEO trace of 700,000 ACKs, and of a sweep over many traces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from bench.rows import Row, show
from bench.timing import timed_s, times_s
from downlink.analysis.exits.best import judge_best
from downlink.analysis.exits.hystart import HyStart, Kernel, judge_hystart
from downlink.analysis.exits.hystartpp import judge_hystartpp
from downlink.analysis.exits.search import Search31, Search40, judge_search_31, judge_search_40
from downlink.analysis.exits.sliding import judge_search_10
from downlink.analysis.exits.sweep import Parameters, grid, sweep
from downlink.analysis.exits.trace import AckTrace, trace_from_fields
from downlink.codec.parquet import columns_to_parquet, parquet_to_columns


@dataclass(frozen=True)
class Size:
    """acks: of the longest trace. sampled: traces that a sweep is measured on, of so many ACKs. sets: of parameters, the most."""

    acks: int
    repeats: int
    sampled: int
    sampled_acks: int
    sets: int | None


FULL = Size(acks=700_000, repeats=3, sampled=8, sampled_acks=20_000, sets=None)
TINY = Size(acks=7_000, repeats=1, sampled=1, sampled_acks=2_000, sets=2)
DURATION_S = 120
LIMIT = "<= 2"
COLUMNS = 6
"""Columns of a trace that detectors look at."""
GEO_RTT_US = 600_000
LEO_RTT_US = 40_000
MSS_BYTES = 1_448
STUDY_TRACES = 344
CORES = 2


def long_trace(rtt_us: int, acks: int, seed: int = 1) -> AckTrace:
    """A flow without an exit: RTT noise below every threshold, and deliveries that keep on growing, so that nothing can stop early."""
    rng = np.random.default_rng(seed)
    elapsed_us = np.sort(rng.integers(0, DURATION_S * 1_000_000, acks))
    elapsed_us -= elapsed_us[0]
    acked_bytes = np.cumsum(rng.integers(1, 3, acks) * MSS_BYTES)
    ahead = np.searchsorted(elapsed_us, elapsed_us + rtt_us)
    return trace_from_fields(
        {
            "elapsed_us": elapsed_us,
            "acked_bytes": acked_bytes,
            "snd_mss_bytes": np.full(acks, MSS_BYTES),
            "ack_rtt_us": rtt_us + rng.integers(0, 3_000, acks),
            "snd_nxt_bytes": acked_bytes[np.minimum(ahead, acks - 1)],
            "pacing_rate_bps": np.full(acks, 200_000_000),
        },
        is_per_ack=True,
    )


def slow_start_trace(acks: int, seed: int) -> AckTrace:
    """A GEO slow start of 18 s: doubling to capacity, a queue, a loss at the end."""
    rng = np.random.default_rng(seed)
    rate_bps = 100e6
    time_s = np.sort(np.concatenate([[0.0], rng.uniform(0, 18, acks)]))
    grown = MSS_BYTES * 10 * (2 ** np.minimum(time_s / 0.6, 9) - 1) + np.maximum(time_s - 5.4, 0) * rate_bps / 8
    rtt_us = GEO_RTT_US + (np.maximum(time_s - 5.4, 0) * 90_000).astype(np.int64) + rng.integers(0, 40_000, len(time_s))
    lost = np.zeros(len(time_s), np.int64)
    lost[-1] = 1
    return trace_from_fields(
        {
            "elapsed_us": (time_s * 1e6).astype(np.int64),
            "acked_bytes": np.maximum.accumulate(grown.astype(np.int64)),
            "snd_mss_bytes": np.full(len(time_s), MSS_BYTES),
            "ack_rtt_us": rtt_us,
            "snd_nxt_bytes": np.maximum.accumulate((2 * grown).astype(np.int64) + 10 * MSS_BYTES),
            "lost_total_segments": lost,
        },
        is_per_ack=True,
    )


def endless(kernel: Kernel) -> Callable[[AckTrace], object]:
    """HyStart with a delay threshold that is never reached, so that both detectors look at every ACK."""
    return lambda trace: judge_hystart(trace, HyStart(kernel, delay_low_us=10**9, delay_high_us=10**9))


DETECTORS: dict[str, Callable[[AckTrace], object]] = {
    "search 1.0": judge_search_10,
    "search 3.1": lambda trace: judge_search_31(trace, Search31(threshold_percent=100)),
    "search 4.0": judge_search_40,
    "hystart 6.x": endless(Kernel.V6),
    "hystart 5.10": endless(Kernel.V5_10),
    "hystart <=5.4": endless(Kernel.UP_TO_5_4),
    "hystart++": judge_hystartpp,
    "best": judge_best,
}


def time_detectors(orbit: str, trace: AckTrace, size: Size) -> Iterator[Row]:
    alone_ms = 1e3 * decoding_s(size)
    for name, work in DETECTORS.items():
        taken_ms = 1e3 * min(times_s(partial(_on_a_copy, work, trace), size.repeats))
        remark = f"peer: a trace of {size.acks:,} ACKs decoded"
        yield Row(f"{orbit} exit {name}", taken_ms, "ms", alone_ms, LIMIT, remark)


def decoding_s(size: Size) -> float:
    """Return the seconds that the columns of as long a trace take from Parquet."""
    rng = np.random.default_rng(2)
    columns = {f"column_{number}": np.cumsum(rng.integers(0, 1_000, size.acks)) for number in range(COLUMNS)}
    parquet = columns_to_parquet(columns)
    return min(times_s(lambda: parquet_to_columns(parquet), size.repeats))


def _on_a_copy(work: Callable[[AckTrace], object], trace: AckTrace) -> None:
    """A trace remembers what it has worked out."""
    work(replace(trace))


SWEPT: dict[str, Sequence[Parameters]] = {
    "search 3.1": grid(
        Search31(), window_factor=range(20, 60, 5), bins=range(8, 13), threshold_percent=range(20, 45, 5)
    ),
    "search 4.0": grid(
        Search40(), window_factor=range(20, 60, 5), bins=range(8, 13), threshold_percent=range(15, 40, 5)
    ),
    "hystart 6.x": grid(
        HyStart(),
        ack_delta_us=range(500, 5_500, 500),
        delay_low_us=range(2_000, 12_000, 2_000),
        low_window=(8, 16, 32, 64),
    ),
}


def time_sweep(name: str, sets: Sequence[Parameters], longest: AckTrace, size: Size) -> Iterator[Row]:
    """Measured on a few traces; the study of Kachooei 2023 (SEARCH) is as many times that, shared by two workers."""
    traces = [slow_start_trace(size.sampled_acks, seed) for seed in range(size.sampled)]
    each_s = min(times_s(lambda: [sweep(replace(one), sets) for one in traces], size.repeats)) / len(traces)
    study = f"{STUDY_TRACES} traces of {size.sampled_acks:,} ACKs on {CORES} cores"
    remark = f"{len(sets)} parameter sets x {study}, extrapolated from {len(traces)} of {each_s * 1e3:.0f} ms each"
    yield Row(f"sweep {name}", each_s * STUDY_TRACES / CORES, "s", remark=remark)
    remark = f"{len(sets)} parameter sets, {size.acks:,} ACKs without a loss, measured"
    yield Row(f"sweep {name}, one trace", timed_s(lambda: sweep(replace(longest), sets)), "s", remark=remark)


def rows(size: Size) -> Iterator[Row]:
    for orbit, rtt_us in {"GEO": GEO_RTT_US, "LEO": LEO_RTT_US}.items():
        yield from time_detectors(orbit, long_trace(rtt_us, size.acks), size)
    longest = long_trace(GEO_RTT_US, size.acks)
    for name, sets in SWEPT.items():
        yield from time_sweep(name, sets[: size.sets], longest, size)


if __name__ == "__main__":
    show(rows, FULL, TINY)
