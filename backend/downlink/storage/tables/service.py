"""The server's notes about itself."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from downlink.storage.tables.base import Table


class Heartbeat(Table):
    """A kind of process that marks its life (domain/watch.py). at: the newest mark. since: the first without a break."""

    __tablename__ = "heartbeats"
    name: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    since: Mapped[datetime]
