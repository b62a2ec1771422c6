"""Runs of all campaigns over the days: counted by the database, so that it costs what is shown and not what there is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, Integer, and_, cast, func, select

from downlink.domain.week import Stretch
from downlink.storage.days import CLOCK
from downlink.storage.runs import carried_bytes
from downlink.storage.tables import Campaign, Link, Run, RunFlow
from downlink.storage.unit import Unit


class Lane(NamedTuple):
    """A campaign on a link. runs: in the stretch."""

    link: str
    campaign_id: UUID
    runs: int


class Count(NamedTuple):
    """How many runs of a lane are in this state among those that lie in a cell, counted from 0."""

    link: str
    campaign_id: UUID
    cell: int
    state: str
    runs: int


def lanes_within(unit: Unit, stretch: Stretch, limit: int) -> tuple[list[Lane], int]:
    """The first of them by their first run, and how many there are."""
    lane = select(Run.link, Run.campaign_id, func.count().label("runs"), func.min(CLOCK).label("at"))
    lanes = lane.where(_within(stretch)).group_by(Run.link, Run.campaign_id).subquery()
    query = select(lanes.c.link, lanes.c.campaign_id, lanes.c.runs, func.count().over())
    rows = unit.session.execute(query.order_by(lanes.c.at, lanes.c.link, lanes.c.campaign_id).limit(limit)).all()
    return [Lane(*row[:3]) for row in rows], rows[0][3] if rows else 0


def counts_within(unit: Unit, stretch: Stretch, campaigns: Collection[UUID]) -> list[Count]:
    """Of these campaigns; none where a cell has no run."""
    seconds = func.extract("epoch", CLOCK - stretch.from_at)
    cell = cast(func.floor(seconds / stretch.cell_s), Integer).label("cell")
    query = select(Run.link, Run.campaign_id, cell, Run.state, func.count())
    query = query.where(_within(stretch), Run.campaign_id.in_(campaigns))
    grouped = query.group_by(Run.link, Run.campaign_id, cell, Run.state).order_by(cell, Run.state)
    return [Count(*row) for row in unit.session.execute(grouped)]


def carried_within(unit: Unit, stretch: Stretch) -> dict[tuple[str, UUID], int]:
    """Bytes of the runs in the stretch, by link and campaign, failed ones included."""
    query = select(Run.link, Run.campaign_id, carried_bytes()).join(RunFlow, RunFlow.run_id == Run.id)
    rows = unit.session.execute(query.where(_within(stretch)).group_by(Run.link, Run.campaign_id))
    return {(link, campaign_id): int(carried) for link, campaign_id, carried in rows}


def neighbours(unit: Unit, stretch: Stretch) -> tuple[datetime | None, datetime | None]:
    """When the last run before the stretch lies, and the first one after it."""
    before = unit.session.scalar(select(func.max(CLOCK)).where(stretch.from_at > CLOCK))
    return before, unit.session.scalar(select(func.min(CLOCK)).where(stretch.to_at <= CLOCK))


def campaigns_named(unit: Unit, ids: Collection[UUID]) -> dict[UUID, Campaign]:
    return {row.id: row for row in unit.session.scalars(select(Campaign).where(Campaign.id.in_(ids)))}


def first_links(unit: Unit, limit: int) -> Sequence[Link]:
    """By name."""
    return unit.session.scalars(select(Link).order_by(Link.name).limit(limit)).all()


def _within(stretch: Stretch) -> ColumnElement[bool]:
    return and_(stretch.from_at <= CLOCK, stretch.to_at > CLOCK)
