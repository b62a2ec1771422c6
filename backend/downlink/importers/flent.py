"""Flent data files: the TCP flows of a batch of tools, as they came (`raw_values`) or resampled (`results`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from downlink.domain.partial import LeftOut
from downlink.domain.traces.point import Point
from downlink.importers.model import Content, Direction, ImportedFlow, Ints, UnreadableError
from downlink.importers.value_checks import (
    LARGEST,
    checked_columns,
    elapsed_us,
    ints,
    listing,
    mapping,
    masked_address,
    moment_of_table,
    number,
    summed,
    text_of,
    usable,
)

BYTES_PER_MEGABIT = 125_000
# Theirs, ours and the factor between them: flent passes on what `ss` prints, RTTs in milliseconds, rates in megabits per second.
GAUGES = {
    "tcp_cwnd": ("cwnd_segments", 1),
    "tcp_ssthresh": ("ssthresh_segments", 1),
    "tcp_rtt": ("rtt_us", 1_000),
    "tcp_rtt_var": ("rttvar_us", 1_000),
    "tcp_pacing_rate": ("pacing_rate_bps", 1_000_000),
    "tcp_delivery_rate": ("delivery_rate_bps", 1_000_000),
    "tcp_bbr_bw": ("bbr_bandwidth_bps", 1_000_000),
}
COMPUTED = {"avg", "sum", "totals", "fairness"}
DERIVED = re.compile(r"::(?!\d+$)[^:]*$")
"""`TCP upload::3` is a flow; `TCP upload::tcp_rtt` and `TCP upload::3::tcp_rtt` are what its socket said; the name of a flow to an
IPv6 address, `TCP upload BE 2001:db8::a`, ends in the same way."""

GAP = 1.5
"""Share of a sample's own length: recorded ones are a millisecond late at most."""

Samples = Sequence[Mapping[str, Any]]


def is_flent(document: Mapping[str, Any]) -> bool:
    return "x_values" in document and "results" in document and "metadata" in document


def read_flent(document: Mapping[str, Any]) -> Content:
    """A flow per TCP series, in the order of their names."""
    told = mapping(document["metadata"], "metadata")
    raw = document.get("raw_values")
    is_raw = isinstance(raw, Mapping) and bool(raw)
    series, unequal = (_raw(document, mapping(raw, "raw_values")), ()) if is_raw else _resampled(document)
    if not series:
        raise UnreadableError("it has no TCP flow with samples")
    numbers = {name: flow for flow, name in enumerate(sorted(series, key=_in_order), start=1)}
    begun, silent = usable((name, partial(_begun, name, series[name])) for name in numbers)
    first_s = min(each.begin_s for each in begun)
    flows, unread = usable(
        (each.name, partial(_flow, numbers[each.name], each, first_s, _about(told, each.name))) for each in begun
    )
    left_out = (*unequal, *silent, *unread, *(hole for each in begun for hole in each.holes))
    return Content(
        tuple(flows), moment_of_table(told.get("TIME")), _metadata(document, told), _test(told), left_out=left_out
    )


