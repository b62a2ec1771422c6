"""Runs of one campaign end at once, by several workers, and none waits for another in a circle."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import text

from downlink.actions.campaigns.campaigns import pause_campaign, resume_campaign
from downlink.jobs.tasks import carry_out
from downlink.stack.process import wait_until
from downlink.storage.unit import UnitFactory
from tests.actions.test_faults import pair
from tests.actions.test_reruns import await_waiting_for_lock
from tests.fixtures.lab import Lab

RUNS = 114
MEASURED = """
    UPDATE runs SET state = 'uploading', released_at = now(), needs = 'analyse', needs_sent_at = now() RETURNING id
"""
DEADLOCKS = "SELECT deadlocks, xact_commit FROM pg_stat_database WHERE datname = current_database()"


def deadlocks(units: UnitFactory) -> int:
    """How many the server has counted, once it has counted all that is over."""
    seen: list[int] = []

    def is_settled() -> bool:
        with units() as unit:
            unit.session.execute(text("SELECT pg_stat_force_next_flush()"))
        with units() as unit:
            seen.append(unit.session.execute(text(DEADLOCKS)).one()[0])
        return len(seen) > 3 and seen[-1] == seen[-3]

    assert wait_until(is_settled, 10, step_s=0.5)
    return seen[-1]


@pytest.mark.verify("faults")  # who waits for a lock sleeps for a while
def test_two_workers_end_a_hundred_runs_of_one_campaign_without_a_deadlock(lab: Lab) -> None:
    pair(lab)
    campaign = lab.launch(timetable={"cycles": RUNS // 2, "order": "interleaved"})
    before = deadlocks(lab.units)
    with lab.units() as unit:
        measured: list[UUID] = list(unit.session.execute(text(MEASURED)).scalars())
    assert len(measured) == RUNS
    with ThreadPoolExecutor(2) as workers:
        list(workers.map(lambda run: carry_out(lab.units, "analyse", run, lab.now, lab.services), measured))
    assert {run["state"] for run in lab.runs(campaign)} == {"complete"}
    assert deadlocks(lab.units) == before
    with lab.units() as unit:
        wanted = unit.session.execute(text("SELECT report_wanted FROM campaigns")).scalar_one()
    firsts = wanted - RUNS // 2
    assert firsts in (1, 2), "each cycle's last run asks for a report, and a condition's first one; nobody else"


def test_a_second_resume_moves_runs_by_the_length_of_the_second_pause(lab: Lab) -> None:
    """Somebody resumes while another resumes and pauses again: the first pause is over then."""
    pair(lab)
    campaign = UUID(lab.launch())

    def due() -> datetime:
        return min(datetime.fromisoformat(run["due_at"]) for run in lab.runs(str(campaign)))

    planned, began = due(), lab.now()
    at = [began + timedelta(seconds=second) for second in (0, 100, 110, 140)]
    with lab.units() as unit:
        pause_campaign(unit, campaign, at[0])

    def resume_again() -> None:
        with lab.units() as unit:
            resume_campaign(unit, campaign, at[3])

    with ThreadPoolExecutor(1) as worker:
        with lab.units() as unit:
            resume_campaign(unit, campaign, at[1])
            unit.session.flush()
            again = worker.submit(resume_again)
            await_waiting_for_lock(lab)
            pause_campaign(unit, campaign, at[2])
        again.result()
    assert due() - planned == timedelta(seconds=100 + 30)
