"""Raw data: chunks as they come, sealed traces."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from downlink.storage.tables.base import Table


class TraceFolder(Table):
    """A folder of the trace store, which one unit of work has written.

    due_at: when it may be removed, unless a chunk is in it by then. It is set before the first object is written.
    """

    __tablename__ = "trace_folders"
    id: Mapped[UUID] = mapped_column(primary_key=True)
    url: Mapped[str]
    due_at: Mapped[datetime | None]
    __table_args__ = (Index(None, "due_at", postgresql_where=text("due_at IS NOT NULL")),)


class Chunk(Table):
    """A trace's chunk: as it was uploaded until the trace is sealed (`packed`), then as Parquet, never changed again.

    The Parquet is in `parquet` or, where `folder_id` names one, in that folder of the trace store. It may hold the chunks
    behind as well, up to a part of the trace: they say in `joined_to` the sequence number of the first, whose row has it.
    parquet_bytes: its size, of a part in a folder; NULL for those from before it was noted.
    """

    __tablename__ = "chunks"
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    flow: Mapped[int] = mapped_column(primary_key=True)
    point: Mapped[str] = mapped_column(primary_key=True)
    sequence: Mapped[int] = mapped_column(primary_key=True)
    sha256: Mapped[bytes]
    samples: Mapped[int]
    packed: Mapped[bytes | None] = mapped_column(deferred=True)
    parquet: Mapped[bytes | None] = mapped_column(deferred=True)
    folder_id: Mapped[UUID | None] = mapped_column(ForeignKey("trace_folders.id"))
    joined_to: Mapped[int | None]
    parquet_bytes: Mapped[int | None]
    stored_at: Mapped[datetime]
    __table_args__ = (
        Index(None, "folder_id", postgresql_where=text("folder_id IS NOT NULL")),
        CheckConstraint("num_nonnulls(packed, parquet, folder_id, joined_to) = 1", "one_place"),
    )


class Trace(Table):
    """The result of sealing. missing: announced chunks that never came."""

    __tablename__ = "traces"
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    flow: Mapped[int] = mapped_column(primary_key=True)
    point: Mapped[str] = mapped_column(primary_key=True)
    samples: Mapped[int]
    chunks: Mapped[int]
    missing: Mapped[list[int]]
    sealed_at: Mapped[datetime]
