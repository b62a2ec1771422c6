"""Current activity of a campaign: a few rows, however many runs it has."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import distinct_on

from downlink.domain.runs.run import ACTIVE, RunState
from downlink.storage.runs.run_details import RunRow, run_rows
from downlink.storage.runs.volumes import carried_bytes
from downlink.storage.tables import Run, RunFlow
from downlink.storage.unit import Unit

MOST_SHOWN = 100
"""Runs under way at once: one a link, and those that are still uploading."""


class LinkPlan(NamedTuple):
    """The planned runs on a link: when the last one should have ended, how long they take together, and how many they are."""

    last_end_at: datetime
    left_s: float
    runs: int


def active_runs(unit: Unit, campaign_id: UUID) -> list[RunRow]:
    """Return the runs under way, in the order of the plan."""
    ids = select(Run.id).where(Run.campaign_id == campaign_id, Run.state.in_(sorted(ACTIVE)), Run.ended_at.is_(None))
    return run_rows(unit, unit.session.scalars(ids.limit(MOST_SHOWN)).all())


def next_runs(unit: Unit, campaign_id: UUID) -> list[RunRow]:
    """The first planned run on each link."""
    planned = select(Run.id).where(Run.campaign_id == campaign_id, Run.state == RunState.PLANNED)
    order = (Run.link, Run.due_at, Run.cycle, Run.position, Run.attempt)
    return run_rows(unit, unit.session.scalars(planned.ext(distinct_on(Run.link)).order_by(*order)).all())


def plans_left(unit: Unit, campaign_id: UUID) -> dict[str, LinkPlan]:
    """Return the remaining plan of each link that has planned runs."""
    end = func.max(Run.due_at + func.make_interval(0, 0, 0, 0, 0, 0, Run.expected_s))
    query = select(Run.link, end, func.sum(Run.expected_s), func.count()).group_by(Run.link)
    query = query.where(Run.campaign_id == campaign_id, Run.state == RunState.PLANNED)
    return {link: LinkPlan(last, left, runs) for link, last, left, runs in unit.session.execute(query)}


def carried_by_run(unit: Unit, run_ids: Sequence[UUID]) -> dict[UUID, int]:
    """Return the bytes that the flows of these runs have carried, as far as their ends have reported them."""
    query = select(RunFlow.run_id, carried_bytes()).where(RunFlow.run_id.in_(run_ids)).group_by(RunFlow.run_id)
    return {run_id: int(carried) for run_id, carried in unit.session.execute(query)}
