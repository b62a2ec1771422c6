"""The page of causes: what the studies' archives say about values that were missed."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, geometric_mean, median

from downlink.analysis.fairness import jain_index
from downlink.cli.files import write_text
from downlink.cli.output import say
from study.pages.readings import bands_meet_s, curves_meet_s, first_reach_s, ratio_of_jain, repaired_s
from study.pages.tables import read_rows, read_trace_rows, reading, table_lines
from study.prose import fill

Lines = Sequence[Sequence[str]]
Runs = list[list[float]]
Series = Mapping[tuple[str, int], Runs]
"""Series of complete runs, by condition and flow: runs by seconds, in the order of their cycles."""

MEGA = 1e6
STEADY_S = 30
START_S = 15
FRAME_S, FRAME_BYTES = 0.04, 2 * 1448
PUBLISHED_INDEX, PUBLISHED_RATIO = 0.56, 5
"""Published values of the flow without HyStart and the one with it: Jain's index of 15 s, and the ratio of rates
that the conclusions name."""
GIGABYTE, PAIRS, LONG_PAIRS, BUFFERS, LEO = "000-b-gigabyte", "000-d-pairs", "001-pairs", "000-a-buffers", "002-leo"


def write_causes(archives: Path, page: Path) -> None:
    """Write the page. InvalidError where an archive cannot be read."""
    with reading(archives):
        text = causes_page(archives)
    write_text(page, text)
    say(str(page))


def causes_page(archives: Path) -> str:
    """The page, all of whose numbers are computed from the archives."""
    return fill(
        "causes",
        early_ratio=table_lines(_early_ratio(archives)),
        lead=table_lines(_lead(archives)),
        steady=table_lines(_steady(archives)),
        fairness=table_lines(_fairness(archives)),
        begins=table_lines(_begins(archives)),
        buffers=table_lines(_buffers(archives)),
        gigabyte=table_lines(_gigabyte(archives)),
        approximation=table_lines(_approximation(archives)),
        ratio=f"{ratio_of_jain(PUBLISHED_INDEX):.1f}",
        index=f"{float(jain_index([1, PUBLISHED_RATIO])):.2f}",
        returned_mbps=f"{FRAME_BYTES * 8 / FRAME_S / MEGA:.3f}",
    )


def _early_ratio(archives: Path) -> Lines:
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
    return lines


def _lead(archives: Path) -> Lines:
    lines = []
    for study, condition, published in ((PAIRS, "on and off", "40 s"), (LONG_PAIRS, "HyStart on and off", "45 s")):
        series = read_series(archives, study)
        on, off = series[condition, 1], series[condition, 2]
        for span in (5, 10):
            met = bands_meet_s(off, on, span, START_S), curves_meet_s(off, on, span, START_S)
            lines.append((f"{study}, means over {span} s", published, *map(_seconds, met)))
    return lines


def _steady(archives: Path) -> Lines:
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
    return lines


def _times(reading: str, published: str, times: Sequence[float]) -> tuple[str, ...]:
    each = ", ".join(f"{time:.0f}" for time in times)
    return reading, published, f"{median(times):.0f} s", f"{fmean(times):.0f} s", each


def _fairness(archives: Path) -> Lines:
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
    return lines


def _begins(archives: Path) -> Lines:
    series = read_series(archives, LONG_PAIRS)
    lines = []
    for condition in ("Cubic and Cubic", "Cubic and BBR", "Cubic and Vivace", "Cubic and Vivace as published"):
        cells = [
            ", ".join(f"{fmean(_means(series[condition, flow], at, end)) / MEGA:.1f}" for flow in (1, 2))
            for at, end in ((0, 5), (5, 10), (10, START_S), (60, 120))
        ]
        index = float(jain_index([fmean(_means(series[condition, flow], 0, START_S)) for flow in (1, 2)]))
        lines.append((condition, *cells[:3], f"{index:.2f}", cells[3]))
    return lines


def _buffers(archives: Path) -> Lines:
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
    return lines


def _gigabyte(archives: Path) -> Lines:
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
    return lines


def _approximation(archives: Path) -> Lines:
    rows = read_trace_rows(archives, LEO)
    lines = []
    for title, column in (
        ("a part of a bin counts (the later versions; ours)", "parts_error"),
        ("rounded to the nearest whole bin", "whole_error"),
    ):
        errors = [100 * float(row[column]) for row in rows if row[column]]
        lines.append((title, f"{fmean(errors):.2f} %", str(len(errors))))
    return lines


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
    """Means of each run, over the seconds that it has."""
    return [fmean(_known(run[from_s:to_s])) for run in runs]
