"""Campaigns."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from downlink.storage.tables.base import Json, Table


class Campaign(Table):
    """spec is the parsed campaign file. The report is wanted in version report_wanted and stored in reports.version.

    origin: measured (here), recorded (elsewhere, loaded from an archive), or imported (from files of other tools).
    quick_link: the link whose quick tests it keeps, None for a campaign with a file of its own. owner_id: who made it.
    """

    __tablename__ = "campaigns"
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    name: Mapped[str]
    notes: Mapped[str]
    tags: Mapped[list[str]] = mapped_column(default=list, server_default="{}")
    state: Mapped[str]
    origin: Mapped[str] = mapped_column(default="measured", server_default="measured")
    source: Mapped[str]
    spec: Mapped[Json]
    estimate: Mapped[Json]
    created_at: Mapped[datetime]
    launched_at: Mapped[datetime | None]
    paused_at: Mapped[datetime | None]
    resumed_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    report_wanted: Mapped[int] = mapped_column(default=0)
    report_sent_at: Mapped[datetime | None]
    quick_link: Mapped[str | None]
    splits_by_address: Mapped[bool] = mapped_column(default=False, server_default="false")
    owner_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    __table_args__ = (
        Index("ix_campaigns_created_at", "created_at"),
        Index("ix_campaigns_quick_link", "quick_link", postgresql_where=text("quick_link IS NOT NULL")),
    )

    @property
    def is_recorded(self) -> bool:
        return self.origin == "recorded"
