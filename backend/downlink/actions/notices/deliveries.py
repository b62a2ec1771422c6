"""A notification leaves. No transaction is open while another host is asked: event streams and leases would wait for it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import structlog

from downlink.courier.sender import Courier
from downlink.domain.notices.delivery import MOST_TRIES, Message, Outcome, next_try_at
from downlink.domain.notices.notification import ChannelKind
from downlink.storage.notices import channel_store, notification_store
from downlink.storage.tables import Channel, Notification
from downlink.storage.unit import Unit, UnitFactory

LOST = "The worker ended while it was sending."
SWITCHED_OFF = "The channel was switched off."
log = structlog.get_logger()


class Envelope(NamedTuple):
    """All that sending needs; no row of the database."""

    kind: ChannelKind
    target: str
    secret: str | None
    message: Message
    tries: int


def deliver(units: UnitFactory, notification_id: UUID, clock: Callable[[], datetime], courier: Courier) -> None:
    """Try once, if it is due. A try is counted before it begins, and the next one is due already, when this one is surely over: a
    worker that is killed meanwhile leaves nothing undone. A sent one is noted even if another job tried since."""
    with units() as unit:
        envelope = _begin(unit, notification_id, clock(), courier.base_url)
    if envelope is None:
        return
    outcome = courier.send(envelope.kind, envelope.target, envelope.secret, envelope.message, clock())
    outcome_of = {"notification_id": str(notification_id), "tries": envelope.tries, "detail": outcome.detail}
    (log.info if outcome.is_sent else log.warning)(
        "notification_sent" if outcome.is_sent else "notification_failed", **outcome_of
    )
    with units() as unit:
        row = notification_store.find(unit, notification_id, is_locked=True)
        if row and _is_open(row) and (outcome.is_sent or row.tries == envelope.tries):
            note_outcome(row, outcome, clock())


def _begin(unit: Unit, notification_id: UUID, now: datetime, base_url: str) -> Envelope | None:
    row = notification_store.find(unit, notification_id, is_locked=True)
    if row is None or not _is_open(row) or row.due_at > now:
        return None
    channel = channel_store.find_channel(unit, row.channel_id)
    if channel is None or channel.id not in {each.id for each in channel_store.working_channels(unit)}:
        row.gave_up_at, row.detail = now, SWITCHED_OFF
        return None
    if row.tries >= MOST_TRIES:
        row.gave_up_at, row.detail = now, row.detail or LOST
        return None
    row.tries, row.tried_at, row.due_at = row.tries + 1, now, next_try_at(row.tries + 1, now)
    return envelope_of(channel, row, base_url)


def envelope_of(channel: Channel, row: Notification, base_url: str) -> Envelope:
    body = row.body
    message = Message(
        str(row.id),
        body["type"],
        body["timestamp"],
        body["title"],
        body["text"],
        f"{base_url}{body['path']}",
        body["data"],
    )
    return Envelope(channel.kind, channel.target, channel.secret, message, row.tries)


def note_outcome(row: Notification, outcome: Outcome, now: datetime) -> None:
    """Store the outcome of a try. It is no longer under way, so that another one of its channel may be."""
    row.detail, row.hinted_at = outcome.detail, None
    if outcome.is_sent:
        row.sent_at = now
    elif outcome.is_final or row.tries >= MOST_TRIES:
        row.gave_up_at = now


def _is_open(row: Notification) -> bool:
    return row.sent_at is None and row.gave_up_at is None
