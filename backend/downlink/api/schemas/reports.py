"""A campaign's report (docs/api.md, section Report). For documentation and types: the body is stored encoded and sent as it is."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from downlink.api.schemas.base import Interval, Moment, Shape
from downlink.api.schemas.campaigns import Phases

PhaseName = Literal["startup", "steady", "overall"]
Column = list[float | None]


class SeriesBand(Shape):
    mean: Column
    low: Column
    high: Column
    n: list[int]


class GroupSeries(Shape):
    bin_s: list[int]
    throughput_bps: SeriesBand
    goodput_bps: SeriesBand
    rtt_ms: SeriesBand
    rwnd_bytes: SeriesBand
    cwnd_bytes: SeriesBand
    retransmission_percent: SeriesBand
    in_flight_bytes: SeriesBand


class PhaseMetrics(Shape):
    throughput_bps: Interval
    goodput_bps: Interval
    rtt_ms: Interval
    rwnd_bytes: Interval
    cwnd_bytes: Interval
    retransmission_percent: Interval
    in_flight_bytes: Interval
    utilisation_ratio: Interval


class GroupMetrics(Shape):
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

    link: str
    condition: str
    flow: int
    cc: str
    runs: int
    run_ids: list[UUID]
    series: GroupSeries
    metrics: GroupMetrics
    time_to_steady_s: Interval
    object_times: ObjectTimes


class Fairness(Shape):
    link: str
    condition: str
    flows: int
    phase: PhaseName
    jain: Interval
    jain_of_means: float | None
    difference_bps: Interval


class Comparison(Shape):
    link: str
    flow: int
    phase: PhaseName
    metric: str
    condition: str
    baseline: str
    difference: Interval
    bootstrap_low: float | None
    bootstrap_high: float | None


class Report(Shape):
    campaign_id: UUID
    analysis_version: str
    computed_at: Moment
    is_current: bool
    phases: Phases
    groups: list[Group]
    fairness: list[Fairness]
    comparisons: list[Comparison]
