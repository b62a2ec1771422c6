"""The periodic jobs are one list: the tick takes its steps at their intervals, and workers have an action for each job."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import func, select

from downlink.actions.periodic import periodic_steps
from downlink.jobs.tasks import ACTIONS, CALLS
from downlink.storage.notices.events import add_event
from downlink.storage.tables import Event
from downlink.storage.unit import UnitFactory

NOW = datetime(2026, 3, 1, 12, 0, 59, tzinfo=UTC)
STEPS = {step.name: step for step in periodic_steps(None)}
WITHOUT_JOB = {"apply_retention", "collect", "watch_agents", "prune"}


def test_a_step_is_taken_once_a_minute_though_no_tick_falls_on_second_0(units: UnitFactory) -> None:
    for now in (NOW, NOW + timedelta(seconds=2)):
        with units() as unit:
            add_event(unit, now - timedelta(hours=2), "progress", {})
            unit.session.flush()
            STEPS["prune"].take(unit, now)
    with units() as unit:
        assert unit.session.scalar(select(func.count()).select_from(Event)) == 1, "the second time is too soon"
        STEPS["prune"].take(unit, NOW + timedelta(seconds=60))
        assert unit.session.scalar(select(func.count()).select_from(Event)) == 0


def test_workers_have_an_action_for_each_job_that_a_step_sends() -> None:
    assert set(STEPS) - WITHOUT_JOB == set(STEPS) & {*ACTIONS, *CALLS}
    assert len(STEPS) == len(periodic_steps(None)), "a mark in the database belongs to one step"
