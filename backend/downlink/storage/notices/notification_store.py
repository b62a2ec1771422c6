"""Notifications on their way: an outbox, whose rows say what is due."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ARRAY, ColumnElement, Text, and_, any_, delete, literal, or_, select, update
from sqlalchemy.dialects.postgresql import distinct_on, insert

from downlink.domain.notices.notification import Notice
from downlink.storage.tables import Notification
from downlink.storage.unit import Unit


def is_open() -> ColumnElement[bool]:
    return and_(Notification.sent_at.is_(None), Notification.gave_up_at.is_(None))


def add(unit: Unit, channel_id: UUID, notices: Iterable[Notice], now: datetime) -> list[UUID]:
    """Their numbers, without those that the channel has already."""
    rows = [
        {
            "channel_id": channel_id, "key": each.key, "topic": each.topic, "type": each.type, "title": each.title,
            "body": _body(each), "agent_id": each.agent, "created_at": now, "due_at": now,
        }
        for each in notices
    ]  # fmt: skip
    new = insert(Notification).on_conflict_do_nothing(constraint="uq_notifications_key").returning(Notification.id)
    return list(unit.session.scalars(new, rows)) if rows else []


def _body(notice: Notice) -> dict[str, object]:
    return {
        "type": notice.type, "timestamp": notice.at.isoformat(), "title": notice.title, "text": notice.text,
        "path": notice.path, "data": dict(notice.data),
    }  # fmt: skip


def known(unit: Unit, channel_id: UUID, keys: Sequence[str]) -> set[str]:
    """Return the keys for which the channel has a notice."""
    is_asked = Notification.key == any_(
        literal(list(keys), ARRAY(Text))
    )  # one parameter: of more than 65,535 no query is taken
    return set(unit.session.scalars(select(Notification.key).where(Notification.channel_id == channel_id, is_asked)))


def find(unit: Unit, notification_id: UUID, *, is_locked: bool = False) -> Notification | None:
    query = select(Notification).where(Notification.id == notification_id)
    return unit.session.scalar(query.with_for_update() if is_locked else query)


def take_due(unit: Unit, now: datetime, resend: timedelta, most: int) -> Sequence[UUID]:
    """Return due notifications, one of a channel, and mark them as sent now; with those under way there are at most `most`.

    Under way is what was marked lately and has no outcome yet; a job that was lost no longer is, after `resend`.
    """
    under_way = select(Notification.channel_id).where(is_open(), Notification.hinted_at >= now - resend)
    busy = unit.session.scalars(under_way).all()
    is_free = and_(
        or_(Notification.hinted_at.is_(None), Notification.hinted_at < now - resend),
        Notification.channel_id.not_in(busy),
    )
    due = select(Notification.id, Notification.due_at).where(is_open(), Notification.due_at <= now, is_free)
    order = (Notification.channel_id, Notification.due_at)
    first = due.ext(distinct_on(Notification.channel_id)).order_by(*order).subquery()
    longest_due = select(first.c.id).order_by(first.c.due_at).limit(max(0, most - len(busy)))
    ids = unit.session.scalars(longest_due).all()
    if ids:
        unit.session.execute(update(Notification).where(Notification.id.in_(ids)).values(hinted_at=now))
    return ids


def noted_gone(unit: Unit, channel_ids: Collection[UUID]) -> Mapping[UUID, set[UUID]]:
    """Return by channel the agents that were last reported as gone."""
    query = select(Notification.channel_id, Notification.agent_id, Notification.type)
    of_agents = query.where(Notification.channel_id.in_(channel_ids), Notification.agent_id.is_not(None))
    order = (Notification.channel_id, Notification.agent_id, Notification.created_at.desc())
    last = of_agents.ext(distinct_on(Notification.channel_id, Notification.agent_id)).order_by(*order)
    gone: dict[UUID, set[UUID]] = {}
    for channel_id, agent_id, kind in unit.session.execute(last):
        if agent_id and kind == "agent.gone":
            gone.setdefault(channel_id, set()).add(agent_id)
    return gone


def give_up_open(unit: Unit, channel_id: UUID, now: datetime, detail: str) -> None:
    unsent = update(Notification).where(Notification.channel_id == channel_id, is_open())
    unit.session.execute(unsent.values(gave_up_at=now, detail=detail))


def forget(unit: Unit, before: datetime) -> None:
    """Delete the finished notifications. An agent that is gone for so long then simply does not exist."""
    done = or_(Notification.sent_at.is_not(None), Notification.gave_up_at.is_not(None))
    unit.session.execute(delete(Notification).where(Notification.created_at < before, done))
