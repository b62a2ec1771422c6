"""The rest of a cancelled campaign: some runs at a time, so that nobody waits for twenty thousand."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from downlink.actions.runs import progress
from downlink.domain.runs.run import RunState
from downlink.storage.runs import plan_store, run_store
from downlink.storage.unit import Unit

CANCELLED_AT_ONCE = 1_000
"""Planned runs that one transaction ends."""


def stop_unfinished(unit: Unit, campaign_id: UUID, now: datetime) -> None:
    """End the next planned runs and stop those under way; what is being stopped goes on. The campaign is cancelled."""
    unfinished = plan_store.lock_unfinished(unit, campaign_id, CANCELLED_AT_ONCE)
    planned = [run_id for run_id, state in unfinished.items() if state is RunState.PLANNED]
    progress.end_planned(unit, campaign_id, dict.fromkeys(planned, progress.CANCELLED), now)
    for run_id in unfinished.keys() - planned:
        run = run_store.get_run(unit, run_id, is_locked=True)
        if run.verdict is None:
            progress.stop(unit, run, now)


def finish_cancelled(unit: Unit, now: datetime) -> None:
    """The tick's part: the next runs of one cancelled campaign. A run that began while its campaign was cancelled is found here, too."""
    for campaign_id in plan_store.left_of_cancelled(unit)[:1]:
        stop_unfinished(unit, campaign_id, now)
