"""A campaign's report and what goes with it; a run's series."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from uuid import UUID

import orjson

from downlink.analysis import ANALYSIS_VERSION
from downlink.analysis.intervals import plain
from downlink.domain.doc import As, Doc
from downlink.domain.errors import NotFoundError
from downlink.domain.moment import moment_text
from downlink.domain.results.metric import QUANTITIES
from downlink.storage.campaigns import campaign_store
from downlink.storage.results import judgement_store, report_store
from downlink.storage.runs import run_store
from downlink.storage.tables import Campaign, RunFlow, StoredSeries
from downlink.storage.tables import Report as StoredReport
from downlink.storage.unit import Unit
from downlink.views.body_cache import Remade
from downlink.views.results.delays import campaign_delays
from downlink.views.results.exits import campaign_exits
from downlink.views.results.limits import campaign_limits
from downlink.views.results.material import Made, build, no_bins, values_of
from downlink.views.results.rates import campaign_rates
from downlink.views.results.reproduction import campaign_reproduction
from downlink.views.shapes import PHASE, Column, Interval, fill, with_listed

Reading = Literal["higher", "lower", "no_difference", "too_few", "exploratory"]
_REMADE = Remade()


@with_listed(QUANTITIES, Column)
@dataclass(frozen=True)
class FlowSeries:
    """One-second bins from the flow's first data byte; null where there is no value."""

    flow: int
    cc: Annotated[str, Doc("The congestion control that ran; until that is known, the one that was asked for")]
    asked_cc: str
    bin_s: list[int]


@dataclass(frozen=True)
class RunSeries:
    run_id: UUID
    flows: list[FlowSeries]


@dataclass(frozen=True)
class Comparison:
    """A condition against the baseline, paired by cycle. p values are adjusted over the family, the comparisons of one
    primary metric; they are null where so few cycles cannot come below 5 %, and for other metrics."""

    link: str
    flow: Annotated[int, Doc("0: of the emulated link itself")]
    phase: Annotated[str, Doc(PHASE)]
    metric: str
    condition: str
    baseline: str
    difference: Interval
    ratio: Annotated[float | None, Doc("Mean over the baseline's mean, of the cycles that both have")]
    paired_ratio: Annotated[Interval, Doc("Geometric mean of the cycles' ratios; sd is that of the logarithms")]
    bootstrap_low: float | None
    bootstrap_high: float | None
    cycles_higher: int
    cycles_lower: int
    reading: Reading
    is_primary: bool
    family: Annotated[int | None, Doc("How many questions the p values are adjusted for")]
    cycles_for_test: Annotated[int | None, Doc("The fewest cycles with which the level test can come below 5 %")]
    level_p: Annotated[float | None, Doc("Paired sign-flip test")]
    ks_distance: float | None
    shape_p: Annotated[float | None, Doc("Kolmogorov-Smirnov")]
    detectable_difference: Annotated[float | None, Doc("What these cycles show at 5 % with a chance of 80 %")]
    cycles_needed: Annotated[
        int | None, Doc("For a difference at the near end of its interval; null while that holds 0")
    ]
    cycles_missing: int | None


@dataclass(frozen=True)
class Outlier:
    """A value to look at. It stays in every statistic."""

    run_id: UUID
    link: str
    condition: str
    cycle: int
    flow: int
    phase: Annotated[str, Doc(PHASE)]
    metric: str
    value: float
    median: float


@dataclass(frozen=True)
class CampaignStatistics:
    campaign_id: UUID
    primary_metrics: list[str]
    comparisons: Annotated[list[dict[str, Any]], As(list[Comparison])]
    outliers: Annotated[list[dict[str, Any]], As(list[Outlier])]


def run_series(unit: Unit, run_id: UUID) -> RunSeries:
    """A run's flows with their one-second bins, column by column."""
    run_store.get_run(unit, run_id)
    stored = {row.flow: row for row in judgement_store.rows(unit, StoredSeries, [run_id])}
    return RunSeries(run_id, [_flow_series(flow, stored.get(flow.flow)) for flow in run_store.flows_of(unit, run_id)])


