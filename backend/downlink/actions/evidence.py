"""How far a campaign's differences can be trusted."""

from __future__ import annotations

import math
from typing import Any
from uuid import UUID

from downlink.analysis.evidence import Value, weigh
from downlink.domain.run import RunState
from downlink.storage import campaigns, reports
from downlink.storage.reports import METRIC_COLUMNS
from downlink.storage.unit import Unit


def campaign_statistics(unit: Unit, campaign_id: UUID) -> dict[str, Any]:
    """Detectable differences, distribution tests and flagged values over the complete runs."""
    campaign = campaigns.find_campaign(unit, campaign_id)
    runs = {run.id: run for run, _ in reports.flow_rows(unit, campaign_id) if run.state == RunState.COMPLETE}
    values = [
        Value(
            str(run.id), run.link, run.condition, run.cycle, row.flow, row.phase, metric, _number(getattr(row, metric))
        )
        for row in reports.metric_rows(unit, runs)
        for run in (runs[row.run_id],)
        for metric in METRIC_COLUMNS
    ]
    conditions = [condition["name"] for condition in campaign.spec["conditions"]]
    return {"campaign_id": campaign_id, **weigh(values, conditions)}


def _number(value: float | None) -> float:
    return math.nan if value is None else value
