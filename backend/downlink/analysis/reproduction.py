"""Published values beside ours: the estimate with its interval, and whether it holds what was published."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from downlink.analysis.binning import Floats
from downlink.analysis.compare import equivalence_p
from downlink.analysis.comparison import places
from downlink.analysis.exits.outcomes import share
from downlink.analysis.fairness import jain_index
from downlink.analysis.intervals import Intervals, mean_intervals, plain, ratio_intervals
from downlink.analysis.lead import lead_end_s
from downlink.analysis.pooled_quantile import Counted, counted, counted_bins, pooled_quantile
from downlink.analysis.report import OBJECT_TIMES, THROUGHPUT, FlowRecord, Group, Report
from downlink.analysis.sketch import Sketch
from downlink.analysis.survival import EventTimes, event_times
from downlink.domain.results.metric import (
    LEADS,
    LINKED,
    LOST,
    METRICS,
    NAMED,
    OBJECTS,
    QUANTITIES,
    SHARED,
    STEADY_TIMES,
)
from downlink.domain.results.reproduction import PublishedValue, Side

Statistic = Literal["mean", "median", "share", "ratio", "difference", "quantile"]
Reading = Literal["not_run", "too_few", "inside", "near", "outside"]
OBJECT_KINDS = dict(zip(OBJECTS, OBJECT_TIMES, strict=True))
CAN_BE_NEGATIVE = frozenset({"hr_s"})
RATIO_UNIT = ""
Values = Mapping[str, tuple[int, float]]
"""Run to its cycle and value."""


@dataclass(frozen=True)
class Material:
    """A campaign's numbers. slow_starts: of (run, flow), by metric, seconds, per cent, or 1 and 0 for success. sketches: of (run,
    flow), by metric, of its delays. seed: of the bootstrap."""

    report: Report
    records: Sequence[FlowRecord]
    slow_starts: Mapping[tuple[str, int], Mapping[str, float | None]]
    sketches: Mapping[tuple[str, int], Mapping[str, Sketch]]
    seed: int


@dataclass(frozen=True)
class Reproduced:
    """One published value and ours, in `unit`. least and most are what was published, None where open.

    statistic: what `estimate` is. low, high: its 95 % interval. n: runs or pairs; not_within: of them, those in which a time was not
    reached. reading: `inside` the interval is what was published; `near`: outside of it, but the estimate within the tolerance.
    equivalence_p: of two one-sided tests that ours lies within the tolerance around what was published.
    """

    value: PublishedValue
    statistic: Statistic
    unit: str
    estimate: float | None
    low: float | None
    high: float | None
    n: int
    not_within: int | None
    reading: Reading
    equivalence_p: float | None

    def to_dict(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in _OWN}
        asked = {name: getattr(self.value, name) for name in _ASKED}
        sides = {name: _side(getattr(self.value, name)) for name in ("over", "minus")}
        ends = {"least": plain(self.value.least), "most": plain(self.value.most)}
        return {**asked, "title": NAMED[self.value.metric].title, **asdict(self.value.side), **sides, **ends, **own}


_OWN = ("statistic", "unit", "estimate", "low", "high", "n", "not_within", "reading", "equivalence_p")
_ASKED = ("name", "metric", "phase", "object_mb", "link", "than_link", "share", "tolerance", "source", "why")


def _side(side: Side | None) -> dict[str, Any] | None:
    return None if side is None else asdict(side)


@dataclass(frozen=True)
class _Found:
    """An estimate. pairs: what the equivalence test is about, on the scale of `scaled`; empty where there is no such test."""

    statistic: Statistic
    estimate: float
    low: float
    high: float
    n: int
    not_within: int | None = None
    pairs: Floats | None = None


def reproduce(value: PublishedValue, material: Material, link: str) -> Reproduced:
    """One published value against the runs over a link."""
    result = _find(value, material, link)
    shown = NAMED[value.metric]
    least, most = value.least - (value.tolerance or 0), value.most + (value.tolerance or 0)
    p = math.nan
    if result.pairs is not None and math.isfinite(least) and math.isfinite(most) and least < most:
        p = _equivalence(result, least, most)
    estimate, low, high = (plain(each) for each in (result.estimate, result.low, result.high))
    return Reproduced(
        value=value,
        statistic=result.statistic,
        unit=RATIO_UNIT if value.over else shown.shown_unit,
        estimate=estimate,
        low=low,
        high=high,
        n=result.n,
        not_within=result.not_within,
        reading=_reading(value, result),
        equivalence_p=plain(p),
    )


def _equivalence(estimate: _Found, least: float, most: float) -> float:
    """Ratios are tested on the scale of their logarithms, as their interval is made."""
    ends = (least, most)
    if estimate.statistic == "ratio":
        ends = (_log(least), _log(most))
    return equivalence_p(() if estimate.pairs is None else estimate.pairs, *ends)


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def _reading(value: PublishedValue, estimate: _Found) -> Reading:
    if not estimate.n:
        return "not_run"
    if estimate.low <= value.most and estimate.high >= value.least:
        return "inside"
    slack = value.tolerance
    if slack is not None and value.least - slack <= estimate.estimate <= value.most + slack:
        return "near"
    return "too_few" if math.isnan(estimate.low) and math.isnan(estimate.high) else "outside"


def _find(value: PublishedValue, material: Material, link: str) -> _Found:
    if value.over and value.than_link:
        return _multiple(value, value.over, material, (link, value.than_link))
    if value.share is not None:
        return _quantile(value, value.share, material, link)
    if value.metric in LEADS:
        return _lead(value, _groups(material, link, value.side.condition))
    return _of_runs(value, material, link)


def _of_runs(value: PublishedValue, material: Material, link: str) -> _Found:
    """Return the estimate of a value that each run has, or each pair of runs."""
    own = _values(value, value.side, material, link)
    if value.over or value.minus:
        other = _values(value, value.over or value.minus or value.side, material, link)
        return _paired(value, *_pairs(own, other, value))
    if value.metric in STEADY_TIMES:
        return _event_time(value, material, link)
    numbers = np.array([number for _, number in own.values()])
    if value.metric == "success_percent":
        return _share(numbers)
    flows = max((group.flow for group in _groups(material, link, value.side.condition)), default=1)
    least = 1 / flows if value.metric in SHARED else -math.inf if value.metric in CAN_BE_NEGATIVE else 0.0
    factor, end = NAMED[value.metric].shown_factor, NAMED[value.metric].most
    intervals = mean_intervals(numbers * factor, least=least * factor, most=math.inf if end is None else end * factor)
    return _of("mean", intervals, numbers * factor)


def _of(statistic: Statistic, intervals: Intervals, pairs: Floats) -> _Found:
    return _Found(
        statistic, float(intervals.mean), float(intervals.low), float(intervals.high), int(intervals.n), None, pairs
    )


def _share(numbers: Floats) -> _Found:
    present = numbers[~np.isnan(numbers)]
    interval = share(int(present.sum()), len(present))
    low, high = (math.nan if each is None else 100 * each for each in (interval.low, interval.high))
    return _Found("share", 100 * interval.value, low, high, interval.n)


def _quantile(value: PublishedValue, share: float, material: Material, link: str) -> _Found:
    """Return a quantile over all values of all runs; its interval resamples whole runs."""
    runs = [_counted(value.metric, each, material) for each in _flows(value.side, material, link)]
    factor = NAMED[value.metric].shown_factor
    quantile = pooled_quantile([run for run in runs if run is not None and len(run.values)], share, material.seed)
    return _Found("quantile", quantile.value * factor, quantile.low * factor, quantile.high * factor, quantile.n)


def _counted(metric: str, record: FlowRecord, material: Material) -> Counted | None:
    if metric in QUANTITIES:
        return counted(record.series[QUANTITIES.index(metric)])
    sketch = material.sketches.get((record.run, record.flow), {}).get(metric)
    return None if sketch is None else counted_bins(sketch)


def _event_time(value: PublishedValue, material: Material, link: str) -> _Found:
    """The median over all runs, those included that were not there in time."""
    for group in _groups(material, link, value.side.condition):
        if group.flow == value.side.flow:
            return _median(getattr(group, value.metric))
    return _NO_MEDIAN


_NO_MEDIAN = _Found("median", math.nan, math.nan, math.nan, 0)


def _median(times: EventTimes) -> _Found:
    low = times.low if times.n > 1 else math.nan
    high = math.inf if times.n > 1 and math.isnan(times.high) else times.high
    return _Found("median", times.median, low, high, times.n, times.not_within)


def _lead(value: PublishedValue, groups: Sequence[Group]) -> _Found:
    """Return when the flow's lead over the fastest of the others ended, over the runs that have all flows."""
    own = [group for group in groups if group.flow == value.side.flow]
    others = [group for group in groups if group.flow != value.side.flow]
    if not own or not others:
        return _NO_MEDIAN
    rates = [
        dict(zip(group.runs, group.stacked[:, QUANTITIES.index("throughput_bps")], strict=True))
        for group in (*own, *others)
    ]
    leads = [
        lead_end_s(rates[0][run], [each[run] for each in rates[1:]])
        for run in own[0].runs
        if all(run in each for each in rates)
    ]
    return _median(event_times([end for end, _ in leads], [watched for _, watched in leads]))


