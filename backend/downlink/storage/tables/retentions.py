"""The retention of each campaign's data, and the removals under way."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from downlink.storage.tables.base import Table


class Retention(Table):
    """A campaign without a row keeps everything permanently.

    going: the part that is being removed now, ordered_by somebody or `the rule`; sent_at: when its job was sent last.
    gone, gone_at: what was removed last, completely, and when.
    """

    __tablename__ = "retentions"
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey("campaigns.id", ondelete="CASCADE"), primary_key=True)
    is_pinned: Mapped[bool] = mapped_column(default=False, server_default="false")
    traces_days: Mapped[int | None]
    series_days: Mapped[int | None]
    all_days: Mapped[int | None]
    going: Mapped[str | None]
    ordered_by: Mapped[str | None]
    sent_at: Mapped[datetime | None]
    gone: Mapped[str | None]
    gone_at: Mapped[datetime | None]
    __table_args__ = (Index("ix_retentions_going", "sent_at", postgresql_where=text("going IS NOT NULL")),)
