"""A whole campaign as plain values and back: the rows of every table it has, and its traces' chunks."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, DateTime, LargeBinary, Select, Uuid, func, insert, select, tuple_, type_coerce
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.exc import CompileError, DataError, IntegrityError, ProgrammingError, StatementError
from sqlalchemy.sql.elements import KeyedColumnElement

from downlink.domain.errors import InvalidError
from downlink.domain.moment import in_utc
from downlink.domain.notices.event import FLEETING
from downlink.storage import tables
from downlink.storage.campaigns.annotation_store import concerning
from downlink.storage.tables.outcomes import OUTCOMES
from downlink.storage.traces import part_store
from downlink.storage.traces.objects import Kept
from downlink.storage.unit import IN_BINARY, Unit

Row = dict[str, Any]
Key = tuple[Any, ...]

# Member to table, in the order of their foreign keys.
ARCHIVED: Mapping[str, type[tables.Table]] = {
    **{
        table.__tablename__: table
        for table in (tables.Campaign, tables.Run, tables.RunFlow, tables.RunHost, tables.Trace)
    },
    "series": tables.StoredSeries,
    **{table.__tablename__: table for table in (tables.Metric, tables.SlowStart, tables.Exit, tables.FlowLimit)},
    "limit_bins": tables.FlowLimit,
    "link": tables.LinkPhase,
    "flow_losses": tables.FlowLoss,
    "flow_proxies": tables.FlowProxy,
    "flow_delays": tables.FlowDelay,
    **{table.__tablename__: table for table in (tables.Event, tables.Report, tables.Annotation)},
}
# A row for each second in an archive, arrays in the database; the bytes are given and taken as they are.
SECONDS = {"series": ("run_id", "flow", "quantities", "packed"), "limit_bins": ("run_id", "flow", "seconds")}
# Secrets, the tick's own notes, numbers that the database gives or computes, accounts of this server, and what has a member of its own.
LEFT_OUT = {
    ("campaigns", "owner_id"),
    ("run_flows", "carried_bytes"),
    ("run_flows", "most_bytes"),
    ("run_flows", "ticket"),
    ("runs", "wake_at"),
    ("runs", "hop_secret"),
    ("runs", "lease"),
    ("events", "id"),
    ("events", "xact"),
    ("limits", "seconds"),
}

AGAIN = "Export it again on the server that has the campaign: `downlink campaigns export C --archive FILE`."


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A sealed chunk and its place. joined_to: of the chunk whose Parquet has this one too; None where it is its own."""

    run_id: UUID
    flow: int
    point: str
    sequence: int
    samples: int
    sha256: bytes
    stored_at: datetime
    joined_to: int | None = None

    @property
    def place(self) -> part_store.PartKey:
        return (self.run_id, self.flow, self.point, self.sequence)


def has_campaign(unit: Unit, campaign_id: UUID) -> bool:
    return unit.session.get(tables.Campaign, campaign_id) is not None


def read_page(
    unit: Unit, member: str, campaign_id: UUID, after: Key | None, limit: int
) -> tuple[list[Row], Key | None]:
    """Up to limit rows of a campaign as JSON-able values, those behind the key `after`; and the last one's key, None for none.

    Live progress is left out of the events. Bytes of `SECONDS` are not JSON yet.
    """
    table = ARCHIVED[member]
    runs = select(tables.Run.id).where(tables.Run.campaign_id == campaign_id)
    key = list(table.__table__.primary_key)
    columns = _columns(member)
    convert = _to_plain if member in SECONDS else _to_json
    query = select(*key, *columns).where(_belongs(unit, table, campaign_id, runs))
    if after is not None:
        query = query.where(tuple_(*key) > tuple_(*after))
    page = unit.session.execute(query.order_by(*key).limit(limit)).all()
    names = [column.name for column in columns]
    rows = [dict(zip(names, map(convert, row[len(key) :]), strict=True)) for row in page]
    return rows, tuple(page[-1][: len(key)]) if page else None


def _belongs(unit: Unit, table: type[tables.Table], campaign_id: UUID, runs: Select[UUID]) -> ColumnElement[bool]:
    if table is tables.Campaign:
        return tables.Campaign.id == campaign_id
    if table is tables.Annotation:
        return concerning(campaign_id, *_place(unit, campaign_id))
    if table is tables.Event:
        return tables.Event.run_id.in_(runs) & tables.Event.kind.not_in(FLEETING)
    columns = table.__table__.columns
    return columns.campaign_id == campaign_id if "campaign_id" in columns else columns.run_id.in_(runs)


