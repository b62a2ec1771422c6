"""Channels of notifications: where the server tells people what happens."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter

from downlink.actions.notices import channels
from downlink.api.http.deps import (
    Config,
    Limit,
    Now,
    Offset,
    ReadUnit,
    UnitOfWork,
    Units,
    may,
    may_with_channel,
    problems,
)
from downlink.api.schemas.channels import (
    Channel,
    ChannelBody,
    ChannelChange,
    ChannelCreated,
    ChannelList,
    LastTry,
    Notification,
    NotificationList,
    State,
    Tested,
)
from downlink.courier.sender import Courier
from downlink.domain.notices.delivery import shown_target
from downlink.domain.people.access import Caller
from downlink.domain.people.permission import Verb
from downlink.storage.notices import channel_store
from downlink.storage.tables import Channel as ChannelRow
from downlink.storage.tables import Notification as NotificationRow
from downlink.storage.unit import Unit

router = APIRouter(tags=["channels"])
Manager = Annotated[Caller, may(Verb.MANAGE_CHANNELS, is_own=True)]
ChannelManager = Annotated[Caller, may_with_channel(Verb.MANAGE_CHANNELS)]


@router.get("/channels", responses=problems(401, 403))
def list_channels(caller: Manager, unit: ReadUnit, settings: Config) -> ChannelList:
    """List channels by name, without their secrets: admins see all, other users their own."""
    rows = channel_store.list_channels(unit, caller.confined_to(Verb.MANAGE_CHANNELS))
    last = channel_store.last_tried(unit, [channel.id for channel, _ in rows])
    items = [_channel(channel, owner, last.get(channel.id)) for channel, owner in rows]
    return ChannelList(items=items, total=len(items), has_mail=settings.smtp_host is not None)


@router.post("/channels", status_code=201, responses=problems(401, 403, 409))
def create_channel(body: ChannelBody, caller: Manager, unit: UnitOfWork, settings: Config, now: Now) -> ChannelCreated:
    """Create a channel for events from now on. The answer has a webhook's secret, which is shown only once.

    409 `channels_full` beyond 20 of an account, `mail_not_set_up` where the server sends no mail.
    """
    wanted = channels.Wanted(**{**body.model_dump(), "topics": tuple(sorted(set(body.topics)))})
    has_mail = settings.smtp_host is not None
    row = channels.make_channel(
        unit,
        wanted,
        now,
        actor=caller.actor,
        owner_id=caller.account_id,
        has_mail=has_mail,
        allowed=settings.notify_networks,
    )
    return ChannelCreated(**_channel(row, channel_store.owner_name(unit, row), None).model_dump(), secret=row.secret)


@router.patch("/channels/{channel_id}", responses=problems(401, 403, 404))
def change_channel(
    channel_id: UUID, body: ChannelChange, caller: ChannelManager, unit: UnitOfWork, settings: Config, now: Now
) -> Channel:
    """Change a channel, or switch it off or on. Once on, it gets events from then on."""
    changes = {key: value for key, value in body.model_dump(exclude_unset=True).items() if value is not None}
    if "topics" in changes:
        changes["topics"] = sorted(set(changes["topics"]))
    row = channels.change_channel(unit, channel_id, changes, now, actor=caller.actor, allowed=settings.notify_networks)
    return _shown(unit, row)


@router.delete("/channels/{channel_id}", status_code=204, responses=problems(401, 403, 404))
def remove_channel(channel_id: UUID, caller: ChannelManager, unit: UnitOfWork, now: Now) -> None:
    """Remove a channel with its record; pending notifications are dropped."""
    channels.remove_channel(unit, channel_id, now, actor=caller.actor)


@router.post("/channels/{channel_id}/test", responses=problems(401, 403, 404, 409))
def test_channel(channel_id: UUID, caller: ChannelManager, units: Units, settings: Config, now: Now) -> Tested:
    """Send a test notification, within 10 s, and return the result. 409 `test_too_soon` within five seconds of the last one."""
    return Tested.model_validate(channels.try_channel(units, channel_id, now, Courier.of(settings)))


@router.get("/channels/{channel_id}/notifications", responses=problems(401, 403, 404))
def list_notifications(
    channel_id: UUID, caller: ChannelManager, unit: ReadUnit, limit: Limit = 50, offset: Offset = 0
) -> NotificationList:
    """List notifications that were sent, are pending or were given up, newest first; kept for 90 days."""
    channels.get_channel(unit, channel_id)
    rows, total = channel_store.list_notifications(unit, channel_id, limit, offset)
    return NotificationList(items=[_notification(row) for row in rows], total=total)


def _shown(unit: Unit, row: ChannelRow) -> Channel:
    return _channel(row, channel_store.owner_name(unit, row), channel_store.last_tried(unit, [row.id]).get(row.id))


def _channel(row: ChannelRow, owner: str | None, last: NotificationRow | None) -> Channel:
    kept = {name: getattr(row, name) for name in Channel.model_fields if name not in ("target", "owner", "last")}
    tried = LastTry.model_validate(_notification(last)) if last else None
    return Channel(**kept, target=shown_target(row.kind, row.target), owner=owner, last=tried)


def _notification(row: NotificationRow) -> Notification:
    kept = {name: getattr(row, name) for name in Notification.model_fields if name not in ("state", "due_at")}
    state = _state(row)
    return Notification(**kept, state=state, due_at=row.due_at if state in ("waiting", "retrying") else None)


def _state(row: NotificationRow) -> State:
    if row.sent_at:
        return "sent"
    if row.gave_up_at:
        return "gave_up"
    return "retrying" if row.tries else "waiting"
