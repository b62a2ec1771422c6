"""`downlink causes` writes what the studies' archives say about values that were missed. It needs no server."""

from __future__ import annotations

import json
import math
import zipfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, geometric_mean, median

from downlink.analysis.exits.flow import flow_trace
from downlink.analysis.exits.sliding import mean_error_ratio, sliding_curves
from downlink.analysis.fairness import jain_index
from downlink.analysis.readings import bands_meet_s, curves_meet_s, first_reach_s, ratio_of_jain, repaired_s
from downlink.cli.files import write_text
from downlink.cli.output import say
from downlink.cli.study_rows import read_rows, table
from downlink.codec.parquet import trace_columns
from downlink.domain.errors import InvalidError

Lines = Sequence[Sequence[str]]
Runs = list[list[float]]
Series = Mapping[tuple[str, int], Runs]
"""Of complete runs, by condition and flow: runs by seconds, in the order of their cycles."""

MEGA = 1e6
STEADY_S = 30
START_S = 15
FRAME_S, FRAME_BYTES = 0.04, 2 * 1448
GIGABYTE, PAIRS, LONG_PAIRS, BUFFERS, LEO = "000-b-gigabyte", "000-d-pairs", "001-pairs", "000-a-buffers", "002-leo"


def write_causes(archives: Path, page: Path) -> None:
    """InvalidError where an archive cannot be read."""
    try:
        text = causes_page(archives)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InvalidError("study_unreadable", f"The archives in {archives} cannot be read: {error}.") from error
    write_text(page, text)
    say(str(page))


def causes_page(archives: Path) -> str:
    """The page, all of whose numbers are computed from the archives."""
    parts = [_INTRODUCTION]
    for title, text, head, lines in (
        _early_ratio(archives), _lead(archives), _steady(archives), _fairness(archives), _begins(archives),
        _buffers(archives), _gigabyte(archives), _approximation(archives),
    ):  # fmt: skip
        parts.append(f"\n## {title}\n\n{text}\n\n{table(head, lines)}")
    return "".join(parts)


Section = tuple[str, str, Sequence[str], Lines]

_INTRODUCTION = (
    "# Causes, read from the archives\n\nWhy a published value is not ours, from the studies' own runs. With a changed link or sender: "
    "[causes-modelled.md](causes-modelled.md). Written by `make reproduction` (`downlink causes`); do not edit.\n"
)


def _early_ratio(archives: Path) -> Section:
    series = read_series(archives, PAIRS)
    on, off = series["on and off", 1], series["on and off", 2]
    lines = []
    for end in (5, 10, START_S, 20, 30, 40, 60):
        own, other = _means(off, 0, end), _means(on, 0, end)
        ratio = geometric_mean(a / b for a, b in zip(own, other, strict=True))
        index = float(jain_index([fmean(other), fmean(own)]))
        lines.append(
            (
                f"0 to {end} s",
                f"{ratio:.1f}",
                f"{fmean(own) / fmean(other):.1f}",
                f"{index:.2f}",
            )
        )
    published = (
        f"The paper gives two values for this figure: Jain's index 0.56 for the first 15 s, a ratio of {ratio_of_jain(0.56):.1f}, and "
        f"about five times without seconds in its conclusions, an index of {float(jain_index([1, 5])):.2f}. Ours:"
    )
    head = ("seconds", "off over on, mean of runs", "of mean rates", "Jain of mean rates")
    return "Peters 2021, Figure 8: off over on in the start", published, head, lines


def _lead(archives: Path) -> Section:
    lines = []
    for study, condition, published in ((PAIRS, "on and off", "40 s"), (LONG_PAIRS, "HyStart on and off", "45 s")):
        series = read_series(archives, study)
        on, off = series[condition, 1], series[condition, 2]
        for span in (5, 10):
            met = bands_meet_s(off, on, span, START_S), curves_meet_s(off, on, span, START_S)
            lines.append((f"{study}, means over {span} s", published, *map(_seconds, met)))
    text = (
        "The papers take overlapping 95 % bands of mean curves for the same throughput (Zhao 2022, IV A). Our declared value asks "
        "until when one flow of a run has more than the other over ten seconds. From 15 s on:"
    )
    head = ("study", "published", "bands overlap from", "mean curves meet")
    return "Peters 2021, Figure 8; Zhao 2022, Figure 6: until when the flow without HyStart leads", text, head, lines


