"""Share links: created, opened and revoked. Each gives read access to one campaign until it expires."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from downlink.actions.people.secrets import SHARE, hash_secret, is_secret, make_secret
from downlink.domain.errors import ConflictError, DeniedError, NotFoundError
from downlink.domain.people.access import Actor, Caller
from downlink.domain.people.permission import Role
from downlink.domain.people.share import MOST_SHARES, ExpiryDays
from downlink.storage.campaigns import campaign_store
from downlink.storage.people import access_store, share_store
from downlink.storage.tables import Campaign, Share
from downlink.storage.unit import Unit


def make_share(
    unit: Unit, campaign_id: UUID, name: str, days: ExpiryDays, now: datetime, *, actor: Actor
) -> tuple[Share, str]:
    """A new link and its secret, which is kept as a hash alone. ConflictError where the campaign has as many as it may have."""
    campaign_store.find_campaign(unit, campaign_id, is_locked=True)
    if share_store.count_shares(unit, campaign_id, now) >= MOST_SHARES:
        raise ConflictError("shares_full", f"The campaign has {MOST_SHARES} links already; revoke one first.")
    secret = make_secret(SHARE)
    share = Share(
        campaign_id=campaign_id,
        name=name,
        secret_hash=hash_secret(secret),
        created_by=f"{actor.kind} {actor.name}",
        account_id=actor.account_id,
        created_at=now,
        expires_at=now + timedelta(days=days),
    )
    share_store.add_share(unit, share, now)
    access_store.audit(unit, now, actor, "create_share", f"{name} of campaign {campaign_id}", share.id)
    return share, secret


def revoke_share(unit: Unit, campaign_id: UUID, share_id: UUID, now: datetime, *, actor: Actor) -> None:
    """End a link; the next request by it is refused."""
    name = share_store.delete_share(unit, campaign_id, share_id)
    if name is None:
        raise NotFoundError("share_not_found", f"The campaign has no link {share_id}; it may have expired.")
    access_store.audit(unit, now, actor, "revoke_share", f"{name} of campaign {campaign_id}", share_id)


def open_share(unit: Unit, secret: str, now: datetime) -> tuple[Share, Campaign]:
    """The link of this secret, which has now been opened, with its campaign. DeniedError when it no longer works."""
    share = _find(unit, secret, now)
    share_store.note_opened(unit, share.id, now)
    return share, campaign_store.find_campaign(unit, share.campaign_id)


def share_caller(unit: Unit, secret: str, now: datetime) -> Caller:
    """A visitor: reads the link's campaign, and nothing else."""
    share = _find(unit, secret, now)
    return Caller(
        "visitor", "share", Role.VISITOR, ("read",), share.expires_at, share.id, campaign_id=share.campaign_id
    )


def check_form(secret: str) -> None:
    """DeniedError for what no link ever looked like; the database need not be asked."""
    if not is_secret(SHARE, secret):
        raise _ended()


def _find(unit: Unit, secret: str, now: datetime) -> Share:
    share = share_store.find_share(unit, hash_secret(secret), now)
    if share is None:
        raise _ended()
    return share


def _ended() -> DeniedError:
    """One sentence for what expired, was revoked and never was: a guess learns nothing."""
    return DeniedError(
        "share_ended", "This link no longer works: it has expired or was revoked. Ask who sent it for a new one."
    )
