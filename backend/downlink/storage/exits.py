"""When slow start ended, and when each detector would have ended it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import delete, insert, select

from downlink.storage.tables import Exit, SlowStart
from downlink.storage.unit import Unit

Rows = Sequence[Mapping[str, Any]]


def replace_exits(unit: Unit, run_id: UUID, slow_starts: Rows, exits: Rows) -> None:
    """Set what was judged of a run's flows; rows without their run_id."""
    for table, rows in ((SlowStart, slow_starts), (Exit, exits)):
        unit.session.execute(delete(table).where(table.run_id == run_id))
        if rows:
            unit.session.execute(insert(table), [{"run_id": run_id, **row} for row in rows])


def slow_start_rows(unit: Unit, run_ids: Iterable[UUID]) -> Sequence[SlowStart]:
    query = select(SlowStart).where(SlowStart.run_id.in_(list(run_ids)))
    return unit.session.scalars(query.order_by(SlowStart.run_id, SlowStart.flow)).all()


def exit_rows(unit: Unit, run_ids: Iterable[UUID]) -> Sequence[Exit]:
    """In the panel's order within each flow."""
    query = select(Exit).where(Exit.run_id.in_(list(run_ids)))
    return unit.session.scalars(query.order_by(Exit.run_id, Exit.flow, Exit.place)).all()
