"""A campaign's report (docs/api.md, section Report). For documentation and types: the body is stored encoded and sent as it is."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import ConfigDict, Field

from downlink.api.schemas.base import Interval, Moment, Shape, may_be_left_out, with_listed
from downlink.api.schemas.campaigns import Phases, Window
from downlink.domain.results.metric import LINKED, LOST, METRICS, QUANTITIES

Reading = Literal["higher", "lower", "no_difference", "too_few", "exploratory"]
Column = list[float | None]
PHASE = "startup, steady, overall, or one of the campaign's windows"


class SeriesBand(Shape):
    mean: Column
    low: Column
    high: Column
    n: list[int]
    runs: list[Column] = Field(description="Each run's own values where there are at most three; else empty")


class EventTimes(Shape):
    """Times until something happens, of runs some of which ended before it did (Kaplan-Meier)."""

    median: float | None = Field(description="Null when it did not happen in half of the runs")
    low: float | None
    high: float | None = Field(description="Null where the runs do not bound it")
    n: int
    not_within: int = Field(description="Runs in which it did not happen within within_s")
    within_s: float | None


@with_listed(QUANTITIES, SeriesBand)
class GroupSeries(Shape):
    bin_s: list[int]


@with_listed(METRICS, Interval)
class PhaseMetrics(Shape):
    pass


class GroupMetrics(Shape):
    """Metrics by phase; the campaign's windows have theirs beside the three that every campaign has."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, PhaseMetrics]

    startup: PhaseMetrics
    steady: PhaseMetrics
    overall: PhaseMetrics


class ObjectTimes(Shape):
    object_mb: list[int]
    mean_s: Column
    low_s: Column
    high_s: Column
    n: list[int]


class Group(Shape):
    """One flow of one condition on one link, over its runs."""

    link: str = Field(
        description="With the way, where the campaign's runs over it took several: `geo, over lan via 10.0.0.1`"
    )
    condition: str
    flow: int
    cc: str
    runs: int
    run_ids: list[UUID]
    series: GroupSeries
    metrics: GroupMetrics
    too_short: int = Field(description="Runs shorter than a second: complete, without any number")
    implausible: int = Field(
        default=0,
        json_schema_extra=may_be_left_out,
        description="Runs among these that say what their link cannot give; left out where there are none",
    )
    time_to_steady_s: EventTimes = Field(description="Until throughput stays near the flow's own steady state")
    time_to_level_s: EventTimes = Field(description="Until it stays near level_bps, which is the same for all runs")
    level_bps: float | None
    level_basis: Literal["nominal", "median"] = Field(
        description="The link's rate for data, or the median steady state"
    )
    object_times: ObjectTimes = Field(description="From the first data byte until the sender knew of the arrival")
    requested_object_times: ObjectTimes = Field(description="The same from the connection request on: set-up included")
    received_object_times: ObjectTimes = Field(description="From the connection request until the receiver had them")


@with_listed(LINKED, Interval)
class LinkMetrics(Shape):
    pass


@with_listed(LOST, Interval)
class LinkFlow(Shape):
    """The link's losses of a flow, over whole runs."""

    flow: int


class LinkGroup(Shape):
    """An emulated link under one condition, over the runs of which it kept a log; on the way to the receiver."""

    link: str
    condition: str
    runs: int
    without_log: int = Field(description="Complete runs whose link was not logged; they are in no number here")
    metrics: dict[str, LinkMetrics] = Field(description="By phase or window")
    flows: list[LinkFlow]


class Fairness(Shape):
    link: str
    condition: str
    flows: int
    phase: str = Field(description=PHASE)
    jain: Interval
    jain_of_means: float | None
    difference_bps: Interval = Field(description="Flow 1 minus flow 2")
    ratio: Interval = Field(description="Flow 1 over flow 2: geometric mean of the runs; sd is that of the logarithms")


class Comparison(Shape):
    """A condition against the baseline, paired by cycle. p values are adjusted over the family, the comparisons of one
    primary metric; they are null where so few cycles cannot come below 5 %, and for other metrics."""

    link: str
    flow: int = Field(description="0: of the emulated link itself")
    phase: str = Field(description=PHASE)
    metric: str
    condition: str
    baseline: str
    difference: Interval
    ratio: float | None = Field(description="Mean over the baseline's mean, of the cycles that both have")
    paired_ratio: Interval = Field(description="Geometric mean of the cycles' ratios; sd is that of the logarithms")
    bootstrap_low: float | None
    bootstrap_high: float | None
    cycles_higher: int
    cycles_lower: int
    reading: Reading
    is_primary: bool
    family: int | None = Field(description="How many questions the p values are adjusted for")
    cycles_for_test: int | None = Field(description="The fewest cycles with which the level test can come below 5 %")
    level_p: float | None = Field(description="Paired sign-flip test")
    ks_distance: float | None
    shape_p: float | None = Field(description="Kolmogorov-Smirnov")
    detectable_difference: float | None = Field(description="What these cycles show at 5 % with a chance of 80 %")
    cycles_needed: int | None = Field(
        description="For a difference at the near end of its interval; null while that holds 0"
    )
    cycles_missing: int | None


class Outlier(Shape):
    """A value to look at. It stays in every statistic."""

    run_id: UUID
    link: str
    condition: str
    cycle: int
    flow: int
    phase: str = Field(description=PHASE)
    metric: str
    value: float
    median: float


class Report(Shape):
    campaign_id: UUID
    analysis_version: str
    computed_at: Moment
    is_current: bool
    is_outdated: bool = Field(description="Made by an older analysis; `downlink campaigns reanalyse` recomputes it")
    phases: Phases
    windows: list[Window] = Field(description="Further phases that the campaign names")
    primary_metrics: list[str] = Field(description="What is tested: phase.metric, or a time")
    groups: list[Group]
    links: list[LinkGroup] = Field(description="Emulated links by their own logs; empty where no run has one")
    fairness: list[Fairness]
    comparisons: list[Comparison]
    outliers: list[Outlier]