def _steady(archives: Path) -> Section:
    series = read_series(archives, GIGABYTE)
    repeated = read_series(archives, GIGABYTE, "retransmission_percent")["HyStart off", 1]
    lines = []
    for condition, published in (("HyStart on", "35 s"), ("HyStart off", "15 s")):
        runs = [_known(run) for run in series[condition, 1]]
        own = [first_reach_s(run, fmean(run[-STEADY_S:])) for run in runs]
        level = fmean(value for run in runs for value in run)
        common = [first_reach_s(run, level) for run in runs]
        lines += [
            _times(f"{condition}, first within 90 % of its own last {STEADY_S} s", published, own),
            _times(f"{condition}, first within 90 % of the condition's mean rate", published, common),
        ]
    lines.append(_times("HyStart off, slow start's losses are repaired", "15 s", [repaired_s(run) for run in repeated]))
    text = (
        "The papers read from a mean curve when throughput reaches its steady level. Our declared value is stricter: from when the "
        "rate *stays* above 90 % of it. Repaired: the first second with less than 1 % of repeated bytes after the first with more."
    )
    head = ("reading", "published", "median", "mean", "runs")
    return "Peters 2021, Figure 5: time to steady state", text, head, lines


def _times(reading: str, published: str, times: Sequence[float]) -> tuple[str, ...]:
    each = ", ".join(f"{time:.0f}" for time in times)
    return reading, published, f"{median(times):.0f} s", f"{fmean(times):.0f} s", each


def _fairness(archives: Path) -> Section:
    lines = []
    for study, condition in (
        (PAIRS, "on and on"),
        (PAIRS, "on and off"),
        (LONG_PAIRS, "Cubic and Cubic"),
        (LONG_PAIRS, "HyStart on and off"),
    ):
        series = read_series(archives, study)
        rates = [_means(series[condition, flow], 55, 115) for flow in (1, 2)]
        each = [float(index) for index in jain_index(rates, axis=0)]
        of_means = float(jain_index([fmean(rate) for rate in rates]))
        lines.append(
            (
                f"{study}, {condition}",
                f"{fmean(each):.3f}",
                f"{of_means:.3f}",
                ", ".join(f"{index:.2f}" for index in each),
            )
        )
    text = (
        "Published: 1.0 from 55 to 115 s, which holds from 0.95 on with the digits given. The mean of the runs' indices is 1 only "
        "where every run shares equally; in the index of mean rates runs balance each other. The paper does not state which it took."
    )
    head = ("study, condition", "mean of the runs' indices", "index of mean rates", "runs")
    return "Peters 2021, Figure 8: fairness in steady state", text, head, lines


def _begins(archives: Path) -> Section:
    series = read_series(archives, LONG_PAIRS)
    lines = []
    for condition in ("Cubic and Cubic", "Cubic and BBR", "Cubic and Vivace", "Cubic and Vivace as published"):
        cells = [
            ", ".join(f"{fmean(_means(series[condition, flow], at, end)) / MEGA:.1f}" for flow in (1, 2))
            for at, end in ((0, 5), (5, 10), (10, START_S), (60, 120))
        ]
        index = float(jain_index([fmean(_means(series[condition, flow], 0, START_S)) for flow in (1, 2)]))
        lines.append((condition, *cells[:3], f"{index:.2f}", cells[3]))
    text = (
        "Published: equal shares until about 15 s, on an axis of more than 100 Mb/s; the paper's summary calls BBR somewhat unfair in "
        "the start and PCC fair. Mean rates of first and second flow in Mb/s:"
    )
    head = ("pair", "0-5 s", "5-10 s", "10-15 s", "Jain, 0-15 s", "60-120 s")
    return "Zhao 2022, Figures 3 and 4: the first 15 s", text, head, lines


def _buffers(archives: Path) -> Section:
    rates, windows, rtts = (read_series(archives, BUFFERS, name) for name in ("throughput_bps", "rwnd_bytes", "rtt_ms"))
    asked = {"rmem default": 6_291_456, "rmem start doubled": 6_291_456, "rmem most doubled": 12_582_912}
    started = {"rmem default": 131_072, "rmem start doubled": 262_144, "rmem most doubled": 131_072}
    lines = []
    for condition, flow in sorted(rates):
        buffer, tuning = condition.split(", ")[1:]
        if buffer not in asked:
            continue
        bytes_asked = asked[buffer] if tuning == "autotuning" else started[buffer]
        most = max(value for run in windows[condition, flow] for value in _known(run))
        rate, rtt = (fmean(_means(each[condition, flow], 30, 60)) for each in (rates, rtts))
        of_window = most * 8 / (rtt / 1000)
        lines.append((
            condition, f"{bytes_asked:,}", f"{most / bytes_asked:.3f}", f"{rtt:.0f}", f"{rate / MEGA:.2f}", f"{of_window / MEGA:.2f}"
        ))  # fmt: skip
    text = (
        "Linux 4.15 (the paper) offers half of a receive buffer as window, Linux 6.18 (ours) five eighths. Small windows are also "
        f"limited by the return channel: one acknowledgement a frame for two segments, {FRAME_BYTES * 8 / FRAME_S / MEGA:.3f} Mb/s. "
        "From 30 to 60 s:"
    )
    head = ("condition", "buffer, bytes", "greatest window over it", "RTT, ms", "rate, Mb/s", "window over RTT, Mb/s")
    return "Peters 2021, Figures 2 and 3: windows of the kernels", text, head, lines


