"""Share links."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, func, select, update

from downlink.storage.tables import Share
from downlink.storage.unit import Unit


def list_shares(unit: Unit, campaign_id: UUID, now: datetime) -> Sequence[Share]:
    """Return shares that still work, the newest first."""
    query = select(Share).where(Share.campaign_id == campaign_id, Share.expires_at > now)
    return unit.session.scalars(query.order_by(Share.created_at.desc())).all()


def count_shares(unit: Unit, campaign_id: UUID, now: datetime) -> int:
    query = select(func.count()).where(Share.campaign_id == campaign_id, Share.expires_at > now)
    return unit.session.scalar(query) or 0


def add_share(unit: Unit, share: Share, now: datetime) -> None:
    """Expired ones, whosever they are, are swept out on the way."""
    unit.session.execute(delete(Share).where(Share.expires_at <= now))
    unit.session.add(share)
    unit.session.flush()


def find_share(unit: Unit, secret_hash: bytes, now: datetime) -> Share | None:
    """The link of this secret, while it works."""
    return unit.session.scalar(select(Share).where(Share.secret_hash == secret_hash, Share.expires_at > now))


def note_opened(unit: Unit, share_id: UUID, now: datetime) -> None:
    opened = update(Share).where(Share.id == share_id).values(opened=Share.opened + 1, opened_at=now)
    unit.session.execute(opened)


def delete_share(unit: Unit, campaign_id: UUID, share_id: UUID) -> str | None:
    """Remove it; its name, or None when the campaign has none of this id."""
    gone = delete(Share).where(Share.id == share_id, Share.campaign_id == campaign_id).returning(Share.name)
    return unit.session.execute(gone).scalar_one_or_none()
