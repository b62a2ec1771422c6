"""The report of a campaign of 344 runs, both ends sampled at 100 Hz for 125 s: from traces, and from series.

Each time is told as a ratio to one plain numpy sum over the bytes that it has to read, taken in the same process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.rows import Row, show
from bench.timing import Work, median_s
from downlink.analysis.objects import object_times_s
from downlink.analysis.phases import run_metrics
from downlink.analysis.report import FlowRecord, build_report
from downlink.analysis.series import FlowSeries, receiver_series, sender_series
from downlink.domain.campaigns.campaign import Phases
from downlink.domain.results.metric import DEFAULT_PRIMARY

Columns = dict[str, NDArray[np.int64]]
RATE_HZ = 100
CONDITIONS = ("HyStart on", "HyStart off")
FIRST_BYTE_US = 600_000


@dataclass(frozen=True)
class Size:
    runs: int
    seconds: int
    rounds: int

    @property
    def samples(self) -> int:
        return self.seconds * RATE_HZ


FULL, TINY = Size(runs=344, seconds=125, rounds=5), Size(runs=4, seconds=30, rounds=1)


def sender_trace(rng: np.random.Generator, size: Size) -> Columns:
    """A flow that grows to about 100 Mb/s, with the columns that the series are made of."""
    elapsed_us = FIRST_BYTE_US + 10_000 * np.arange(size.samples) + rng.integers(0, 3_000, size.samples)
    delivered = np.cumsum(rng.integers(60, 110, size.samples))
    mss_bytes = np.full(size.samples, 1448)
    return {
        "elapsed_us": elapsed_us,
        "delivered_segments": delivered,
        "snd_mss_bytes": mss_bytes,
        "acked_bytes": delivered * 1448,
        "sent_bytes": (delivered + 5_000) * 1448,
        "retransmitted_bytes": np.cumsum(rng.integers(0, 2, size.samples)) * 1448,
        "rtt_us": rng.integers(600_000, 900_000, size.samples),
        "snd_wnd_bytes": rng.integers(1_000_000, 30_000_000, size.samples),
        "cwnd_segments": rng.integers(1_000, 9_000, size.samples),
        "unacked_segments": rng.integers(1_000, 9_000, size.samples),
    }


def receiver_trace(rng: np.random.Generator, size: Size) -> Columns:
    return {
        "elapsed_us": FIRST_BYTE_US + 10_000 * np.arange(size.samples) + rng.integers(0, 3_000, size.samples),
        "received_bytes": np.cumsum(rng.integers(60, 110, size.samples)) * 1448,
        "rcv_rtt_us": rng.integers(600_000, 900_000, size.samples),
        "rcv_wnd_bytes": rng.integers(1_000_000, 30_000_000, size.samples),
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
    (metrics,) = run_metrics([one], [0.0], Phases(), 144e6)
    return np.array([list(phase.values()) for phase in metrics.values()], dtype=np.float64)


def from_traces(traces: Sequence[tuple[Columns, Columns]]) -> None:
    series = [sent for sent, _ in series_of(traces)]
    report_of(
        series,
        [
            {"object_times": object_times_s(sent["elapsed_us"], sent["acked_bytes"], FIRST_BYTE_US)}
            for sent, _ in traces
        ],
    )


def rows(size: Size) -> Iterator[Row]:
    rng = np.random.default_rng(1)
    traces = [(sender_trace(rng, size), receiver_trace(rng, size)) for _ in range(size.runs)]
    series = [sent for sent, _ in series_of(traces)]
    all_bytes = np.concatenate([column for pair in traces for end in pair for column in end.values()])
    remark = f"{size.runs} runs x 2 ends x {size.seconds} s x {RATE_HZ} Hz, {all_bytes.nbytes / 1e6:.0f} MB"
    plain_s = median_s(all_bytes.sum, size.rounds)
    yield Row("plain numpy sum", plain_s, "s", remark=remark)
    same, traced = "the plain sum over the same bytes", "the plain sum over the traces' bytes"
    works: dict[str, tuple[Work, str]] = {
        "series from traces": (lambda: series_of(traces), same),
        "report from traces": (lambda: from_traces(traces), same),
        "report from series": (lambda: report_of(series, [{}] * len(series)), traced),
    }
    for name, (work, beside) in works.items():
        taken_s = median_s(work, size.rounds)
        yield Row(name, taken_s, "s", remark=f"{taken_s / plain_s:.3g} x {beside}")


if __name__ == "__main__":
    show(rows, FULL, TINY)