def _multiple(value: PublishedValue, over: Side, material: Material, links: tuple[str, str]) -> _Found:
    """Return how many times the ratio over one link is that over another: both of the same cycle, which meet the same weather."""
    ratios = [
        {
            cycle: a / b
            for cycle, a, b in _cycles(_values(value, value.side, material, link), _values(value, over, material, link))
        }
        for link in links
    ]
    common = [cycle for cycle in ratios[0] if cycle in ratios[1]]
    return _paired(value, *(np.array([each[cycle] for cycle in common]) for each in ratios))


def _cycles(own: Values, other: Values) -> list[tuple[int, float, float]]:
    """Both numbers of each cycle that has both, above zero."""
    by_cycle = dict(other.values())
    return [(cycle, a, by_cycle[cycle]) for cycle, a in own.values() if cycle in by_cycle and by_cycle[cycle] > 0]


def _paired(value: PublishedValue, own: Floats, other: Floats) -> _Found:
    if value.over:
        is_there = (own > 0) & (other > 0)
        return _of("ratio", ratio_intervals(own, other), np.log(own[is_there] / other[is_there]))
    factor, end = NAMED[value.metric].shown_factor, NAMED[value.metric].most
    reach = math.inf if end is None else end * factor
    differences = (own - other) * factor
    return _of("difference", mean_intervals(differences, least=-reach, most=reach), differences)


