"""What was judged of runs' flows: the rows of any table whose key begins with run and flow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import delete, insert, select

from downlink.storage.tables import Table
from downlink.storage.unit import Unit

Found = Mapping[type[Table], Sequence[Mapping[str, Any]]]
"""Table to new rows, each with its run_id."""
T = TypeVar("T", bound=Table)


def replace(unit: Unit, run_ids: Iterable[UUID], found: Found) -> None:
    """Set what these runs have in these tables."""
    ids = list(run_ids)
    for table, own in found.items():
        unit.session.execute(delete(table).where(table.__table__.c.run_id.in_(ids)))
        if own:
            unit.session.execute(insert(table), [dict(row) for row in own])


def rows(unit: Unit, table: type[T], run_ids: Iterable[UUID]) -> Sequence[T]:
    """In the order of the table's key: by run, by flow, and by what comes after them."""
    query = select(table).where(table.__table__.c.run_id.in_(list(run_ids)))
    return unit.session.scalars(query.order_by(*table.__table__.primary_key)).all()