def _metadata(document: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    names = ("NAME", "TITLE", "LENGTH", "STEP_SIZE", "KERNEL_RELEASE")
    kept = {name.lower(): told.get(name) for name in names}
    return kept | {"host": masked_address(told.get("HOST")), "version": document.get("version")}


def _test(told: Mapping[str, Any]) -> str | None:
    return ": ".join(filter(None, (text_of(told, "NAME"), text_of(told, "TITLE")))) or None


def _about(told: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return flent's notes on one series; files before its version 4 have none."""
    series = told.get("SERIES_META")
    about = series.get(name) if isinstance(series, Mapping) else None
    return about if isinstance(about, Mapping) else {}


def _flows_of(names: Iterable[object]) -> list[str]:
    """The names of flows among those of a file's series."""
    series = {str(name) for name in names}
    return [name for name in map(str, names) if name.upper().startswith("TCP") and not _is_figure(name, series)]


def _is_figure(name: str, series: set[str]) -> bool:
    """Return whether a series is derived from flows, and not one of them."""
    base, _, last = name.rpartition("::")
    is_derived = DERIVED.search(name) is not None and (base in series or last.startswith("tcp_"))
    return is_derived or name.rsplit(" ", 1)[-1] in COMPUTED


def _in_order(name: str) -> list[tuple[int, str]]:
    """The tenth numbered flow comes after the ninth."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def _raw(document: Mapping[str, Any], series: Mapping[str, Any]) -> dict[str, object]:
    """Return the series as they are. If others have raw values, a flow that has only results never reported any."""
    named = document["results"] if isinstance(document["results"], Mapping) else {}
    flows = _flows_of([*named, *series])
    raw = {name: series[name] for name in flows if name in series}
    silent: dict[str, object] = {name: [] for name in flows if raw and name in named}
    return silent | raw


def _resampled(document: Mapping[str, Any]) -> tuple[dict[str, object], tuple[LeftOut, ...]]:
    """The plotted series as samples, gaps left out, and the series that do not fit the times."""
    xs = listing(document["x_values"], "x_values")
    results = mapping(document["results"], "results")
    names = _flows_of(results)
    flows, left_out = usable((name, partial(_plotted, name, results[name], xs)) for name in names)
    return dict(flows), left_out


def _plotted(name: str, series: object, xs: Sequence[Any]) -> tuple[str, object]:
    values = listing(series, f"results of {name}")
    if len(values) != len(xs):
        raise UnreadableError(f"{name} has {len(values)} values for {len(xs)} times; repeat the test")
    return name, [{"t": x, "val": value} for x, value in zip(xs, values, strict=True) if value is not None]


def _with(samples: Samples, key: str) -> Samples:
    return [sample for sample in samples if sample.get(key) is not None]


def _is_measured(sample: Mapping[str, Any]) -> bool:
    """Return whether a sample is of the throughput; a sample with socket values alone is none, and none that is missing."""
    return "dur" in sample or ("val" in sample and (sample["val"] is not None or not GAUGES.keys() & sample.keys()))


def _has_value(sample: Mapping[str, Any]) -> bool:
    """A throughput that can be: some tools write -1 or -999 for none."""
    value = sample.get("val")
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LARGEST


def _told_s(sample: Mapping[str, Any]) -> float | None:
    """Return for how many seconds a sample measured, where the file has it above 0."""
    told = sample.get("dur")
    told_s = 0.0 if told is None else number(told, "dur of a sample")
    return told_s if told_s > 0 else None


def _times_s(name: str, samples: Samples) -> list[float]:
    return [number(sample.get("t"), f"t of {name}") for sample in samples]


@dataclass(frozen=True, slots=True)
class _Begun:
    """A series that says something. begin_s: when its first measured span began, where the file says how long it was; else the
    first measurement. after_hole: places among the values that follow samples without one."""

    name: str
    samples: Samples
    values: Samples
    begin_s: float
    after_hole: frozenset[int]
    holes: tuple[LeftOut, ...]


def _begun(name: str, series: object) -> _Begun:
    samples = [mapping(each, f"a sample of {name}") for each in listing(series, f"raw_values of {name}")]
    measured = [sample for sample in samples if _is_measured(sample)]
    values = [sample for sample in measured if _has_value(sample)]
    if not values:
        raise UnreadableError(f"{name} has no throughput samples; repeat the test")
    begin_s = _times_s(name, values[:1])[0] - (_told_s(values[0]) or 0.0)
    after_hole = _after_hole(measured)
    after_gap = _after_gap(_times_s(name, values), values) - after_hole
    holes = _holes(name, len(measured) - len(values), len(after_gap))
    return _Begun(name, samples, values, begin_s, after_hole | after_gap, holes)


def _after_hole(measured: Samples) -> frozenset[int]:
    """Places of values, counted among the values, with samples without one between them and the value before."""
    after: list[int] = []
    index, is_open = 0, False
    for sample in measured:
        if has_value := _has_value(sample):
            after += [index] if is_open and index else []
            index += 1
        is_open = not has_value
    return frozenset(after)


def _after_gap(times_s: Sequence[float], values: Samples) -> frozenset[int]:
    """Places of values that began long after the value before: samples between them are lost. netperf's follow each other at once."""
    steps_s = np.diff(times_s).tolist()
    told_s = [_told_s(sample) for sample in values[1:]]
    pairs = enumerate(zip(steps_s, told_s, strict=True), start=1)
    return frozenset(index for index, (step, told) in pairs if told is not None and step > GAP * told)


def _holes(name: str, missing: int, gaps: int) -> tuple[LeftOut, ...]:
    parts = {"throughput samples without a usable value": missing, "gaps between throughput samples": gaps}
    counts = ", ".join(f"{part}: {count}" for part, count in parts.items() if count)
    return (LeftOut("", name, f"{counts}; the next rate counts for their time"),) if counts else ()


def _flow(flow: int, begun: _Begun, first_s: float, about: Mapping[str, Any]) -> ImportedFlow:
    """netperf's and the socket's samples have moments of their own. A row for each moment: bytes lie on a line between two of
    netperf's, and a gauge keeps its last value."""
    name, samples, values, begin_s = begun.name, begun.samples, begun.values, begun.begin_s
    ends_us, written = elapsed_us(_times_s(name, values), begin_s), _written(begun)
    _refuse_standing(name, ends_us)
    gauges = {key: _gauge(name, samples, key, begin_s) for key in GAUGES if _with(samples, key)}
    rows_us = np.unique(np.concatenate([ends_us, *(times_us for times_us, _ in gauges.values())]))
    rows_us = rows_us[(rows_us >= 0) & (rows_us <= ends_us[-1])]
    columns = {"elapsed_us": rows_us, "app_bytes": _between(rows_us, ends_us, written)}
    direction = _direction(name, about) or (Direction.UPLOAD if gauges else None)
    is_sender = direction is Direction.UPLOAD
    if is_sender:
        columns |= {GAUGES[key][0]: _held(rows_us, *gauge) for key, gauge in gauges.items()}
        columns |= _segment_size(about, len(rows_us))
    return ImportedFlow(
        flow,
        Point.SENDER if is_sender else Point.RECEIVER,
        checked_columns(columns),
        congestion_control=text_of(about, "CONG_CONTROL"),
        direction=direction,
        start_s=round(begin_s - first_s, 3),
        metadata={"series": name},
    )


def _refuse_standing(name: str, times_us: Ints) -> None:
    """Asked before the rows are merged, which puts them in order."""
    if (back := np.flatnonzero(np.diff(times_us) <= 0)).size:
        raise UnreadableError(f"time does not increase at throughput sample {int(back[0]) + 2} of {name}")


def _direction(name: str, about: Mapping[str, Any]) -> Direction | None:
    """Return the direction of a series: from netperf's test where the file has its command, else from the series' name."""
    command = f"{text_of(about, 'COMMAND') or ''} {name}".lower()
    if "tcp_stream" in command or "upload" in command:
        return Direction.UPLOAD
    return Direction.DOWNLOAD if "tcp_maerts" in command or "download" in command else None


def _written(begun: _Begun) -> Ints:
    """Values are megabits per second since the sample before; bytes are their sum. After samples without a value, nobody knows what
    they carried: the next rate counts from the last known moment on, so that each rate of the flow is one that was measured."""
    name, values = begun.name, begun.values
    steps_s = np.diff(_times_s(name, values)).tolist()
    spans_s = [steps_s[0] if steps_s and 1 not in begun.after_hole else 0.0, *steps_s]
    rates = [number(sample["val"], f"val of {name}") for sample in values]
    told_s = [None if index in begun.after_hole else _told_s(sample) for index, sample in enumerate(values)]
    known_s = [span if told is None else told for told, span in zip(told_s, spans_s, strict=True)]
    return summed(
        [round(rate * s * BYTES_PER_MEGABIT) for rate, s in zip(rates, known_s, strict=True)], f"val of {name}"
    )


def _between(rows_us: Ints, ends_us: Ints, written: Ints) -> Ints:
    """The bytes of each row; none before a first span whose length the file tells."""
    if ends_us[0] > 0:
        ends_us, written = np.insert(ends_us, 0, 0), np.insert(written, 0, 0)
    return np.rint(np.interp(rows_us, ends_us, written)).astype(np.int64)


def _gauge(name: str, samples: Samples, key: str, begin_s: float) -> tuple[Ints, Ints]:
    """Return when a gauge was read, in microseconds, and its values in our unit."""
    with_key = _with(samples, key)
    times_us = elapsed_us(_times_s(name, with_key), begin_s)
    if np.any(np.diff(times_us) < 0):
        raise UnreadableError(f"time goes back among the {key} samples of {name}")
    read = [number(sample[key], f"{key} of {name}") for sample in with_key]
    return times_us, ints([round(number(value * GAUGES[key][1], f"{key} of {name}")) for value in read])


def _held(rows_us: Ints, times_us: Ints, read: Ints) -> Ints:
    """The last value at or before each row, the first one before there is any."""
    held: Ints = read[np.maximum(np.searchsorted(times_us, rows_us, side="right") - 1, 0)]
    return held


def _segment_size(about: Mapping[str, Any], rows: int) -> dict[str, Ints]:
    size = about.get("TCP_MSS")
    is_known = isinstance(size, int) and size > 0
    return {"snd_mss_bytes": np.full(rows, round(number(size, "TCP_MSS")), np.int64)} if is_known else {}
