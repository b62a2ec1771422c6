"""A campaign's report (docs/api.md, section Report). For documentation and types: the body is stored encoded and sent as it is."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import ConfigDict, Field

from downlink.api.schemas.base import Shape, may_be_left_out, with_listed
from downlink.api.schemas.campaign_spec import Phases, Window
from downlink.domain.moment import Moment
from downlink.domain.results.metric import LINKED, LOST, METRICS, QUANTITIES
from downlink.views.results.reports import Comparison, Outlier
from downlink.views.shapes import PHASE, Column, Interval


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
