"""Every means of access that an account's sessions and tokens have made: what there is, and how each kind ends."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import CursorResult, delete, null, select, update

from downlink.storage.tables import (
    ApiToken,
    Campaign,
    Channel,
    Enrolment,
    Identity,
    Invitation,
    ProviderVisit,
    Share,
    Trigger,
)
from downlink.storage.unit import Unit


class Means(NamedTuple):
    """One way to act for an account, or to give others a way. expires_at: None for what lasts until it is ended."""

    kind: str
    name: str
    created_at: datetime | None
    expires_at: datetime | None


class _Kind(NamedTuple):
    """listed: a query of name, beginning and expiry of what works now. ended: the statement that ends all of it."""

    listed: Callable[[UUID, datetime], Any]
    ended: Callable[[UUID], Any]


_KINDS: Mapping[str, _Kind] = {
    "token": _Kind(
        lambda user, now: select(ApiToken.name, ApiToken.created_at, ApiToken.expires_at).where(
            ApiToken.user_id == user, ApiToken.expires_at.is_(None) | (ApiToken.expires_at > now)
        ),
        lambda user: delete(ApiToken).where(ApiToken.user_id == user),
    ),
    "connection": _Kind(
        lambda user, _: select(Identity.subject, Identity.created_at, null()).where(
            Identity.user_id == user, Identity.is_ruled.is_(False)
        ),
        lambda user: delete(Identity).where(Identity.user_id == user, Identity.is_ruled.is_(False)),
    ),
    "channel": _Kind(
        lambda user, _: select(Channel.name, Channel.created_at, null()).where(
            Channel.owner_id == user, Channel.is_enabled
        ),
        lambda user: update(Channel).where(Channel.owner_id == user, Channel.is_enabled).values(is_enabled=False),
    ),
    "share": _Kind(
        lambda user, now: select(Share.name, Share.created_at, Share.expires_at).where(
            Share.account_id == user, Share.expires_at > now
        ),
        lambda user: delete(Share).where(Share.account_id == user),
    ),
    "call_secret": _Kind(
        lambda user, _: (
            select(Campaign.name, null(), null())
            .join(Trigger, Trigger.campaign_id == Campaign.id)
            .where(Trigger.account_id == user, Trigger.secret.is_not(None))
        ),
        lambda user: update(Trigger).where(Trigger.account_id == user, Trigger.secret.is_not(None)).values(secret=None),
    ),
    "enrolment": _Kind(
        lambda user, now: select(null(), Enrolment.created_at, Enrolment.expires_at).where(
            Enrolment.account_id == user, Enrolment.used_at.is_(None), Enrolment.expires_at > now
        ),
        lambda user: delete(Enrolment).where(Enrolment.account_id == user, Enrolment.used_at.is_(None)),
    ),
    "invitation": _Kind(
        lambda user, now: select(Invitation.name, Invitation.created_at, Invitation.expires_at).where(
            Invitation.account_id == user, Invitation.expires_at > now
        ),
        lambda user: delete(Invitation).where(Invitation.account_id == user),
    ),
    "visit": _Kind(
        lambda user, now: select(null(), null(), ProviderVisit.expires_at).where(
            ProviderVisit.user_id == user, ProviderVisit.expires_at > now
        ),
        lambda user: delete(ProviderVisit).where(ProviderVisit.user_id == user),
    ),
}
KINDS = tuple(_KINDS)
OPEN = ("enrolment", "invitation", "visit")
"""Rights that were handed out and not used yet: a changed password ends them without a question."""


def list_means(unit: Unit, user_id: UUID, now: datetime) -> list[Means]:
    """Return all that works now, by kind, the oldest first."""
    means = []
    for kind, each in _KINDS.items():
        rows = [
            Means(kind, name or "", made, ends) for name, made, ends in unit.session.execute(each.listed(user_id, now))
        ]
        means += sorted(rows, key=lambda row: (row.created_at is None, row.created_at, row.name))
    return means


def counted(ended: Mapping[str, int]) -> str:
    """Return what was ended, for the record: `2 x token, 1 x share`."""
    return ", ".join(f"{count} x {kind}" for kind, count in ended.items())


def end(unit: Unit, user_id: UUID, kinds: Collection[str]) -> dict[str, int]:
    """End all means of these kinds; return how many of each kind there were, without those of which there was none."""
    ended = {}
    for kind in kinds:
        done = unit.session.execute(_KINDS[kind].ended(user_id))
        if isinstance(done, CursorResult) and done.rowcount:
            ended[kind] = done.rowcount
    return ended
