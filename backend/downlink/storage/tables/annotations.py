"""Annotations of periods."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import CheckConstraint, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from downlink.storage.tables.base import Table


class Annotation(Table):
    """An annotation of a campaign, of one of its links in it (both are set), or of a link whatever runs over it (campaign_id is NULL).

    A link is named as runs name theirs: it may be gone.
    """

    __tablename__ = "annotations"
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    campaign_id: Mapped[UUID | None] = mapped_column(ForeignKey("campaigns.id", ondelete="CASCADE"))
    link: Mapped[str | None]
    kind: Mapped[str]
    text: Mapped[str]
    from_at: Mapped[datetime]
    to_at: Mapped[datetime | None]
    created_at: Mapped[datetime]
    __table_args__ = (
        CheckConstraint("campaign_id IS NOT NULL OR link IS NOT NULL", name="subject"),
        Index("ix_annotations_campaign_id", "campaign_id"),
        Index("ix_annotations_link", "link", "from_at"),
    )
