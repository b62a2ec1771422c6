"""A whole campaign as plain values and back: the rows of every table it has, and its traces' chunks."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, DateTime, LargeBinary, Select, Uuid, insert, select, tuple_
from sqlalchemy.sql.elements import KeyedColumnElement

from downlink.domain.errors import InvalidError
from downlink.storage import tables
from downlink.storage.unit import Unit

Row = dict[str, Any]
Key = tuple[Any, ...]

# In the order of their foreign keys.
ARCHIVED: tuple[type[tables.Table], ...] = (
    tables.Campaign, tables.Run, tables.RunFlow, tables.RunHost, tables.Trace,
    tables.SeriesBin, tables.Metric, tables.SlowStart, tables.Exit, tables.FlowLimit, tables.LimitBin,
    tables.Event, tables.Report,
)  # fmt: skip
# Secrets, and numbers that the database gives.
LEFT_OUT = {("run_flows", "ticket"), ("events", "id"), ("events", "xact")}


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A sealed chunk and its place."""

    run_id: UUID
    flow: int
    end: str
    sequence: int
    samples: int
    sha256: bytes
    parquet: bytes
    stored_at: datetime

    @property
    def place(self) -> Key:
        return (self.run_id, self.flow, self.end, self.sequence)


def has_campaign(unit: Unit, campaign_id: UUID) -> bool:
    return unit.session.get(tables.Campaign, campaign_id) is not None


def read_page(
    unit: Unit, table: type[tables.Table], campaign_id: UUID, after: Key | None, limit: int
) -> tuple[list[Row], Key | None]:
    """Up to limit rows of a campaign as JSON-able values, those behind the key `after`; and the last one's key, None for none.

    Live progress is left out of the events.
    """
    runs = select(tables.Run.id).where(tables.Run.campaign_id == campaign_id)
    key = list(table.__table__.primary_key)
    columns = _columns(table)
    query = select(*key, *columns).where(_belongs(table, campaign_id, runs))
    if after is not None:
        query = query.where(tuple_(*key) > tuple_(*after))
    found = unit.session.execute(query.order_by(*key).limit(limit)).all()
    names = [column.name for column in columns]
    rows = [dict(zip(names, map(_to_json, row[len(key) :]), strict=True)) for row in found]
    return rows, tuple(found[-1][: len(key)]) if found else None


def _belongs(table: type[tables.Table], campaign_id: UUID, runs: Select[UUID]) -> ColumnElement[bool]:
    if table is tables.Campaign:
        return tables.Campaign.id == campaign_id
    if table is tables.Event:
        return tables.Event.run_id.in_(runs) & (tables.Event.kind != "progress")
    columns = table.__table__.columns
    return columns.campaign_id == campaign_id if "campaign_id" in columns else columns.run_id.in_(runs)


def insert_rows(unit: Unit, rows: Mapping[str, Sequence[Row]]) -> None:
    """Put rows of read_rows back. Raises InvalidError `archive_invalid` for tables or columns that this version does not have."""
    unknown = set(rows) - {table.__tablename__ for table in ARCHIVED}
    if unknown:
        raise _unfit(f"unknown tables {', '.join(sorted(unknown))}")
    for table in ARCHIVED:
        columns = {column.name: column for column in _columns(table)}
        values = [_from_json_row(table.__tablename__, columns, row) for row in rows.get(table.__tablename__, ())]
        if values:
            unit.session.execute(insert(table), values)


def read_chunks(unit: Unit, campaign_id: UUID, after: Key | None, limit: int) -> list[StoredChunk]:
    """Up to limit sealed chunks of the campaign, those behind the place `after`."""
    chunk = tables.Chunk
    place = (chunk.run_id, chunk.flow, chunk.end, chunk.sequence)
    columns = [getattr(chunk, name) for name in StoredChunk.__dataclass_fields__]
    query = select(*columns).join(tables.Run, tables.Run.id == chunk.run_id)
    query = query.where(tables.Run.campaign_id == campaign_id, chunk.parquet.is_not(None))
    if after is not None:
        query = query.where(tuple_(*place) > tuple_(*after))
    return [StoredChunk(**row._mapping) for row in unit.session.execute(query.order_by(*place).limit(limit))]


def insert_chunk(unit: Unit, chunk: StoredChunk) -> None:
    values = {name: getattr(chunk, name) for name in StoredChunk.__dataclass_fields__}
    unit.session.execute(insert(tables.Chunk).values(**values))


def _columns(table: type[tables.Table]) -> list[KeyedColumnElement[Any]]:
    return [column for column in table.__table__.columns if (table.__tablename__, column.name) not in LEFT_OUT]


def _to_json(value: Any) -> Any:
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value


def _from_json_row(table: str, columns: Mapping[str, KeyedColumnElement[Any]], row: Row) -> Row:
    unknown = set(row) - set(columns)
    if unknown:
        raise _unfit(f"table {table} has no columns {', '.join(sorted(unknown))}")
    try:
        return {name: _from_json(columns[name], value) for name, value in row.items()}
    except (TypeError, ValueError) as error:
        raise _unfit(f"a value of table {table} cannot be read ({error})") from error


def _from_json(column: KeyedColumnElement[Any], value: Any) -> Any:
    if value is None:
        return None
    if isinstance(column.type, Uuid):
        return UUID(value)
    if isinstance(column.type, DateTime):
        return datetime.fromisoformat(value)
    if isinstance(column.type, LargeBinary):
        return base64.b64decode(value, validate=True)
    return value


def _unfit(what: str) -> InvalidError:
    return InvalidError("archive_invalid", f"This archive does not fit this version of Downlink: {what}.")
