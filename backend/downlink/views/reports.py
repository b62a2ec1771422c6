"""A campaign's report and what goes with it; a run's series."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
import orjson

from downlink.analysis import ANALYSIS_VERSION
from downlink.analysis.binning import Floats
from downlink.analysis.intervals import plain
from downlink.analysis.phases import rate_or_nan
from downlink.analysis.report import FlowRecord, Report, build_report
from downlink.codec.series import unpack_series
from downlink.codec.tables import moment_text
from downlink.domain.campaign import Phases
from downlink.domain.errors import NotFoundError
from downlink.domain.metric import METRICS, QUANTITIES
from downlink.storage import campaigns, judged, reports, runs
from downlink.storage.tables import Campaign, Metric, Run, RunFlow, StoredSeries
from downlink.storage.tables import Report as StoredReport
from downlink.storage.unit import Unit
from downlink.views.exits import campaign_exits
from downlink.views.flows import complete_flows, run_ids
from downlink.views.limits import campaign_limits


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
    runs.get_run(unit, run_id)
    stored = {row.flow: row for row in judged.rows(unit, StoredSeries, [run_id])}
    return RunSeries(run_id, [_flow_series(flow, stored.get(flow.flow)) for flow in runs.flows_of(unit, run_id)])


def _flow_series(flow: RunFlow, stored: StoredSeries | None) -> dict[str, Any]:
    values = _no_bins() if stored is None else _values(stored)
    own = {"flow": flow.flow, "cc": flow.cc, "asked_cc": flow.asked_cc, "bin_s": list(range(values.shape[1]))}
    return {**own, **dict(zip(QUANTITIES, plain(values), strict=True))}


def stored_report(unit: Unit, campaign_id: UUID) -> bytes:
    """The report as it is sent. NotFoundError until there is one."""
    campaign = campaigns.find_campaign(unit, campaign_id)
    report = reports.find_report(unit, campaign_id)
    if report is None:
        raise NotFoundError("report_not_ready", "There is no report yet; it is made when the first cycle ends.")
    is_outdated = report.analysis_version != ANALYSIS_VERSION
    is_current = report.version >= campaign.report_wanted and not is_outdated
    head = {"campaign_id": campaign_id, "computed_at": moment_text(report.computed_at), "is_current": is_current}
    # The body is an encoded object: its members follow the head's.
    return orjson.dumps({**head, "is_outdated": is_outdated})[:-1] + b"," + _body(unit, campaign, report)[1:]


def report_members(unit: Unit, campaign_id: UUID) -> dict[str, Any] | None:
    """The report, decoded; None until there is one."""
    campaign = campaigns.find_campaign(unit, campaign_id)
    report = reports.find_report(unit, campaign_id)
    return None if report is None else orjson.loads(_body(unit, campaign, report))


def _body(unit: Unit, campaign: Campaign, report: StoredReport) -> bytes:
    """What an older analysis stored lacks what this version shows: it is made anew, of the older numbers, and says so."""
    if report.analysis_version == ANALYSIS_VERSION:
        return report.body
    return orjson.dumps({**build(unit, campaign).to_dict(), "analysis_version": report.analysis_version})


def campaign_statistics(unit: Unit, campaign_id: UUID) -> CampaignStatistics:
    return statistics_of(campaign_id, report_members(unit, campaign_id) or {})


def statistics_of(campaign_id: UUID, members: Mapping[str, Any]) -> CampaignStatistics:
    """Out of a report's members."""
    names = ("primary_metrics", "comparisons", "outliers")
    return CampaignStatistics(campaign_id, *(members.get(name, []) for name in names))


KEPT: Mapping[str, Callable[[Unit, UUID], Any]] = {
    "statistics": campaign_statistics,
    "exits": campaign_exits,
    "limits": campaign_limits,
}
"""Answers that are made and stored with the report."""
FROM_REPORT = frozenset({"statistics"})
"""Those that say what the report says, whatever has ended since."""


def kept_answer(unit: Unit, campaign_id: UUID, name: str) -> bytes:
    """One of `KEPT`, encoded: as it was stored with the report, or made now where runs have ended or were analysed since."""
    campaigns.find_campaign(unit, campaign_id)
    stored = reports.find_answer(unit, campaign_id, name, ANALYSIS_VERSION)
    return orjson.dumps(KEPT[name](unit, campaign_id)) if stored is None else stored


def build(unit: Unit, campaign: Campaign) -> Report:
    """The statistics over the campaign's complete runs, from their stored series and metrics."""
    spec, flows = campaigns.campaign_of(campaign), complete_flows(unit, [campaign.id])
    ids = run_ids(flows)
    series = {(row.run_id, row.flow): _values(row) for row in judged.rows(unit, StoredSeries, ids)}
    metrics = {(row.run_id, row.flow, row.phase): row for row in judged.rows(unit, Metric, ids)}
    members = [member for group in flows.values() for member in group]
    planned = sorted((run for run, _ in members), key=lambda run: (run.due_at, run.cycle, run.position, run.attempt))
    return build_report(
        [_record(run, flow, series, metrics, spec.phases) for run, flow in members],
        conditions=[condition.name for condition in spec.conditions],
        phases=spec.phases,
        primary=spec.primary_metrics,
        nominal_rate_bps={run.link: rate_or_nan(run.nominal_rate_bps) for run in planned},  # the last one says it
        seed=spec.timetable.seed,
    )


def _record(
    run: Run, flow: RunFlow, series: Mapping[Any, Floats], metrics: Mapping[Any, Metric], phases: Phases
) -> FlowRecord:
    """A flow without a series (its run was shorter than a second) has empty ones."""
    rows = [metrics.get((run.id, flow.flow, phase)) for phase in phases.names]
    return FlowRecord(
        run=str(run.id),
        link=run.link,
        condition=run.condition,
        cycle=run.cycle,
        flow=flow.flow,
        cc=flow.cc,
        series=series.get((run.id, flow.flow), _no_bins()),
        metrics=np.array([[getattr(row, name, None) for name in METRICS] for row in rows], dtype=np.float64),
        object_times={name: np.asarray(times, dtype=np.float64) for name, times in _object_times(flow)},
    )


def _object_times(flow: RunFlow) -> Iterator[tuple[str, Floats | list[float]]]:
    """Those that are known, by their names in the report. An imported flow does not say when it was asked for."""
    if flow.object_times_s is None:
        return
    yield "object_times", flow.object_times_s
    first_byte_us = (flow.sender_outcome or {}).get("first_byte_us")
    if flow.received_times_s is None or first_byte_us is None:
        return
    yield "requested_object_times", np.asarray(flow.object_times_s) + (first_byte_us / 1e6 - flow.start_s)
    yield "received_object_times", flow.received_times_s


def _values(row: StoredSeries) -> Floats:
    return unpack_series(row.packed, row.quantities, QUANTITIES)


def _no_bins() -> Floats:
    return np.zeros((len(QUANTITIES), 0))
