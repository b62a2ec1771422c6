"""Tables with at most one row of a campaign: found, or made when it is first wanted."""

from __future__ import annotations

from typing import TypeVar
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from downlink.storage.tables import Retention, Trigger
from downlink.storage.unit import Unit

Row = TypeVar("Row", Retention, Trigger)


def find_own(unit: Unit, table: type[Row], campaign_id: UUID, *, is_locked: bool = False) -> Row | None:
    query = select(table).where(table.campaign_id == campaign_id)
    if is_locked:
        query = query.with_for_update().execution_options(populate_existing=True)
    return unit.session.scalar(query)


def take_own(unit: Unit, table: type[Row], campaign_id: UUID) -> Row:
    """The campaign's row, locked; made where there is none."""
    unit.session.execute(insert(table).values(campaign_id=campaign_id).on_conflict_do_nothing())
    row = find_own(unit, table, campaign_id, is_locked=True)
    assert row is not None  # noqa: S101 - it was made just now, and is held
    return row
