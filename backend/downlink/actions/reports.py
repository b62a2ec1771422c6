"""A campaign's report: load series and metrics, compute, store."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import groupby
from typing import Any
from uuid import UUID

import numpy as np
import orjson

from downlink.actions.campaigns import complete_campaign
from downlink.analysis import ANALYSIS_VERSION
from downlink.analysis.binning import Floats
from downlink.analysis.phases import rate_or_nan
from downlink.analysis.report import FlowRecord, Report, build_report
from downlink.domain.campaign import Phases
from downlink.domain.errors import NotFoundError
from downlink.domain.metric import DEFAULT_PRIMARY, PHASES
from downlink.domain.run import RunState
from downlink.storage import campaigns, reports
from downlink.storage import runs as run_rows
from downlink.storage.events import add_event
from downlink.storage.reports import METRIC_COLUMNS, SERIES_COLUMNS
from downlink.storage.tables import Campaign, Metric, Run, RunFlow
from downlink.storage.tables import Report as StoredReport
from downlink.storage.unit import Unit


def run_series(unit: Unit, run_id: UUID) -> dict[str, Any]:
    """A run's flows with their one-second bins, column by column."""
    run_rows.get_run(unit, run_id)
    bins = {flow: list(rows) for flow, rows in groupby(reports.series_rows(unit, [run_id]), key=lambda row: row.flow)}
    flows = []
    for flow in run_rows.flows_of(unit, run_id):
        found = bins.get(flow.flow, [])
        columns = {name: [getattr(row, name) for row in found] for name in ("bin_s", *SERIES_COLUMNS)}
        flows.append({"flow": flow.flow, "cc": flow.cc, "asked_cc": flow.asked_cc, **columns})
    return {"run_id": run_id, "flows": flows}


def stored_report(unit: Unit, campaign_id: UUID) -> bytes:
    """The report as it is sent. NotFoundError until there is one."""
    campaign = campaigns.find_campaign(unit, campaign_id)
    report = reports.find_report(unit, campaign_id)
    if report is None:
        raise NotFoundError("report_not_ready", "There is no report yet: it is made when the first cycle ends.")
    is_outdated = report.analysis_version != ANALYSIS_VERSION
    is_current = report.version >= campaign.report_wanted and not is_outdated
    head = {"campaign_id": campaign_id, "computed_at": report.computed_at, "is_current": is_current}
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
    return orjson.dumps({**_build(unit, campaign).to_dict(), "analysis_version": report.analysis_version})


def campaign_statistics(unit: Unit, campaign_id: UUID) -> dict[str, Any]:
    """The report's comparisons, with what the cycles can show, and the values that stand out; nothing before the first report."""
    names = ("primary_metrics", "comparisons", "outliers")
    found = report_members(unit, campaign_id) or {name: [] for name in names}
    return {"campaign_id": campaign_id, **{name: found[name] for name in names}}


def refresh_report(unit: Unit, campaign_id: UUID, now: datetime) -> None:
    """Make the report that the campaign wants, unless it is there. Safe to run twice and at once."""
    campaign = campaigns.find_campaign(unit, campaign_id)
    wanted = campaign.report_wanted
    there = reports.find_report(unit, campaign_id)
    if there is None or there.version < wanted:
        report = _build(unit, campaign)
        body = orjson.dumps(report.to_dict())
        reports.store_report(unit, campaign_id, wanted, report.analysis_version, body, now)
        add_event(unit, now, "report", {}, campaign_id)
    if campaigns.find_campaign(unit, campaign_id, is_locked=True).report_wanted == wanted:
        complete_campaign(unit, campaign_id, now)


def _build(unit: Unit, campaign: Campaign) -> Report:
    """The statistics over the campaign's complete runs, from their stored series and metrics."""
    flows = [(run, flow) for run, flow in reports.flow_rows(unit, campaign.id) if run.state == RunState.COMPLETE]
    ids = {run.id for run, _ in flows}
    series = {
        key: _table(list(rows))
        for key, rows in groupby(reports.series_rows(unit, ids), key=lambda row: (row.run_id, row.flow))
    }
    metrics = {(row.run_id, row.flow, row.phase): row for row in reports.metric_rows(unit, ids)}
    return build_report(
        [_record(run, flow, series, metrics) for run, flow in flows],
        conditions=[condition["name"] for condition in campaign.spec["conditions"]],
        phases=Phases(**campaign.spec["phases"]),
        primary=campaign.spec.get("primary_metrics", DEFAULT_PRIMARY),
        nominal_rate_bps={run.link: rate_or_nan(run.nominal_rate_bps) for run, _ in flows},
        seed=campaign.spec["timetable"]["seed"],
    )


def _record(run: Run, flow: RunFlow, series: Mapping[Any, Floats], metrics: Mapping[Any, Metric]) -> FlowRecord:
    """A flow without a series (its run was shorter than a second) has empty ones."""
    times = flow.object_times_s
    rows = [metrics.get((run.id, flow.flow, phase)) for phase in PHASES]
    return FlowRecord(
        run=str(run.id),
        link=run.link,
        condition=run.condition,
        cycle=run.cycle,
        flow=flow.flow,
        cc=flow.cc,
        series=series.get((run.id, flow.flow), np.zeros((len(SERIES_COLUMNS), 0))),
        metrics=np.array([[getattr(row, name, None) for name in METRIC_COLUMNS] for row in rows], dtype=np.float64),
        object_times_s=None if times is None else np.asarray(times, dtype=np.float64),
    )


def _table(rows: list[Any]) -> Floats:
    """Rows are (run, flow, bin, quantities...), one for each bin from 0; NULL becomes NaN. The table is (quantities, bins)."""
    return np.array([row[3:] for row in rows], dtype=np.float64).T
