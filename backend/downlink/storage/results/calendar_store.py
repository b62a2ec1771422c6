"""Runs of all campaigns over the days: counted by the database, so that it costs what is shown and not what there is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, Row, and_, func, select

from downlink.domain.week import Stretch
from downlink.storage.results.day_store import CLOCK
from downlink.storage.runs.volumes import carried_bytes
from downlink.storage.tables import Campaign, Link, Run, RunFlow
from downlink.storage.unit import Unit


class Lane(NamedTuple):
    """A campaign on a link. runs: in the stretch. cells: runs by state, by where the cell begins."""

    link: str
    campaign_id: UUID
    runs: int
    cells: dict[datetime, dict[str, int]]


def lanes_within(unit: Unit, stretch: Stretch, limit: int) -> tuple[list[Lane], int]:
    """The first of them by their first run, and how many there are. The runs are gone through once."""
    cell = func.date_bin(timedelta(seconds=stretch.cell_s), CLOCK, stretch.from_at).label("cell")
    runs, first = func.count().label("runs"), func.min(CLOCK).label("first")
    counted = select(Run.link, Run.campaign_id, cell, Run.state, runs, first).where(_within(stretch))
    counts = counted.group_by(Run.link, Run.campaign_id, cell, Run.state).cte("counts")
    lane = (counts.c.link, counts.c.campaign_id)
    rank = func.row_number().over(order_by=(func.min(counts.c.first), *lane)).label("place")
    placed = select(*lane, rank, func.count().over().label("total")).group_by(*lane).order_by(rank).limit(limit)
    lanes = placed.subquery()
    query = select(lanes.c.total, *lane, counts.c.cell, counts.c.state, counts.c.runs)
    is_of_lane = and_(lanes.c.link == counts.c.link, lanes.c.campaign_id == counts.c.campaign_id)
    query = query.join(lanes, is_of_lane).order_by(lanes.c.place, counts.c.cell, counts.c.state)
    return _lanes(unit.session.execute(query).all())


def _lanes(rows: Sequence[Row[*tuple[Any, ...]]]) -> tuple[list[Lane], int]:
    """Rows in the order of lanes, cells and states."""
    counted: dict[tuple[str, UUID], dict[datetime, dict[str, int]]] = {}
    for _, link, campaign_id, cell, state, runs in rows:
        counted.setdefault((link, campaign_id), {}).setdefault(cell, {})[state] = runs
    lanes = [Lane(*lane, sum(sum(each.values()) for each in cells.values()), cells) for lane, cells in counted.items()]
    return lanes, rows[0].total if rows else 0


def carried_within(unit: Unit, stretch: Stretch) -> dict[tuple[str, UUID], int]:
    """Bytes of the runs in the stretch, by link and campaign, failed ones included."""
    query = select(Run.link, Run.campaign_id, carried_bytes()).join(RunFlow, RunFlow.run_id == Run.id)
    rows = unit.session.execute(query.where(_within(stretch)).group_by(Run.link, Run.campaign_id))
    return {(link, campaign_id): int(carried) for link, campaign_id, carried in rows}


def neighbours(unit: Unit, stretch: Stretch) -> tuple[datetime | None, datetime | None]:
    """Return the moments of the last run before the stretch and the first one after it."""
    before = unit.session.scalar(select(func.max(CLOCK)).where(stretch.from_at > CLOCK))
    return before, unit.session.scalar(select(func.min(CLOCK)).where(stretch.to_at <= CLOCK))


def campaigns_named(unit: Unit, ids: Collection[UUID]) -> dict[UUID, Campaign]:
    return {row.id: row for row in unit.session.scalars(select(Campaign).where(Campaign.id.in_(ids)))}


def first_links(unit: Unit, limit: int) -> Sequence[Link]:
    """Return links by name."""
    return unit.session.scalars(select(Link).order_by(Link.name).limit(limit)).all()


def _within(stretch: Stretch) -> ColumnElement[bool]:
    return and_(stretch.from_at <= CLOCK, stretch.to_at > CLOCK)
