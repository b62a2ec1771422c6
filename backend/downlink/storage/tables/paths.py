"""Paths over satellites that were made on this server."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy.orm import Mapped, deferred, mapped_column

from downlink.storage.tables.base import Json, Table


class SatellitePath(Table):
    """ready: the ready-made path that it is. tries: how often its job was sent, which also says whose work counts. content: the file."""

    __tablename__ = "paths"
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    ready: Mapped[str]
    duration_us: Mapped[int]
    state: Mapped[str]
    reason: Mapped[str | None]
    done_us: Mapped[int] = mapped_column(default=0, server_default="0")
    tries: Mapped[int] = mapped_column(default=0, server_default="0")
    created_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    header: Mapped[Json | None]
    summary: Mapped[Json | None]
    size_bytes: Mapped[int | None]
    content: Mapped[bytes | None] = deferred(mapped_column())
