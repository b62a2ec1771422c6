"""A whole campaign as plain values and back: the rows of every table it has, and its traces' chunks."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, DateTime, LargeBinary, Select, Uuid, insert, select
from sqlalchemy.sql.elements import KeyedColumnElement

from downlink.domain.errors import InvalidError
from downlink.storage import tables
from downlink.storage.unit import Unit

Row = dict[str, Any]

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


def read_rows(unit: Unit, campaign_id: UUID) -> dict[str, list[Row]]:
    """Table name to rows of JSON-able values. Live progress is left out of the events."""
    runs = select(tables.Run.id).where(tables.Run.campaign_id == campaign_id)
    return {table.__tablename__: _read_table(unit, table, _belongs(table, campaign_id, runs)) for table in ARCHIVED}


def _belongs(table: type[tables.Table], campaign_id: UUID, runs: Select[UUID]) -> ColumnElement[bool]:
    if table is tables.Campaign:
        return tables.Campaign.id == campaign_id
    if table is tables.Event:
        return tables.Event.run_id.in_(runs) & (tables.Event.kind != "progress")
    columns = table.__table__.columns
    return columns.campaign_id == campaign_id if "campaign_id" in columns else columns.run_id.in_(runs)


def _read_table(unit: Unit, table: type[tables.Table], where: ColumnElement[bool]) -> list[Row]:
    columns = _columns(table)
    found = unit.session.execute(select(*columns).where(where).order_by(*table.__table__.primary_key)).all()
    return [{column.name: _to_json(value) for column, value in zip(columns, row, strict=True)} for row in found]


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


def read_chunks(unit: Unit, campaign_id: UUID) -> Iterator[StoredChunk]:
    """Every sealed chunk of the campaign, one in memory at a time."""
    chunk = tables.Chunk
    query = (
        select(
            chunk.run_id,
            chunk.flow,
            chunk.end,
            chunk.sequence,
            chunk.samples,
            chunk.sha256,
            chunk.parquet,
            chunk.stored_at,
        )
        .join(tables.Run, tables.Run.id == chunk.run_id)
        .where(tables.Run.campaign_id == campaign_id, chunk.parquet.is_not(None))
        .order_by(chunk.run_id, chunk.flow, chunk.end, chunk.sequence)
    )
    for row in unit.session.execute(query.execution_options(yield_per=16)):
        yield StoredChunk(**row._mapping)


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
