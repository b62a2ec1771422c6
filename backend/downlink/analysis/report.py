"""The statistics over the runs of a campaign: per condition, between flows, between conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from downlink.analysis import ANALYSIS_VERSION
from downlink.analysis.fairness import jain_index
from downlink.analysis.intervals import Intervals, bootstrap_interval, mean_intervals, plain
from downlink.analysis.phases import METRICS, PHASES, stack_values
from downlink.analysis.series import QUANTITIES
from downlink.analysis.steady import time_to_steady_s
from downlink.domain.campaign import Phases

Floats = NDArray[np.float64]
THROUGHPUT = METRICS.index("throughput_bps")
STEADY = PHASES.index("steady")


@dataclass(frozen=True)
class FlowRecord:
    """One flow of one complete run. run: the run's name, copied into the report.

    series: (quantities, bins). metrics: (phases, metrics). object_times_s: element N - 1 is the time to N MB, None if unknown.
    """

    run: str
    link: str
    condition: str
    cycle: int
    flow: int
    cc: str
    series: Floats
    metrics: Floats
    object_times_s: Floats | None = None


@dataclass(frozen=True)
class Group:
    """One flow of one condition on one link, over its runs.

    series: (quantities, bins). metrics: (phases, metrics). time_to_steady_s: scalar. object_times_s: (N,), up to what
    all runs reached. per_run: the metrics of each run (runs, phases, metrics), by cycle.
    """

    link: str
    condition: str
    flow: int
    cc: str
    runs: tuple[str, ...]
    cycles: tuple[int, ...]
    series: Intervals
    metrics: Intervals
    time_to_steady_s: Intervals
    object_times_s: Intervals
    per_run: Floats
    steady_times_s: Floats

    def to_dict(self) -> dict[str, Any]:
        bins = self.series.mean.shape[1]
        objects = self.object_times_s.to_dict()
        return {
            "link": self.link,
            "condition": self.condition,
            "flow": self.flow,
            "cc": self.cc,
            "runs": len(self.runs),
            "run_ids": list(self.runs),
            "series": {
                "bin_s": list(range(bins)),
                **{name: _band(self.series[index]) for index, name in enumerate(QUANTITIES)},
            },
            "metrics": {
                phase: {name: self.metrics[row, column].to_dict() for column, name in enumerate(METRICS)}
                for row, phase in enumerate(PHASES)
            },
            "time_to_steady_s": self.time_to_steady_s.to_dict(),
            "object_times": {
                "object_mb": list(range(1, len(objects["n"]) + 1)),
                "mean_s": objects["mean"],
                "low_s": objects["low"],
                "high_s": objects["high"],
                "n": objects["n"],
            },
        }


@dataclass(frozen=True)
class Fairness:
    """How the flows of a condition shared the link in one phase. difference_bps: flow 1 minus flow 2."""

    link: str
    condition: str
    flows: int
    phase: str
    jain: Intervals
    jain_of_means: float
    difference_bps: Intervals

    def to_dict(self) -> dict[str, Any]:
        return _members(self)


@dataclass(frozen=True)
class Comparison:
    """A condition minus the baseline (the campaign's first condition), paired by cycle, for one metric of one flow."""

    link: str
    flow: int
    phase: str
    metric: str
    condition: str
    baseline: str
    difference: Intervals
    bootstrap_low: float
    bootstrap_high: float

    def to_dict(self) -> dict[str, Any]:
        return _members(self)


@dataclass(frozen=True)
class Report:
    """The whole, with the version of the analysis that made it."""

    phases: Phases
    groups: tuple[Group, ...]
    fairness: tuple[Fairness, ...]
    comparisons: tuple[Comparison, ...]
    analysis_version: str = ANALYSIS_VERSION

    def to_dict(self) -> dict[str, Any]:
        """The part of `docs/api.md`'s report that follows from the numbers; missing values are null."""
        return {
            "analysis_version": self.analysis_version,
            "phases": asdict(self.phases),
            "groups": [group.to_dict() for group in self.groups],
            "fairness": [each.to_dict() for each in self.fairness],
            "comparisons": [each.to_dict() for each in self.comparisons],
        }


def build_report(
    flows: Sequence[FlowRecord],
    *,
    conditions: Sequence[str],
    phases: Phases,
    seed: int,
) -> Report:
    """The report over complete runs.

    flows: every flow of every such run. conditions: their names in the campaign's order, the first is the baseline.
    seed: of the bootstrap; the same flows and seed make the same report.
    """
    place = {name: index for index, name in enumerate(conditions)}
    ordered = sorted(flows, key=lambda each: (each.link, place[each.condition], each.flow, each.cycle))
    by_group = groupby(ordered, key=lambda each: (each.link, each.condition, each.flow))
    groups = tuple(_group(list(members)) for _, members in by_group)
    fairness = tuple(
        found
        for _, members in groupby(groups, key=lambda group: (group.link, group.condition))
        for found in _fairness(list(members))
    )
    comparisons = tuple(
        found
        for _, members in groupby(groups, key=lambda group: group.link)
        for found in _comparisons(list(members), conditions[0], seed)
    )
    return Report(phases, groups, fairness, comparisons)


def _group(members: list[FlowRecord]) -> Group:
    first = members[0]
    stacked = stack_values([each.series for each in members])
    per_run = np.stack([each.metrics for each in members])
    steady_times_s = np.array(
        [
            time_to_steady_s(each.series[THROUGHPUT], metrics[STEADY, THROUGHPUT])
            for each, metrics in zip(members, per_run, strict=True)
        ]
    )
    return Group(
        link=first.link,
        condition=first.condition,
        flow=first.flow,
        cc=first.cc,
        runs=tuple(each.run for each in members),
        cycles=tuple(each.cycle for each in members),
        series=mean_intervals(stacked),
        metrics=mean_intervals(per_run),
        time_to_steady_s=mean_intervals(steady_times_s),
        object_times_s=mean_intervals(_common_objects(members)),
        per_run=per_run,
        steady_times_s=steady_times_s,
    )


def _common_objects(members: Sequence[FlowRecord]) -> Floats:
    """Object times (runs, N) up to the largest object that all runs with known times reached."""
    known = [each.object_times_s for each in members if each.object_times_s is not None]
    common = min(map(len, known), default=0)
    return np.array([times[:common] for times in known]).reshape(len(known), common)


def _members(found: Fairness | Comparison) -> dict[str, Any]:
    values = {field.name: getattr(found, field.name) for field in fields(found)}
    return {name: _jsonable(value) for name, value in values.items()}


def _jsonable(value: Any) -> Any:
    if isinstance(value, Intervals):
        return value.to_dict()
    return plain(value) if isinstance(value, float) else value


def _band(column: Intervals) -> dict[str, Any]:
    statistics = column.to_dict()
    return {name: statistics[name] for name in ("mean", "low", "high", "n")}


def _fairness(groups: list[Group]) -> Iterator[Fairness]:
    """For a condition with several flows; a run counts when all of them are there."""
    if len(groups) < 2:
        return
    common = [run for run in groups[0].runs if all(run in group.runs for group in groups[1:])]
    shares = np.stack(
        [group.per_run[[group.runs.index(run) for run in common], :, THROUGHPUT] for group in groups], axis=-1
    )
    jain = mean_intervals(jain_index(shares))
    of_means = jain_index(mean_intervals(shares).mean)
    difference = mean_intervals(shares[:, :, 0] - shares[:, :, 1])
    for row, phase in enumerate(PHASES):
        yield Fairness(
            link=groups[0].link,
            condition=groups[0].condition,
            flows=len(groups),
            phase=phase,
            jain=jain[row],
            jain_of_means=float(of_means[row]),
            difference_bps=difference[row],
        )


def _comparisons(groups: list[Group], baseline: str, seed: int) -> Iterator[Comparison]:
    """Each group of one link against the baseline's group of the same flow."""
    bases = {group.flow: group for group in groups if group.condition == baseline}
    for group in groups:
        base = bases.get(group.flow)
        if base is None or group.condition == baseline:
            continue
        differences = _paired_differences(group, base)
        statistics = mean_intervals(differences)
        low, high = bootstrap_interval(differences, seed)
        names = [*((phase, metric) for phase in PHASES for metric in METRICS), ("overall", "time_to_steady_s")]
        for column, (phase, metric) in enumerate(names):
            yield Comparison(
                link=group.link,
                flow=group.flow,
                phase=phase,
                metric=metric,
                condition=group.condition,
                baseline=baseline,
                difference=statistics[column],
                bootstrap_low=float(low[column]),
                bootstrap_high=float(high[column]),
            )


def _paired_differences(group: Group, base: Group) -> Floats:
    """(cycles that both have, phases x metrics + time to steady state)."""
    common = [cycle for cycle in group.cycles if cycle in base.cycles]

    def values(side: Group) -> Floats:
        rows = [side.cycles.index(cycle) for cycle in common]
        return np.column_stack(
            [side.per_run[rows].reshape(len(rows), len(PHASES) * len(METRICS)), side.steady_times_s[rows]]
        )

    return values(group) - values(base)
