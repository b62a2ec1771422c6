"""Judgements of runs and their flows: the rows of any table whose key begins with the run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast
from uuid import UUID

from sqlalchemy import delete, insert, select

from downlink.storage.tables import Table
from downlink.storage.unit import Unit

Found = Mapping[type[Table], Sequence[Mapping[str, Any]]]
"""Table to new rows, each with its run_id."""
T = TypeVar("T", bound=Table)


def replace(unit: Unit, run_ids: Iterable[UUID], judged: Found) -> None:
    """Set what these runs have in these tables."""
    ids = list(run_ids)
    for table, own in judged.items():
        unit.session.execute(delete(table).where(table.__table__.c.run_id.in_(ids)))
        if own:
            unit.session.execute(insert(table), [dict(row) for row in own])


def rows(unit: Unit, table: type[T], run_ids: Iterable[UUID], without: Collection[str] = ()) -> Sequence[T]:
    """Return rows in the order of the table's key: by run, by flow, and by what comes after them.

    To read only: plain rows, which a campaign has tens of thousands of. They have the table's columns but those named in `without`.
    """
    own = table.__table__
    query = select(*(column for column in own.c if column.name not in without)).where(own.c.run_id.in_(list(run_ids)))
    return cast("Sequence[T]", unit.session.execute(query.order_by(*own.primary_key)).all())
