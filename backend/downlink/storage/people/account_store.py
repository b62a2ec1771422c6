"""Accounts and invitations to them, and the record of changes to access."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, func, select

from downlink.domain.people.permission import Role
from downlink.storage.tables import Audit, Invitation, Session, User
from downlink.storage.unit import Unit


def list_users(unit: Unit) -> Sequence[tuple[User, datetime | None]]:
    """Return users by name, each with the beginning of its newest session."""
    signed_in_at = select(func.max(Session.created_at)).where(Session.user_id == User.id).scalar_subquery()
    return [(row[0], row[1]) for row in unit.session.execute(select(User, signed_in_at).order_by(User.username))]


def get_user(unit: Unit, user_id: UUID) -> User | None:
    return unit.session.get(User, user_id)


def count_admins(unit: Unit) -> int:
    return unit.session.scalar(select(func.count()).where(User.role == Role.ADMIN)) or 0


def delete_user(unit: Unit, user_id: UUID) -> None:
    """Its sessions and tokens end with it; what it owned has no owner."""
    unit.session.execute(delete(User).where(User.id == user_id))


def list_invitations(unit: Unit, now: datetime) -> Sequence[Invitation]:
    """Return invitations that still work, the newest first."""
    query = select(Invitation).where(Invitation.expires_at > now)
    return unit.session.scalars(query.order_by(Invitation.created_at.desc(), Invitation.id)).all()


def add_invitation(unit: Unit, invitation: Invitation, now: datetime) -> None:
    """An earlier one for the same account stops working."""
    unit.session.execute(delete(Invitation).where(Invitation.expires_at <= now))
    if invitation.user_id:
        unit.session.execute(delete(Invitation).where(Invitation.user_id == invitation.user_id))
    unit.session.add(invitation)
    unit.session.flush()


def find_invitation(unit: Unit, secret_hash: bytes, now: datetime) -> Invitation | None:
    return unit.session.scalar(
        select(Invitation).where(Invitation.secret_hash == secret_hash, Invitation.expires_at > now)
    )


def use_invitation(unit: Unit, secret_hash: bytes, now: datetime) -> Invitation | None:
    """Remove it; None when it does not work, or another request has just used it."""
    used = delete(Invitation).where(Invitation.secret_hash == secret_hash, Invitation.expires_at > now)
    return unit.session.scalars(used.returning(Invitation)).one_or_none()


def delete_invitation(unit: Unit, invitation_id: UUID) -> str | None:
    """Remove it; its name, or None when there is none."""
    gone = delete(Invitation).where(Invitation.id == invitation_id).returning(Invitation.name)
    return unit.session.execute(gone).scalar_one_or_none()


def delete_sessions(unit: Unit, user_id: UUID) -> None:
    unit.session.execute(delete(Session).where(Session.user_id == user_id))


def list_audit(unit: Unit, limit: int, offset: int) -> tuple[Sequence[Audit], int]:
    """The newest first, and how many there are."""
    total = unit.session.scalar(select(func.count()).select_from(Audit)) or 0
    return unit.session.scalars(select(Audit).order_by(Audit.id.desc()).limit(limit).offset(offset)).all(), total


def audit_page(unit: Unit, after: int, limit: int) -> Sequence[Audit]:
    """The oldest first, those behind the entry of this number."""
    return unit.session.scalars(select(Audit).where(Audit.id > after).order_by(Audit.id).limit(limit)).all()
