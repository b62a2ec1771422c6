"""Events, in an order that readers can resume from."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Identity, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from downlink.storage.tables.base import Json, Table, Xid8


class Event(Table):
    """An event, for live pages and run records. xact: its position in the log, which a trigger assigns at the commit."""

    __tablename__ = "events"
    id: Mapped[int] = mapped_column(Identity(), primary_key=True)
    xact: Mapped[str] = mapped_column(Xid8, server_default=text("pg_current_xact_id()"))
    at: Mapped[datetime]
    kind: Mapped[str]
    campaign_id: Mapped[UUID | None] = mapped_column(ForeignKey("campaigns.id", ondelete="CASCADE"))
    run_id: Mapped[UUID | None] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    data: Mapped[Json]
    __table_args__ = (
        Index("ix_events_order", "xact", "id"),
        Index("ix_events_run_id", "run_id", "id"),
        Index("ix_events_pruned", "kind", "at", postgresql_where=text("kind NOT IN ('run', 'campaign', 'report')")),
    )
