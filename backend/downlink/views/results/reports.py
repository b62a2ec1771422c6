"""A campaign's report and what goes with it; a run's series."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

from downlink.analysis import ANALYSIS_VERSION
from downlink.analysis.intervals import plain
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

_REMADE = Remade()


@dataclass(frozen=True)
class RunSeries:
    """flows: of each its number, its congestion controls, `bin_s` and every quantity as a column."""

    run_id: UUID
    flows: list[dict[str, Any]]


@dataclass(frozen=True)
class CampaignStatistics:
    """The report's comparisons, with what the cycles can show, and the values that stand out; nothing before the first report."""

    campaign_id: UUID
    primary_metrics: list[str]
    comparisons: list[dict[str, Any]]
    outliers: list[dict[str, Any]]


def run_series(unit: Unit, run_id: UUID) -> RunSeries:
    """A run's flows with their one-second bins, column by column."""
    run_store.get_run(unit, run_id)
    stored = {row.flow: row for row in judgement_store.rows(unit, StoredSeries, [run_id])}
    return RunSeries(run_id, [_flow_series(flow, stored.get(flow.flow)) for flow in run_store.flows_of(unit, run_id)])


def _flow_series(flow: RunFlow, stored: StoredSeries | None) -> dict[str, Any]:
    values = no_bins() if stored is None else values_of(stored)
    own = {"flow": flow.flow, "cc": flow.cc, "asked_cc": flow.asked_cc, "bin_s": list(range(values.shape[1]))}
    return {**own, **dict(zip(QUANTITIES, plain(values), strict=True))}


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
"""Those that say what the report says, whatever has ended since."""


def kept_answer(unit: Unit, campaign_id: UUID, name: str) -> bytes:
    """One of `KEPT`, encoded: as it was stored with the report, or made now where runs have ended or were analysed since."""
    campaign_store.find_campaign(unit, campaign_id)
    stored = report_store.find_answer(unit, campaign_id, name, ANALYSIS_VERSION)
    return orjson.dumps(KEPT[name](unit, campaign_id)) if stored is None else stored


def reproductions(unit: Unit) -> bytes:
    """The answers `reproduction` of all campaigns that name a published figure, the oldest first, as one object."""
    found = (kept_answer(unit, campaign_id, "reproduction") for campaign_id in campaign_store.reproducing(unit))
    return b'{"items":[' + b",".join(found) + b"]}"
