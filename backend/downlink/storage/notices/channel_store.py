"""Channels of notifications."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, or_, select, update
from sqlalchemy.dialects.postgresql import distinct_on

from downlink.domain.notices.notification import Topic, Wishes
from downlink.domain.people.permission import Role
from downlink.storage.notices.events import Cursor, horizon
from downlink.storage.tables import Channel, Notification, User
from downlink.storage.unit import Unit

HAVING = (Role.OPERATOR, Role.ADMIN)
"""Roles that may have channels."""


def list_channels(unit: Unit, owner_id: UUID | None) -> list[tuple[Channel, str | None]]:
    """Return channels with their owners' names, by name; of one account, or all."""
    query = select(Channel, User.username).outerjoin(User, User.id == Channel.owner_id)
    if owner_id:
        query = query.where(Channel.owner_id == owner_id)
    return [(row[0], row[1]) for row in unit.session.execute(query.order_by(Channel.name, Channel.id))]


def find_channel(unit: Unit, channel_id: UUID, *, is_locked: bool = False) -> Channel | None:
    query = select(Channel).where(Channel.id == channel_id)
    return unit.session.scalar(query.with_for_update() if is_locked else query)


def owner_name(unit: Unit, channel: Channel) -> str | None:
    return unit.session.scalar(select(User.username).where(User.id == channel.owner_id))


def count_channels(unit: Unit, owner_id: UUID | None) -> int:
    query = select(func.count()).select_from(Channel).where(Channel.owner_id.is_not_distinct_from(owner_id))
    return unit.session.scalar(query) or 0


def working_channels(unit: Unit) -> Sequence[Channel]:
    """Return the channels that are enabled, and whose account may still have them."""
    may_have = or_(Channel.owner_id.is_(None), User.role.in_(HAVING))
    query = select(Channel).outerjoin(User, User.id == Channel.owner_id).where(Channel.is_enabled, may_have)
    return unit.session.scalars(query).all()


def begin_anew(unit: Unit, owner_id: UUID) -> None:
    """An account's channels are sent what happens from now on."""
    now = horizon(unit)
    of_account = update(Channel).where(Channel.owner_id == owner_id)
    unit.session.execute(of_account.values(seen_xact=now.xact, seen_id=now.id))


def note_seen(unit: Unit, channel_ids: Sequence[UUID], cursor: Cursor) -> None:
    moved = update(Channel).where(Channel.id.in_(channel_ids)).values(seen_xact=cursor.xact, seen_id=cursor.id)
    unit.session.execute(moved)


def wishes_of(channel: Channel) -> Wishes:
    return Wishes(
        frozenset(Topic(each) for each in channel.topics),
        channel.failures_in_row,
        channel.gone_after_min,
        channel.is_own_only,
        channel.owner_id,
    )


def last_tried(unit: Unit, channel_ids: Sequence[UUID]) -> dict[UUID, Notification]:
    """Return for each channel the notification that was tried last."""
    query = select(Notification).where(Notification.channel_id.in_(channel_ids), Notification.tried_at.is_not(None))
    order = (Notification.channel_id, Notification.tried_at.desc())
    notifications = unit.session.scalars(query.ext(distinct_on(Notification.channel_id)).order_by(*order))
    return {each.channel_id: each for each in notifications}


def list_notifications(unit: Unit, channel_id: UUID, limit: int, offset: int) -> tuple[Sequence[Notification], int]:
    """The newest first."""
    query = select(Notification).where(Notification.channel_id == channel_id)
    total = unit.session.scalar(select(func.count()).select_from(query.subquery())) or 0
    newest = query.order_by(Notification.created_at.desc(), Notification.id)
    return unit.session.scalars(newest.limit(limit).offset(offset)).all(), total


def last_test_at(unit: Unit, channel_id: UUID) -> datetime | None:
    query = select(func.max(Notification.created_at)).where(Notification.channel_id == channel_id)
    return unit.session.scalar(query.where(Notification.topic == "test"))
