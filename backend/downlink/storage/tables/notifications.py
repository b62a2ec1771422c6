"""Targets of notifications, and the notifications on their way."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import ForeignKey, Index, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from downlink.domain.notices.notification import ChannelKind
from downlink.storage.tables.base import Json, Table


class Channel(Table):
    """target: a URL or a mail address. secret: what posts are signed with; kept as it is, since a hash signs nothing (decision 0153).

    seen_xact, seen_id: up to where of the log of events its notices have been made.
    """

    __tablename__ = "channels"
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    owner_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    name: Mapped[str]
    kind: Mapped[ChannelKind] = mapped_column(Text)
    target: Mapped[str]
    secret: Mapped[str | None]
    topics: Mapped[list[str]]
    is_own_only: Mapped[bool]
    failures_in_row: Mapped[int]
    gone_after_min: Mapped[int]
    is_enabled: Mapped[bool]
    created_by: Mapped[str]
    created_at: Mapped[datetime]
    seen_xact: Mapped[int]
    seen_id: Mapped[int]


class Notification(Table):
    """A notice for one channel. key: once per channel. due_at: when it is tried next. hinted_at: when its job was sent, until that has
    an outcome.

    Neither sent_at nor gave_up_at: it is on its way. detail: the outcome of the last try, at tried_at.
    """

    __tablename__ = "notifications"
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    channel_id: Mapped[UUID] = mapped_column(ForeignKey("channels.id", ondelete="CASCADE"))
    key: Mapped[str]
    topic: Mapped[str]
    type: Mapped[str]
    title: Mapped[str]
    body: Mapped[Json]
    agent_id: Mapped[UUID | None]
    created_at: Mapped[datetime]
    due_at: Mapped[datetime]
    hinted_at: Mapped[datetime | None]
    tries: Mapped[int] = mapped_column(default=0, server_default="0")
    tried_at: Mapped[datetime | None]
    sent_at: Mapped[datetime | None]
    gave_up_at: Mapped[datetime | None]
    detail: Mapped[str | None]
    __table_args__ = (
        UniqueConstraint("channel_id", "key", name="uq_notifications_key"),
        Index("ix_notifications_due", "due_at", postgresql_where=text("sent_at IS NULL AND gave_up_at IS NULL")),
        Index("ix_notifications_newest", "channel_id", "created_at"),
        Index(
            "ix_notifications_agent", "channel_id", "agent_id", text("created_at DESC"),
            postgresql_where=text("agent_id IS NOT NULL"),
        ),
    )  # fmt: skip
