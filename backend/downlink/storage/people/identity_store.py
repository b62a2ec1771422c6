"""Accounts as an identity provider knows them, and sign-ins on their way."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, func, select

from downlink.storage.tables import Identity, ProviderVisit, User
from downlink.storage.unit import Unit


def add_visit(unit: Unit, visit: ProviderVisit) -> None:
    unit.session.add(visit)
    unit.session.flush()


def make_room(unit: Unit, origin: str, most_of_origin: int, most: int, now: datetime) -> None:
    """Remove what has expired, and the oldest visits of this origin, or of the one that has most, so that another one has room."""
    unit.session.execute(delete(ProviderVisit).where(ProviderVisit.expires_at <= now))
    counts = {
        name: int(count)
        for name, count in unit.session.execute(
            select(ProviderVisit.origin, func.count()).group_by(ProviderVisit.origin)
        )
    }
    if counts.get(origin, 0) >= most_of_origin:
        _drop_oldest(unit, origin, counts[origin] - most_of_origin + 1)
    elif sum(counts.values()) >= most:
        _drop_oldest(unit, max(counts, key=counts.__getitem__), 1)


def _drop_oldest(unit: Unit, origin: str, number: int) -> None:
    oldest = select(ProviderVisit.state_hash).where(ProviderVisit.origin == origin).order_by(ProviderVisit.expires_at)
    unit.session.execute(delete(ProviderVisit).where(ProviderVisit.state_hash.in_(oldest.limit(number))))


def use_visit(unit: Unit, state_hash: bytes, now: datetime) -> ProviderVisit | None:
    """Take it off the record; None when it is not there, was used, or has expired."""
    used = delete(ProviderVisit).where(ProviderVisit.state_hash == state_hash, ProviderVisit.expires_at > now)
    return unit.session.scalars(used.returning(ProviderVisit)).one_or_none()


def find(unit: Unit, issuer: str, subject: str) -> tuple[Identity, User] | None:
    query = select(Identity, User).join(User, User.id == Identity.user_id)
    row = unit.session.execute(query.where(Identity.issuer == issuer, Identity.subject == subject)).one_or_none()
    return (row[0], row[1]) if row else None


def of_user(unit: Unit, user_id: UUID) -> Sequence[Identity]:
    return unit.session.scalars(select(Identity).where(Identity.user_id == user_id)).all()


def add(unit: Unit, identity: Identity) -> None:
    unit.session.add(identity)
    unit.session.flush()


def remove_of(unit: Unit, user_id: UUID) -> int:
    gone = delete(Identity).where(Identity.user_id == user_id).returning(Identity.subject)
    return len(unit.session.scalars(gone).all())
