"""The statistics over the runs of a campaign: per condition, between flows, between conditions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from downlink.analysis import ANALYSIS_VERSION
from downlink.analysis.binning import Floats
from downlink.analysis.compare import flag_outliers
from downlink.analysis.comparison import Comparison, places
from downlink.analysis.fairness import jain_index
from downlink.analysis.intervals import Intervals, mean_intervals, plain, ratio_intervals
from downlink.analysis.linkgroups import LinkGroup, LinkRecord, link_groups
from downlink.analysis.objects import shown_sizes_mb
from downlink.analysis.phases import stack_values
from downlink.analysis.steady import latest_steady_s, time_to_steady_s
from downlink.analysis.survival import EventTimes, event_times, restricted
from downlink.analysis.values import RunValues, compare_runs
from downlink.domain.campaigns.campaign import Phases
from downlink.domain.campaigns.flow_plan import PROBE
from downlink.domain.results.metric import LEAST, METRICS, MOST, PHASES, QUANTITIES, phase_metric_of

THROUGHPUT = METRICS.index("throughput_bps")
STEADY = PHASES.index("steady")
OBJECT_TIMES = ("object_times", "requested_object_times", "received_object_times")
"""Times until the sender knows that N MB have arrived: from the flow's first data byte, and from its connection request
(set-up included); until the receiver has them, from its request."""
MAX_SHOWN_RUNS = 4
"""Up to so many runs the series of each are in the report: they say more than an interval of so few."""
PAYLOAD_RATIO = 1448 / 1500
"""Share that a nominal rate leaves for data: packets of 1,500 bytes with IPv4, TCP and timestamps."""
QUANTITIES_MOST = np.array([MOST.get(name, np.inf) for name in QUANTITIES])
METRICS_MOST = np.array([MOST.get(name, np.inf) for name in METRICS])


@dataclass(frozen=True)
class FlowRecord:
    """One flow of one complete run. run: the run's name, copied into the report.

    series: (quantities, bins). metrics: (phases, metrics). object_times: by what they count from and to (`OBJECT_TIMES`),
    element N - 1 is the time to N MB in seconds; what is not known is not there. is_implausible: its run says what the link cannot give.
    """

    run: str
    link: str
    condition: str
    cycle: int
    flow: int
    cc: str
    series: Floats
    metrics: Floats
    object_times: Mapping[str, Floats] = field(default_factory=dict)
    is_implausible: bool = False


@dataclass(frozen=True)
class ObjectTimes:
    """Transfer times of objects: sizes_mb (sizes,), times_s one value for each."""

    sizes_mb: NDArray[np.int64]
    times_s: Intervals

    def to_dict(self) -> dict[str, Any]:
        times = self.times_s.to_dict()
        own = {f"{name}_s": times[name] for name in ("mean", "low", "high")}
        return {"object_mb": self.sizes_mb.tolist(), **own, "n": times["n"]}


@dataclass(frozen=True)
class Group:
    """One flow of one condition on one link, over its runs.

    series: (quantities, bins). stacked: the same of each run (runs, quantities, bins). metrics: (phases, metrics).
    time_to_steady_s: to the flow's own steady state. time_to_level_s: to level_bps, the same for all runs, which is the
    link's ("nominal") or the median of the runs' steady states ("median"). object_times: up to what all
    runs reached. values: of each run, by cycle (runs, places). not_within: which runs did not come to the two times while they
    were watched (runs, times). too_short: runs without a single bin. implausible: runs that say what the link cannot give.
    """

    link: str
    condition: str
    flow: int
    cc: str
    runs: tuple[str, ...]
    cycles: tuple[int, ...]
    series: Intervals
    stacked: Floats
    metrics: Intervals
    time_to_steady_s: EventTimes
    time_to_level_s: EventTimes
    level_bps: float
    level_basis: str
    object_times: Mapping[str, ObjectTimes]
    per_run: Floats
    values: Floats
    not_within: NDArray[np.bool_]
    phases: tuple[str, ...]
    too_short: int
    implausible: int

    @property
    def run_values(self) -> RunValues:
        named = {
            name: getattr(self, name)
            for name in ("link", "condition", "flow", "cc", "runs", "cycles", "values", "not_within")
        }
        return RunValues(**named, places=places(self.phases))

    def to_dict(self) -> dict[str, Any]:
        bins = self.series.mean.shape[1]
        return {
            "link": self.link,
            "condition": self.condition,
            "flow": self.flow,
            "cc": self.cc,
            "runs": len(self.runs),
            "run_ids": list(self.runs),
            "series": {
                "bin_s": list(range(bins)),
                **{name: self._band(index) for index, name in enumerate(QUANTITIES)},
            },
            "metrics": {
                phase: {name: self.metrics[row, column].to_dict() for column, name in enumerate(METRICS)}
                for row, phase in enumerate(self.phases)
            },
            "too_short": self.too_short,
            **({"implausible": self.implausible} if self.implausible else {}),
            "time_to_steady_s": self.time_to_steady_s.to_dict(),
            "time_to_level_s": self.time_to_level_s.to_dict(),
            "level_bps": plain(self.level_bps),
            "level_basis": self.level_basis,
            **{name: self.object_times[name].to_dict() for name in OBJECT_TIMES},
        }

    def _band(self, quantity: int) -> dict[str, Any]:
        statistics = self.series[quantity].to_dict()
        runs = plain(self.stacked[:, quantity]) if len(self.runs) <= MAX_SHOWN_RUNS else []
        return {**{name: statistics[name] for name in ("mean", "low", "high", "n")}, "runs": runs}


@dataclass(frozen=True)
class Fairness:
    """Shares of a condition's flows in one phase. difference_bps: flow 1 minus flow 2. ratio: flow 1 over flow 2, the geometric mean
    of the runs'."""

    link: str
    condition: str
    flows: int
    phase: str
    jain: Intervals
    jain_of_means: float
    difference_bps: Intervals
    ratio: Intervals

    def to_dict(self) -> dict[str, Any]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: _jsonable(value) for name, value in values.items()}


