"""A campaign's numbers computed anew from its sealed traces, by the analysis of this version."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from downlink.actions.analyse import judge, store
from downlink.actions.reports import refresh_report
from downlink.judges import COLUMNS
from downlink.storage import campaigns
from downlink.storage import runs as run_rows
from downlink.storage.unit import Unit
from downlink.traces import open_run


def analyse_again(unit: Unit, campaign_id: UUID, now: datetime) -> int:
    """Series, metrics, exits, limits and the report of every run that has been analysed; how many those are.

    How a run ended stays as it is.
    """
    campaigns.find_campaign(unit, campaign_id)
    analysed = [row.run for row in run_rows.all_runs(unit, campaign_id) if row.run.analysis_version is not None]
    for run in analysed:
        opened = open_run(unit, run, COLUMNS)
        store(unit, [(opened, judge(opened))])
    campaigns.want_report(unit, campaign_id)
    unit.session.expire_all()
    refresh_report(unit, campaign_id, now)
    return len(analysed)