def _gigabyte(archives: Path) -> Section:
    series = read_series(archives, GIGABYTE)["HyStart on", 1]
    retransmitted = read_series(archives, GIGABYTE, "retransmission_percent")["HyStart on", 1]
    lost = {
        int(row["cycle"]): row
        for row in read_rows(archives, GIGABYTE, "link.csv")
        if row["condition"] == "HyStart on"
        and row["state"] == "complete"
        and row["flow"] == "1"
        and row["lost_packets"]
    }
    lines = []
    for cycle, (rate, share) in enumerate(zip(series, retransmitted, strict=True), start=1):
        row = lost.get(cycle, {})
        causes = [
            f"{float(row[f'{cause}_packets']):.0f}" if row else "-" for cause in ("random_loss", "outage", "early_drop")
        ]
        early = ", ".join(str(at) for at, value in enumerate(share[:60]) if value > 0) or "-"
        lines.append((str(cycle), str(len(_known(rate))), *causes, early))
    text = (
        "Published: 125 s. The slowest runs lost packets to the link, not to its queue, while they still climbed. The profile's "
        "independent loss (0.001 %) is an assumed order of magnitude."
    )
    head = (
        "run",
        "seconds",
        "lost independently",
        "lost in outages",
        "dropped at random by the queue",
        "seconds below 60 with repeated packets",
    )
    return "Peters 2021, Figure 5: 1 GB with HyStart on", text, head, lines


def _approximation(archives: Path) -> Section:
    errors: dict[bool, list[float]] = {True: [], False: []}
    with zipfile.ZipFile(archives / f"{LEO}.zip") as archive:
        rows = json.loads(archive.read("rows.json"))
        for flow in sorted(rows["run_flows"], key=lambda row: str(row["run_id"])):
            names = sorted(name for name in archive.namelist() if name.startswith(f"traces/{flow['run_id']}/1-sender"))
            columns = trace_columns([archive.read(name) for name in names])
            trace = flow_trace(columns, None, int(flow["sender_outcome"]["first_byte_us"]))
            for whole, found in errors.items():
                error = mean_error_ratio(trace, sliding_curves(trace, whole_bins=whole))
                if error is not None:
                    found.append(100 * error)
    lines = [
        (
            "a part of a bin counts (the later versions; ours)",
            f"{fmean(errors[False]):.2f} %",
            str(len(errors[False])),
        ),
        ("rounded to the nearest whole bin", f"{fmean(errors[True]):.2f} %", str(len(errors[True]))),
    ]
    text = (
        "Published: 4 % on average. What was sent a round trip ago is summed over bins, and a round trip is seldom a whole number of "
        "them. The paper's pseudocode adds whole bins, without a rounding rule. The same traces, both ways:"
    )
    head = ("what was sent a round trip ago", "mean error", "runs")
    return "Kachooei 2023, Figure 7: error of the approximation over LEO", text, head, lines


def _seconds(value: float) -> str:
    return "never" if math.isnan(value) else f"{value:.0f} s"


def read_series(archives: Path, study: str, quantity: str = "throughput_bps") -> Series:
    """A quantity of a study's complete runs, NaN where a run had ended."""
    runs: dict[tuple[str, int], dict[int, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in read_rows(archives, study, "series.csv"):
        if row["state"] == "complete" and row["bin_s"]:
            value = float(row[quantity]) if row[quantity] else math.nan
            runs[row["condition"], int(row["flow"])][int(row["cycle"])][int(row["bin_s"])] = value
    return {group: _stacked(by_cycle) for group, by_cycle in runs.items()}


def _stacked(by_cycle: Mapping[int, Mapping[int, float]]) -> Runs:
    seconds = 1 + max(max(bins) for bins in by_cycle.values())
    return [[by_cycle[cycle].get(at, math.nan) for at in range(seconds)] for cycle in sorted(by_cycle)]


def _known(values: Sequence[float]) -> list[float]:
    return [value for value in values if not math.isnan(value)]


def _means(runs: Runs, from_s: int, to_s: int) -> list[float]:
    """Of each run, over the seconds that it has."""
    return [fmean(_known(run[from_s:to_s])) for run in runs]
