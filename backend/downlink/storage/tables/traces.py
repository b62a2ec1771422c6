"""Raw data: chunks as they come, sealed traces."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from downlink.storage.tables.base import Table


class Chunk(Table):
    """A trace's chunk: as it was uploaded until the trace is sealed (`packed`), then as Parquet, never changed again."""

    __tablename__ = "chunks"
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    flow: Mapped[int] = mapped_column(primary_key=True)
    end: Mapped[str] = mapped_column(primary_key=True)
    sequence: Mapped[int] = mapped_column(primary_key=True)
    sha256: Mapped[bytes]
    samples: Mapped[int]
    packed: Mapped[bytes | None] = mapped_column(deferred=True)
    parquet: Mapped[bytes | None] = mapped_column(deferred=True)
    stored_at: Mapped[datetime]


class Trace(Table):
    """What sealing found. missing: announced chunks that never came."""

    __tablename__ = "traces"
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    flow: Mapped[int] = mapped_column(primary_key=True)
    end: Mapped[str] = mapped_column(primary_key=True)
    samples: Mapped[int]
    chunks: Mapped[int]
    missing: Mapped[list[int]]
    sealed_at: Mapped[datetime]
