"""The report of a campaign of 344 runs, both ends sampled at 100 Hz for 125 s: from traces, and from series.

Each time is told as a ratio to one plain numpy sum over the bytes that it has to read, taken in the same process.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from downlink.analysis.objects import object_times_s
from downlink.analysis.phases import run_metrics
from downlink.analysis.report import FlowRecord, build_report
from downlink.analysis.series import FlowSeries, receiver_series, sender_series
from downlink.domain.campaign import Phases
from downlink.domain.metric import DEFAULT_PRIMARY

Columns = dict[str, NDArray[np.int64]]
RUNS, SECONDS, RATE_HZ, ROUNDS = 344, 125, 100, 5
CONDITIONS = ("HyStart on", "HyStart off")
SAMPLES = SECONDS * RATE_HZ
FIRST_BYTE_US = 600_000


def sender_trace(rng: np.random.Generator) -> Columns:
    """A flow that grows to about 100 Mb/s, with the columns that the series are made of."""
    elapsed_us = FIRST_BYTE_US + 10_000 * np.arange(SAMPLES) + rng.integers(0, 3_000, SAMPLES)
    delivered = np.cumsum(rng.integers(60, 110, SAMPLES))
    mss_bytes = np.full(SAMPLES, 1448)
    return {
        "elapsed_us": elapsed_us,
        "delivered_segments": delivered,
        "snd_mss_bytes": mss_bytes,
        "acked_bytes": delivered * 1448,
        "sent_bytes": (delivered + 5_000) * 1448,
        "retransmitted_bytes": np.cumsum(rng.integers(0, 2, SAMPLES)) * 1448,
        "rtt_us": rng.integers(600_000, 900_000, SAMPLES),
        "snd_wnd_bytes": rng.integers(1_000_000, 30_000_000, SAMPLES),
        "cwnd_segments": rng.integers(1_000, 9_000, SAMPLES),
        "unacked_segments": rng.integers(1_000, 9_000, SAMPLES),
    }


def receiver_trace(rng: np.random.Generator) -> Columns:
    return {
        "elapsed_us": FIRST_BYTE_US + 10_000 * np.arange(SAMPLES) + rng.integers(0, 3_000, SAMPLES),
        "received_bytes": np.cumsum(rng.integers(60, 110, SAMPLES)) * 1448,
        "rcv_rtt_us": rng.integers(600_000, 900_000, SAMPLES),
        "rcv_wnd_bytes": rng.integers(1_000_000, 30_000_000, SAMPLES),
    }


def series_of(traces: Sequence[tuple[Columns, Columns]]) -> list[tuple[FlowSeries, FlowSeries]]:
    return [(sender_series(sent, FIRST_BYTE_US), receiver_series(got, FIRST_BYTE_US)) for sent, got in traces]


def report_of(series: Sequence[FlowSeries], objects: Sequence[Mapping[str, NDArray[np.float64]]]) -> None:
    flows = [
        FlowRecord(str(index), "geo", CONDITIONS[index % 2], index // 2, 1, "cubic", one.values, metrics_of(one), times)
        for index, (one, times) in enumerate(zip(series, objects, strict=True))
    ]
    rates = {"geo": 144e6}
    build_report(
        flows, conditions=CONDITIONS, phases=Phases(), primary=DEFAULT_PRIMARY, nominal_rate_bps=rates, seed=1
    ).to_dict()


def metrics_of(one: FlowSeries) -> NDArray[np.float64]:
    (found,) = run_metrics([one], [0.0], Phases(), 144e6)
    return np.array([list(phase.values()) for phase in found.values()], dtype=np.float64)


def from_traces(traces: Sequence[tuple[Columns, Columns]]) -> None:
    series = [sent for sent, _ in series_of(traces)]
    report_of(
        series,
        [
            {"object_times": object_times_s(sent["elapsed_us"], sent["acked_bytes"], FIRST_BYTE_US)}
            for sent, _ in traces
        ],
    )


def median_s(work: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def tell(name: str, value: float, unit: str, remark: str) -> None:
    print(json.dumps({"name": name, "value": round(value, 4), "unit": unit, "remark": remark}), flush=True)


def main() -> None:
    rng = np.random.default_rng(1)
    traces = [(sender_trace(rng), receiver_trace(rng)) for _ in range(RUNS)]
    series = [sent for sent, _ in series_of(traces)]
    columns = [column for pair in traces for end in pair for column in end.values()]
    all_bytes = np.concatenate(columns)
    remark = f"{RUNS} runs x 2 ends x {SECONDS} s x {RATE_HZ} Hz, {all_bytes.nbytes / 1e6:.0f} MB"
    plain_s = median_s(all_bytes.sum)
    series_s, traces_s = median_s(lambda: series_of(traces)), median_s(lambda: from_traces(traces))
    report_s = median_s(lambda: report_of(series, [{}] * RUNS))
    tell("plain numpy sum", plain_s, "s", remark)
    tell("series from traces", series_s, "s", f"{series_s / plain_s:.1f} x the plain sum over the same bytes")
    tell("report from traces", traces_s, "s", f"{traces_s / plain_s:.1f} x the plain sum over the same bytes")
    tell("report from series", report_s, "s", f"{report_s / plain_s:.2f} x the plain sum over the traces' bytes")


if __name__ == "__main__":
    main()
