"""The storage of a sealed trace's parts as Parquet: in the row of the first chunk, or in a folder of the trace store that this row
names.

A folder is on record before anything is written to it, as due for removal; the commit of rows that name it takes that back.
So no object is forgotten, however a unit of work ends. The foreign key keeps a folder that a row names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import delete, exists, func, or_, select, update
from sqlalchemy.orm import Session

from downlink.storage.tables import Chunk, TraceFolder
from downlink.storage.traces.objects import Folder, Kept
from downlink.storage.unit import Unit

PartKey = tuple[UUID, int, str, int]
"""A part by run, flow, point and the sequence of its first chunk."""
PATIENCE = timedelta(hours=1)
"""A wait longer than any unit of work, and than any job may take."""
HAS_PARQUET = Chunk.parquet.is_not(None) | Chunk.folder_id.is_not(None)
"""Condition of a row that is that of a part's first chunk."""
_IS_NAMED = exists().where(Chunk.folder_id == TraceFolder.id)


def location(parquet: bytes | None, folder_url: str | None, part: Sequence[Any]) -> Kept:
    """Return where a part's Parquet is, by the row of its first chunk."""
    if parquet is not None:
        return parquet
    if folder_url is None:
        raise LookupError(f"The row of chunk {_name(part)} says nowhere that it has Parquet.")
    return f"{folder_url}/{_name(part)}"


def keep(unit: Unit, part: PartKey, parquet: bytes) -> Mapping[str, Any]:
    """Keep it where this server keeps new traces; what is to be in the row. UnavailableError when the store is away."""
    if unit.store.root is None:
        return {"parquet": parquet, "folder_id": None, "parquet_bytes": len(parquet)}
    unit.folder = unit.folder or _open_folder(unit)
    unit.folder.put(_name(part), parquet)
    return {"parquet": None, "folder_id": unit.folder.id, "parquet_bytes": len(parquet)}


def _name(part: Sequence[Any]) -> str:
    run_id, flow, point, sequence = part
    return f"{run_id}/{flow}-{point}-{sequence}.parquet"


def _open_folder(unit: Unit) -> Folder:
    """Record a folder at once, whatever becomes of the unit; it is no longer due for removal when the unit is committed."""
    folder = unit.store.open_folder(uuid4())
    with Session(unit.session.get_bind()) as own:
        own.add(TraceFolder(id=folder.id, url=folder.url, due_at=func.now() + PATIENCE))
        own.commit()
    unit.session.execute(update(TraceFolder).where(TraceFolder.id == folder.id).values(due_at=None))
    return folder


def next_due(unit: Unit) -> UUID | None:
    """The folder that has been due for longest."""
    due = select(TraceFolder.id).where(TraceFolder.due_at <= func.now())
    return unit.session.scalar(due.order_by(TraceFolder.due_at).limit(1))


def take_due(unit: Unit, folder_id: UUID) -> str | None:
    """Take a folder off the record, whose URL this is; None when it is not due, is somebody else's, or has chunks in it."""
    own = select(TraceFolder.id).where(TraceFolder.id == folder_id, TraceFolder.due_at <= func.now())
    if unit.session.scalar(own.with_for_update(skip_locked=True)) is None:
        return None
    gone = delete(TraceFolder).where(TraceFolder.id == folder_id, ~_IS_NAMED).returning(TraceFolder.url)
    url = unit.session.scalar(gone)
    if url is None:
        later = update(TraceFolder).where(TraceFolder.id == folder_id)
        unit.session.execute(later.values(due_at=func.now() + PATIENCE))
    return url


def runs_elsewhere(unit: Unit) -> list[UUID]:
    """Runs with parts that are not where this server keeps new traces."""
    return list(unit.session.scalars(_elsewhere(unit, select(Chunk.run_id).distinct())))


def move_parts(unit: Unit, run_id: UUID) -> int:
    """Bring the parts of a locked run's sealed traces to where this server keeps new ones; how many they were."""
    columns = (Chunk.flow, Chunk.point, Chunk.sequence)
    rows = unit.session.execute(_elsewhere(unit, select(*columns)).where(Chunk.run_id == run_id)).all()
    for flow, point, sequence in rows:
        own = (Chunk.run_id == run_id, Chunk.flow == flow, Chunk.point == point, Chunk.sequence == sequence)
        where = select(Chunk.parquet, TraceFolder.url).outerjoin(TraceFolder).where(*own)
        parquet, url = unit.session.execute(where).one()
        content = next(unit.store.contents([location(parquet, url, (run_id, flow, point, sequence))]))
        kept = keep(unit, (run_id, flow, point, sequence), content)
        unit.session.execute(update(Chunk).where(*own).values(**kept))
    return len(rows)


def _elsewhere(unit: Unit, query: Any) -> Any:
    parts = query.outerjoin(TraceFolder).where(HAS_PARQUET)
    if unit.store.root is None:
        return parts.where(Chunk.folder_id.is_not(None))
    return parts.where(
        or_(Chunk.folder_id.is_(None), ~TraceFolder.url.startswith(f"{unit.store.root}/", autoescape=True))
    )