@dataclass(frozen=True)
class Report:
    """The whole, with the version of the analysis that made it. links: empty where no run's link was logged."""

    phases: Phases
    primary: tuple[str, ...]
    groups: tuple[Group, ...]
    links: tuple[LinkGroup, ...]
    fairness: tuple[Fairness, ...]
    comparisons: tuple[Comparison, ...]
    outliers: tuple[dict[str, Any], ...]
    analysis_version: str = ANALYSIS_VERSION

    @property
    def run_values(self) -> tuple[RunValues, ...]:
        """The values of each run: flows first, then the links themselves."""
        return (*(group.run_values for group in self.groups), *(link.run_values for link in self.links))

    def to_dict(self) -> dict[str, Any]:
        """The part of `docs/api.md`'s report that follows from the numbers; missing values are null."""
        return {
            "analysis_version": self.analysis_version,
            "phases": {"startup_s": self.phases.startup_s, "steady_s": self.phases.steady_s},
            "windows": [asdict(window) for window in self.phases.windows],
            "primary_metrics": list(self.primary),
            "groups": [group.to_dict() for group in self.groups],
            "links": [each.to_dict() for each in self.links],
            "fairness": [each.to_dict() for each in self.fairness],
            "comparisons": [each.to_dict() for each in self.comparisons],
            "outliers": list(self.outliers),
        }


def build_report(
    flows: Sequence[FlowRecord],
    *,
    conditions: Sequence[str],
    phases: Phases,
    primary: Sequence[str],
    nominal_rate_bps: Mapping[str, float],
    seed: int,
    logged: Sequence[LinkRecord] = (),
) -> Report:
    """The report over complete runs.

    flows: every flow of every such run. logged: those runs whose emulated link was logged. conditions: their names in the campaign's
    order, the first is the baseline. primary: names of the metrics that are tested. nominal_rate_bps: per link, NaN where nobody knows
    it. seed: of the bootstrap and of sampled permutations; the same flows and seed make the same report.
    """
    rank = {name: index for index, name in enumerate(conditions)}
    ordered = sorted(flows, key=lambda each: (each.link, rank[each.condition], each.flow, each.cycle))
    together: dict[tuple[str, str], set[int]] = {}
    for each in ordered:
        if each.cc != PROBE:
            together.setdefault((each.link, each.condition), set()).add(each.flow)
    groups = tuple(
        _group(
            list(members),
            phases.names,
            nominal_rate_bps[link] if len(together.get((link, condition), ())) == 1 else np.nan,
        )
        for (link, condition, _), members in groupby(ordered, key=lambda each: (each.link, each.condition, each.flow))
    )
    fairness = tuple(
        outlier
        for _, members in groupby(groups, key=lambda group: (group.link, group.condition))
        for outlier in _fairness(list(members))
    )
    links = link_groups(logged, conditions, phases.names, _complete(flows))
    sides = [*(each.run_values for each in groups), *(each.run_values for each in links)]
    comparisons = compare_runs(sides, conditions[0], [phase_metric_of(name) for name in primary], seed)
    outliers = tuple(outlier for group in groups for outlier in _outliers(group))
    return Report(phases, tuple(primary), groups, links, fairness, comparisons, outliers)


def _complete(flows: Sequence[FlowRecord]) -> Mapping[tuple[str, str], int]:
    """Count the complete runs of each link and condition."""
    return Counter(
        (link, condition) for _, link, condition in {(each.run, each.link, each.condition) for each in flows}
    )


