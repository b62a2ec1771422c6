"""Channels of notifications: made, changed, tried and removed."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from downlink.actions.notices.deliveries import SWITCHED_OFF, envelope_of, note_outcome
from downlink.courier.sender import Courier
from downlink.domain.errors import ConflictError, InvalidError, NotFoundError
from downlink.domain.notices.delivery import (
    Networks,
    Outcome,
    check_mail_address,
    check_reachable,
    check_url,
    shown_target,
)
from downlink.domain.notices.notification import MOST_CHANNELS, ChannelKind, Topic, notice_of_test
from downlink.domain.people.access import Actor
from downlink.storage.notices import channel_store, events, notification_store
from downlink.storage.people import access_store
from downlink.storage.tables import Channel
from downlink.storage.unit import Unit, UnitFactory, lock

TEST_EVERY = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The wanted properties of a channel."""

    name: str
    kind: ChannelKind
    target: str
    topics: tuple[Topic, ...]
    is_own_only: bool
    failures_in_row: int
    gone_after_min: int


def make_channel(
    unit: Unit, wanted: Wanted, now: datetime, *, actor: Actor, owner_id: UUID | None, has_mail: bool, allowed: Networks
) -> Channel:
    """A channel that gets what happens from now on; of a webhook with the secret that its posts are signed with.

    allowed: networks beside the public internet that may be posted to.
    """
    check_target(wanted.kind, wanted.target, allowed)
    if wanted.kind == "email" and not has_mail:
        raise ConflictError("mail_not_set_up", "This server sends no mail; an admin sets DOWNLINK_SMTP_HOST.")
    if wanted.is_own_only and owner_id is None:
        raise InvalidError("nothing_owned", "This token belongs to no account, and so owns no campaigns or links.")
    lock(unit, "channels")
    if channel_store.count_channels(unit, owner_id) >= MOST_CHANNELS:
        raise ConflictError("channels_full", f"The account has {MOST_CHANNELS} channels already; remove one first.")
    seen = events.horizon(unit)
    channel = Channel(
        owner_id=owner_id, name=wanted.name, kind=wanted.kind, target=wanted.target, topics=sorted(wanted.topics),
        secret=make_signing_secret() if wanted.kind == "webhook" else None, is_own_only=wanted.is_own_only,
        failures_in_row=wanted.failures_in_row, gone_after_min=wanted.gone_after_min, is_enabled=True,
        created_by=f"{actor.kind} {actor.name}", created_at=now, seen_xact=seen.xact, seen_id=seen.id,
    )  # fmt: skip
    unit.session.add(channel)
    unit.session.flush()
    access_store.audit(unit, now, actor, "create_channel", _subject(channel), channel.id)
    return channel


def make_signing_secret() -> str:
    """Return a signing secret in the form of the Standard Webhooks specification."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()


def check_target(kind: str, target: str, allowed: Networks) -> None:
    """InvalidError where nothing could be sent to it. Where a name leads is seen when it is called."""
    if kind == "email":
        check_mail_address(target)
    else:
        check_url(target)
        check_reachable(target, allowed)


def change_channel(
    unit: Unit, channel_id: UUID, changes: Mapping[str, Any], now: datetime, *, actor: Actor, allowed: Networks
) -> Channel:
    """Change what is named. Switched off, it forgets what was on its way; switched on, it starts again."""
    channel = get_channel(unit, channel_id, is_locked=True)
    if "target" in changes:
        check_target(channel.kind, changes["target"], allowed)
    if changes.get("is_own_only") and channel.owner_id is None:
        raise InvalidError("nothing_owned", "This channel belongs to no account, which so owns no campaigns or links.")
    was_enabled = channel.is_enabled
    for key, value in changes.items():
        setattr(channel, key, sorted(value) if key == "topics" else value)
    if was_enabled and not channel.is_enabled:
        notification_store.give_up_open(unit, channel.id, now, SWITCHED_OFF)
    if channel.is_enabled and not was_enabled:
        seen = events.horizon(unit)
        channel.seen_xact, channel.seen_id = seen.xact, seen.id
    access_store.audit(unit, now, actor, "change_channel", _subject(channel), channel.id)
    return channel


def remove_channel(unit: Unit, channel_id: UUID, now: datetime, *, actor: Actor) -> None:
    """Remove it with all that was sent or is on its way."""
    channel = get_channel(unit, channel_id, is_locked=True)
    access_store.audit(unit, now, actor, "remove_channel", _subject(channel), channel.id)
    unit.session.delete(channel)


def get_channel(unit: Unit, channel_id: UUID, *, is_locked: bool = False) -> Channel:
    channel = channel_store.find_channel(unit, channel_id, is_locked=is_locked)
    if channel is None:
        raise NotFoundError("channel_not_found", f"There is no channel {channel_id}.")
    return channel


def try_channel(units: UnitFactory, channel_id: UUID, now: datetime, courier: Courier) -> Outcome:
    """Send a test now, and wait for what comes of it. It is not tried again. ConflictError `test_too_soon` within five seconds."""
    with units() as unit:
        channel = get_channel(unit, channel_id, is_locked=True)
        last = channel_store.last_test_at(unit, channel_id)
        if last and now - last < TEST_EVERY:
            raise ConflictError("test_too_soon", "A test was sent a moment ago; wait five seconds.")
        added = notification_store.add(unit, channel_id, [notice_of_test(channel.name, str(uuid4()), now)], now)
        row = notification_store.find(unit, added[0]) if added else None
        if row is None:
            raise NotFoundError("channel_not_found", f"There is no channel {channel_id}.")
        # Given up on until it is sent: the tick leaves it alone.
        row.tries, row.tried_at, row.gave_up_at = 1, now, now
        envelope = envelope_of(channel, row, courier.base_url)
    outcome = courier.send(envelope.kind, envelope.target, envelope.secret, envelope.message, now)
    with units() as unit:
        if row := notification_store.find(unit, row.id, is_locked=True):
            note_outcome(row, outcome, now)
            row.gave_up_at = None if outcome.is_sent else now
    return outcome


def _subject(channel: Channel) -> str:
    return f"{channel.name}: {channel.kind} to {shown_target(channel.kind, channel.target)}"