def _pairs(own: Values, other: Values, value: PublishedValue) -> tuple[Floats, Floats]:
    """Both numbers of each run that both have, or of each cycle where the conditions differ."""
    is_one_run = (value.over or value.minus or value.side).condition == value.side.condition
    first, second = (
        {(run if is_one_run else cycle): number for run, (cycle, number) in side.items()} for side in (own, other)
    )
    common = [key for key in first if key in second]
    return np.array([first[key] for key in common]), np.array([second[key] for key in common])


def _groups(material: Material, link: str, condition: str) -> list[Group]:
    return [group for group in material.report.groups if (group.link, group.condition) == (link, condition)]


def _values(value: PublishedValue, side: Side, material: Material, link: str) -> Values:
    """Run to its cycle and number, in the metric's own unit; NaN where it is not known."""
    if value.metric in SHARED:
        return _jain(value, _groups(material, link, side.condition))
    if value.metric in (*LINKED, *LOST):
        return _of_link(value, side, material, link)
    if value.metric in OBJECT_KINDS or value.metric not in (*METRICS, *STEADY_TIMES):
        flows = _flows(side, material, link)
        return {each.run: (each.cycle, _of_record(value, each, material)) for each in flows}
    for group in _groups(material, link, side.condition):
        if group.flow == side.flow:
            quantity = ("overall" if value.metric in STEADY_TIMES else value.phase, value.metric)
            column = group.values[:, places(group.phases).index(quantity)]
            return {
                run: (cycle, float(number)) for run, cycle, number in zip(group.runs, group.cycles, column, strict=True)
            }
    return {}


def _flows(side: Side, material: Material, link: str) -> list[FlowRecord]:
    whose = (link, side.condition, side.flow)
    return [each for each in material.records if (each.link, each.condition, each.flow) == whose]


def _of_link(value: PublishedValue, side: Side, material: Material, link: str) -> Values:
    """Return the values of the runs whose emulated link was logged."""
    for group in material.report.links:
        if (group.link, group.condition) == (link, side.condition):
            if value.metric in LINKED:
                column = group.values[:, group.phases.index(value.phase), LINKED.index(value.metric)]
            else:
                known = group.losses.get(side.flow, np.full((len(group.runs), len(LOST)), np.nan))
                column = known[:, LOST.index(value.metric)]
            return {
                run: (cycle, float(number)) for run, cycle, number in zip(group.runs, group.cycles, column, strict=True)
            }
    return {}


def _of_record(value: PublishedValue, record: FlowRecord, material: Material) -> float:
    if value.metric in OBJECT_KINDS:
        times = record.object_times.get(OBJECT_KINDS[value.metric], ())
        size = value.object_mb or 1
        return float(times[size - 1]) if len(times) >= size else math.nan
    number = material.slow_starts.get((record.run, record.flow), {}).get(value.metric)
    return math.nan if number is None else number


def _jain(value: PublishedValue, groups: Sequence[Group]) -> Values:
    """Return Jain's index of the runs that have all flows."""
    rates = [
        dict(zip(group.runs, group.per_run[:, group.phases.index(value.phase), THROUGHPUT], strict=True))
        for group in groups
    ]
    if len(rates) < 2:
        return {}
    return {
        run: (cycle, float(jain_index(np.array([each[run] for each in rates]))))
        for run, cycle in zip(groups[0].runs, groups[0].cycles, strict=True)
        if all(run in each for each in rates)
    }