def _place(unit: Unit, campaign_id: UUID) -> tuple[list[str], datetime | None, datetime | None]:
    """The links that a campaign's runs went over, and from when to when."""
    run = tables.Run
    query = select(
        func.array_agg(run.link.distinct()), func.min(func.coalesce(run.start_at, run.due_at)), func.max(run.ended_at)
    )
    names, first, last = unit.session.execute(query.where(run.campaign_id == campaign_id)).one()
    return list(names or ()), first, last


@contextmanager
def refusing_unfit() -> Iterator[None]:
    """InvalidError `archive_invalid` for values that the database does not take: a column without one, of another type, twice."""
    try:
        yield
    except (CompileError, DataError, IntegrityError, ProgrammingError) as error:
        raise _unfit(str(getattr(error, "orig", None) or error).partition("\n")[0]) from error
    except StatementError as error:
        if type(error) is not StatementError:  # the database's own: it may be away
            raise
        raise _unfit(str(error.orig).partition("\n")[0]) from error


def insert_rows(unit: Unit, rows: Mapping[str, Sequence[Row]]) -> None:
    """Put rows of read_page back, seconds as arrays.

    Raises InvalidError `archive_invalid` for tables or columns that this version does not have.
    """
    if unknown := set(rows) - set(ARCHIVED):
        raise _unfit(f"unknown tables {', '.join(sorted(unknown))}")
    for member, table in ARCHIVED.items():
        columns = {column.name: column for column in table.__table__.columns if (member, column.name) not in LEFT_OUT}
        if member in ("series", "limits"):
            columns = dict(table.__table__.columns.items())
        values = [_from_json_row(member, columns, row) for row in rows.get(member, ())]
        if values:
            unit.session.execute(insert(table), values)


def read_chunks(unit: Unit, campaign_id: UUID, after: Key | None, limit: int) -> list[tuple[StoredChunk, Kept | None]]:
    """Up to limit sealed chunks of the campaign, those behind the place `after`, and where their Parquet is: joined ones have none."""
    chunk = tables.Chunk
    key = (chunk.run_id, chunk.flow, chunk.point, chunk.sequence)
    columns = [getattr(chunk, name) for name in StoredChunk.__dataclass_fields__]
    query = select(*columns, chunk.parquet, tables.TraceFolder.url).outerjoin(tables.TraceFolder)
    query = query.join(tables.Run, tables.Run.id == chunk.run_id)
    query = query.where(tables.Run.campaign_id == campaign_id, chunk.packed.is_(None))
    if after is not None:
        query = query.where(tuple_(*key) > tuple_(*after))
    chunks = unit.session.execute(query.order_by(*key).limit(limit), execution_options=IN_BINARY)
    return [
        (chunk, part_store.location(parquet, url, chunk.place) if chunk.joined_to is None else None)
        for chunk, parquet, url in ((StoredChunk(*own), parquet, url) for *own, parquet, url in chunks)
    ]


def insert_chunk(unit: Unit, chunk: StoredChunk, parquet: bytes | None) -> None:
    """parquet: None for a joined one."""
    values = {name: getattr(chunk, name) for name in StoredChunk.__dataclass_fields__}
    own = {} if parquet is None else part_store.keep(unit, chunk.place, parquet)
    unit.session.execute(insert(tables.Chunk).values(**values, **own))


def _columns(member: str) -> list[KeyedColumnElement[Any]]:
    """Outcomes as the JSON that they are."""
    columns = ARCHIVED[member].__table__.columns
    if member in SECONDS:
        return [columns[name] for name in SECONDS[member]]
    return [
        type_coerce(column, JSONB).label(column.name) if isinstance(column.type, OUTCOMES) else column
        for column in columns
        if (member, column.name) not in LEFT_OUT
    ]


def _to_json(value: Any) -> Any:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else _to_plain(value)


def _to_plain(value: Any) -> Any:
    if isinstance(value, UUID):
        return str(value)
    return value.isoformat() if isinstance(value, datetime) else value


RENAMED = {("traces", "end"): "point"}
"""Columns of archives from before, and what they are called now."""


def _from_json_row(table: str, columns: Mapping[str, KeyedColumnElement[Any]], row: Row) -> Row:
    row = {RENAMED.get((table, name), name): value for name, value in row.items()}
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
        return in_utc(datetime.fromisoformat(value))
    if isinstance(column.type, OUTCOMES):
        return column.type.read(value)
    if isinstance(column.type, LargeBinary) and isinstance(value, str):
        return base64.b64decode(value, validate=True)
    return value


def _unfit(what: str) -> InvalidError:
    return InvalidError("archive_invalid", f"This archive does not fit this version of Downlink: {what}. {AGAIN}")