def _flow_series(flow: RunFlow, stored: StoredSeries | None) -> FlowSeries:
    values = no_bins() if stored is None else values_of(stored)
    columns = dict(zip(QUANTITIES, plain(values), strict=True))
    bins = list(range(values.shape[1]))
    return fill(FlowSeries, columns, flow=flow.flow, cc=flow.cc, asked_cc=flow.asked_cc, bin_s=bins)


def stored_report(unit: Unit, campaign_id: UUID) -> bytes:
    """The report as it is sent. NotFoundError until there is one."""
    campaign = campaign_store.find_campaign(unit, campaign_id)
    report = report_store.find_report(unit, campaign_id)
    if report is None:
        raise NotFoundError("report_not_ready", "There is no report yet; it is made when a first run is complete.")
    is_outdated = report.analysis_version != ANALYSIS_VERSION
    is_current = report.version >= campaign.report_wanted and not is_outdated
    head = {"campaign_id": campaign_id, "computed_at": moment_text(report.computed_at), "is_current": is_current}
    # The body is an encoded object: its members follow the head's.
    return orjson.dumps({**head, "is_outdated": is_outdated})[:-1] + b"," + _body(unit, campaign, report)[1:]


def report_members(unit: Unit, campaign_id: UUID) -> dict[str, Any] | None:
    """The report, decoded; None until there is one."""
    campaign = campaign_store.find_campaign(unit, campaign_id)
    report = report_store.find_report(unit, campaign_id)
    return None if report is None else orjson.loads(_body(unit, campaign, report))


def _body(unit: Unit, campaign: Campaign, report: StoredReport) -> bytes:
    """Return the report's body. One of an older analysis lacks what this version shows: it is rebuilt from the older numbers, and
    marked so."""
    if report.analysis_version == ANALYSIS_VERSION:
        return report.body

    def make() -> bytes:
        return orjson.dumps({**build(unit, campaign).to_dict(), "analysis_version": report.analysis_version})

    # The stored body belongs to the key: a campaign that was deleted may come back under its id in another archive.
    stored = (campaign.id, report.version, report.analysis_version, hashlib.sha256(report.body).digest())
    return _REMADE.find((*stored, report_store.complete_runs_seen(unit, campaign.id)), make)


def campaign_statistics(unit: Unit, campaign_id: UUID) -> CampaignStatistics:
    return statistics_of(campaign_id, report_members(unit, campaign_id) or {})


def statistics_of(campaign_id: UUID, members: Mapping[str, Any]) -> CampaignStatistics:
    """Out of a report's members."""
    names = ("primary_metrics", "comparisons", "outliers")
    return CampaignStatistics(campaign_id, *(members.get(name, []) for name in names))


def campaign_values(unit: Unit, campaign_id: UUID, made: Made | None = None) -> dict[str, Any]:
    """Every quantity of every complete run; `made` are the statistics where they were made just now."""
    report = made[0] if made else build(unit, campaign_store.find_campaign(unit, campaign_id))
    return {"sides": [side.to_dict() for side in report.run_values]}


KEPT: Mapping[str, Callable[[Unit, UUID], Any]] = {
    "statistics": campaign_statistics,
    "exits": campaign_exits,
    "limits": campaign_limits,
    "delays": campaign_delays,
    "rates": campaign_rates,
    "reproduction": campaign_reproduction,
    "values": campaign_values,
}
"""Answers that are made and stored with the report."""
FROM_REPORT = frozenset({"statistics", "values"})
"""Answers that agree with the report, whatever has ended since."""


def kept_answer(unit: Unit, campaign_id: UUID, name: str) -> bytes:
    """One of `KEPT`, encoded: as it was stored with the report, or made now where runs have ended or were analysed since."""
    campaign_store.find_campaign(unit, campaign_id)
    stored = report_store.find_answer(unit, campaign_id, name, ANALYSIS_VERSION)
    return orjson.dumps(KEPT[name](unit, campaign_id)) if stored is None else stored


def reproductions(unit: Unit) -> bytes:
    """The answers `reproduction` of all campaigns that name a published figure, the oldest first, as one object."""
    answers = (kept_answer(unit, campaign_id, "reproduction") for campaign_id in campaign_store.reproducing(unit))
    return b'{"items":[' + b",".join(answers) + b"]}"
