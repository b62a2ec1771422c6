"""Paths over satellites, and their files."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import delete, func, select, update

from downlink.domain.errors import ConflictError, NotFoundError
from downlink.storage.tables import SatellitePath
from downlink.storage.unit import Unit

LOCK = "paths"


def count_paths(unit: Unit) -> int:
    return unit.session.scalar(select(func.count()).select_from(SatellitePath)) or 0


def list_paths(unit: Unit, limit: int, offset: int) -> tuple[Sequence[SatellitePath], int]:
    """Newest first."""
    query = select(SatellitePath).order_by(SatellitePath.created_at.desc(), SatellitePath.id)
    return unit.session.scalars(query.limit(limit).offset(offset)).all(), count_paths(unit)


def get_path(unit: Unit, path_id: UUID, *, is_locked: bool = False) -> SatellitePath:
    """NotFoundError when there is none. A locked one is read again."""
    query = select(SatellitePath).where(SatellitePath.id == path_id)
    if is_locked:
        query = query.with_for_update().execution_options(populate_existing=True)
    path = unit.session.scalar(query)
    if path is None:
        raise NotFoundError("path_not_found", f"There is no path {path_id}.")
    return path


def content_of(unit: Unit, path_id: UUID) -> bytes:
    """The file. ConflictError where the path is not ready."""
    path = get_path(unit, path_id)
    if path.content is None:
        raise ConflictError("path_not_ready", f"This path is {path.state}: it has no file yet.")
    return path.content


def unfinished(unit: Unit) -> Sequence[SatellitePath]:
    """Oldest first, locked; one that is just being worked on is left out."""
    query = select(SatellitePath).where(SatellitePath.state.in_(("queued", "making")))
    query = query.order_by(SatellitePath.created_at, SatellitePath.id)
    return unit.session.scalars(query.with_for_update(skip_locked=True)).all()


def note_progress(unit: Unit, path_id: UUID, tries: int, done_us: int) -> bool:
    """False where the path was deleted, or where a later try has taken over."""
    ours = (SatellitePath.id == path_id, SatellitePath.tries == tries, SatellitePath.state == "making")
    noted = update(SatellitePath).where(*ours).values(done_us=done_us).returning(SatellitePath.id)
    return unit.session.scalar(noted) is not None


def delete_path(unit: Unit, path_id: UUID) -> None:
    get_path(unit, path_id, is_locked=True)
    unit.session.execute(delete(SatellitePath).where(SatellitePath.id == path_id))