def _group(members: list[FlowRecord], phases: tuple[str, ...], nominal_rate_bps: float) -> Group:
    """phases: their names. nominal_rate_bps: of the link, NaN where it is not known or shared by several flows."""
    first = members[0]
    stacked = stack_values([each.series for each in members])
    per_run = np.stack([each.metrics for each in members])
    own_levels = per_run[:, STEADY, THROUGHPUT]
    is_nominal = np.isfinite(nominal_rate_bps)
    level_bps = nominal_rate_bps * PAYLOAD_RATIO if is_nominal else _median(own_levels)
    # A flow of probes has no throughput that could become steady.
    has_data = first.cc != PROBE
    watched_s = np.array([latest_steady_s(each.series.shape[1]) if has_data else np.nan for each in members])
    own_s, common_s = (
        np.array(
            [time_to_steady_s(each.series[THROUGHPUT], level) for each, level in zip(members, levels, strict=True)]
        )
        for levels in (own_levels, np.full(len(members), level_bps))
    )
    times = [restricted(each, watched_s) for each in (own_s, common_s)]
    return Group(
        link=first.link,
        condition=first.condition,
        flow=first.flow,
        cc=first.cc,
        runs=tuple(each.run for each in members),
        cycles=tuple(each.cycle for each in members),
        series=mean_intervals(stacked, least=LEAST, most=QUANTITIES_MOST[:, None]),
        stacked=stacked,
        metrics=mean_intervals(per_run, least=LEAST, most=METRICS_MOST),
        time_to_steady_s=event_times(own_s, watched_s),
        time_to_level_s=event_times(common_s, watched_s),
        level_bps=level_bps,
        level_basis="nominal" if is_nominal else "median",
        object_times={name: _common_objects(members, name) for name in OBJECT_TIMES},
        per_run=per_run,
        values=np.column_stack([per_run.reshape(len(members), -1), *times]),
        not_within=np.isnan(np.column_stack([own_s, common_s])) & ~np.isnan(watched_s)[:, None],
        phases=phases,
        too_short=sum(each.series.shape[1] == 0 for each in members),
        implausible=sum(each.is_implausible for each in members),
    )


def _median(values: Floats) -> float:
    present = values[~np.isnan(values)]
    return float(np.median(present)) if len(present) else np.nan


def _common_objects(members: Sequence[FlowRecord], name: str) -> ObjectTimes:
    """Up to the largest object that all runs with known times reached."""
    known = [each.object_times[name] for each in members if name in each.object_times]
    sizes_mb = shown_sizes_mb(min(map(len, known), default=0))
    times_s = np.array([times[sizes_mb - 1] for times in known]).reshape(len(known), len(sizes_mb))
    return ObjectTimes(sizes_mb, mean_intervals(times_s, least=LEAST))


def _jsonable(value: Any) -> Any:
    if isinstance(value, Intervals):
        return value.to_dict()
    return plain(value) if isinstance(value, float) else value


def _fairness(groups: list[Group]) -> Iterator[Fairness]:
    """Yield the fairness of a condition with several flows of data; a run counts if it has all of them."""
    groups = [group for group in groups if group.cc != PROBE]
    if len(groups) < 2:
        return
    rows = [{run: row for row, run in enumerate(group.runs)} for group in groups]
    common = [run for run in groups[0].runs if all(run in at for at in rows[1:])]
    shares = np.stack(
        [group.per_run[[at[run] for run in common], :, THROUGHPUT] for group, at in zip(groups, rows, strict=True)],
        axis=-1,
    )
    jain = mean_intervals(jain_index(shares), least=1 / len(groups), most=1)
    of_means = jain_index(mean_intervals(shares).mean)
    difference = mean_intervals(shares[:, :, 0] - shares[:, :, 1])
    ratio = ratio_intervals(shares[:, :, 0], shares[:, :, 1])
    for row, phase in enumerate(groups[0].phases):
        yield Fairness(
            link=groups[0].link,
            condition=groups[0].condition,
            flows=len(groups),
            phase=phase,
            jain=jain[row],
            jain_of_means=float(of_means[row]),
            difference_bps=difference[row],
            ratio=ratio[row],
        )


def _outliers(group: Group) -> Iterator[dict[str, Any]]:
    """Values that stand out from the other runs of the group."""
    for column, (phase, metric) in enumerate(places(group.phases)):
        values = group.values[:, column]
        for row in np.flatnonzero(flag_outliers(values)):
            yield {
                **{"link": group.link, "flow": group.flow, "phase": phase, "metric": metric},
                **{"run_id": group.runs[row], "condition": group.condition, "cycle": group.cycles[row]},
                **{"value": float(values[row]), "median": float(np.nanmedian(values))},
            }
