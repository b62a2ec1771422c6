"""A campaign's numbers recomputed from its sealed traces, by the analysis of this version. How a run ended stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from downlink.actions.campaigns.retention import refuse_without_traces
from downlink.actions.results.analysis import judge_run, store
from downlink.actions.results.reports import refresh_report
from downlink.actions.runs import progress as run_actions
from downlink.actions.runs.expectations import note_checks
from downlink.analysis import ANALYSIS_VERSION
from downlink.domain.errors import ConflictError
from downlink.judging import COLUMNS
from downlink.judging.traces import open_runs
from downlink.storage.advisory_lock import order_work
from downlink.storage.campaigns import campaign_store
from downlink.storage.notices.events import add_event
from downlink.storage.results import reanalysis_store
from downlink.storage.runs import run_details, run_store
from downlink.storage.tables import Run
from downlink.storage.unit import Unit

LANES = 4
"""Jobs of one campaign that are sent at a time: more would make the jobs of runs wait behind them."""
RUNS_A_JOB = 8
UNREPEATABLE = "its numbers cannot be computed again"


def order_reanalysis(unit: Unit, campaign_id: UUID, now: datetime) -> None:
    """Ask for it; several workers share the runs. ConflictError where no run has been analysed."""
    campaign_store.find_campaign(unit, campaign_id)
    if not reanalysis_store.counts(unit, campaign_id, ANALYSIS_VERSION).runs:
        raise ConflictError("nothing_analysed", "No run of this campaign has been analysed yet.")
    refuse_without_traces(unit, campaign_id, UNREPEATABLE)
    reanalysis_store.want(unit, campaign_id, LANES, now)
    order_work(unit)


def reanalyse(unit: Unit, run_id: UUID, now: datetime) -> None:
    """Judge some waiting runs again, this one first, and send the next job; after the last one the report. Safe to run twice.

    A run that failed before is judged alone, so that it holds up no other.
    """
    run = run_store.get_run(unit, run_id)
    taken = reanalysis_store.take(unit, run_id, run.campaign_id, RUNS_A_JOB if run.tries < 2 else 1)
    if taken:
        _judge(unit, taken, now)
        run_actions.reanalysed(unit, taken, now)


def analyse_again(unit: Unit, campaign_id: UUID, now: datetime) -> int:
    """All of it here and now, without a worker; how many runs that are."""
    campaign_store.find_campaign(unit, campaign_id)
    refuse_without_traces(unit, campaign_id, UNREPEATABLE)
    analysed = [row.run for row in run_details.all_runs(unit, campaign_id) if row.run.analysis_version is not None]
    for at in range(0, len(analysed), RUNS_A_JOB):
        _judge(unit, analysed[at : at + RUNS_A_JOB], now)
    campaign_store.want_report(unit, campaign_id)
    unit.session.expire_all()
    refresh_report(unit, campaign_id, now)
    return len(analysed)


def _judge(unit: Unit, runs: Sequence[Run], now: datetime) -> None:
    """Set their numbers, and tell the pages that show them; the campaign's pages hear of the report."""
    if runs:
        opened = open_runs(unit, runs[0].campaign_id, runs, COLUMNS)
        # One run's samples at a time: each takes tens of megabytes, and is let go when the next is opened.
        results = [judge_run(opened.pop(0)) for _ in runs]
        store(unit, results)
        for each in results:
            note_checks(unit, each.run, each.found, now)
    for run in runs:
        add_event(unit, now, "reanalysis", {}, run.campaign_id, run.id)
