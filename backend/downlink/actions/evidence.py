"""How far a campaign's differences can be trusted."""

from __future__ import annotations

import math
from typing import Any
from uuid import UUID

from downlink.analysis.evidence import Value, weigh
from downlink.domain.run import RunState
from downlink.storage import campaigns, reports
from downlink.storage.reports import METRIC_COLUMNS
from downlink.storage.tables import Run
from downlink.storage.unit import Unit

STEADY_TIME = "time_to_steady_s"


def campaign_statistics(unit: Unit, campaign_id: UUID) -> dict[str, Any]:
    """Detectable differences, distribution tests and flagged values over the complete runs."""
    campaign = campaigns.find_campaign(unit, campaign_id)
    flows = [(run, flow) for run, flow in reports.flow_rows(unit, campaign_id) if run.state == RunState.COMPLETE]
    runs = {run.id: run for run, _ in flows}
    values = [
        _value(runs[row.run_id], row.flow, row.phase, metric, getattr(row, metric))
        for row in reports.metric_rows(unit, runs)
        for metric in METRIC_COLUMNS
    ]
    values += [_value(run, flow.flow, "overall", STEADY_TIME, flow.time_to_steady_s) for run, flow in flows]
    conditions = [condition["name"] for condition in campaign.spec["conditions"]]
    return {"campaign_id": campaign_id, **weigh(values, conditions, campaign.spec["timetable"]["seed"])}


def _value(run: Run, flow: int, phase: str, metric: str, value: float | None) -> Value:
    number = math.nan if value is None else value
    return Value(str(run.id), run.link, run.condition, run.cycle, flow, phase, metric, number)
