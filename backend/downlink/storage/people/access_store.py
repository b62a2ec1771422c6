"""Users, sessions, API tokens, enrolments, and the audit of their changes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import delete, exists, func, select, update

from downlink.domain.people.access import Actor
from downlink.domain.people.lookalike import likeness
from downlink.domain.people.permission import Role
from downlink.storage.tables import ApiToken, Audit, Enrolment, LoginFailure, Session, SetupToken, User
from downlink.storage.unit import Unit


def has_user(unit: Unit) -> bool:
    return bool(unit.session.scalar(select(exists().select_from(User))))


def find_user(unit: Unit, username: str) -> User | None:
    return unit.session.scalar(select(User).where(User.username == username))


def taken_name(unit: Unit, username: str) -> str | None:
    """The user name that is this one, or that people would take for it; None where there is none.

    Not compared in the database: what `lower` does there with letters beyond ASCII depends on its locale.
    """
    wanted = likeness(username)
    return next((name for name in unit.session.scalars(select(User.username)) if likeness(name) == wanted), None)


def add_user(unit: Unit, username: str, password_hash: str, role: Role, now: datetime) -> User:
    user = User(username=username, password_hash=password_hash, role=role, created_at=now)
    unit.session.add(user)
    unit.session.flush()
    return user


def replace_setup_token(unit: Unit, token_hash: bytes, expires_at: datetime) -> None:
    """Store the one set-up token; an earlier one stops working."""
    unit.session.execute(delete(SetupToken))
    unit.session.add(SetupToken(token_hash=token_hash, expires_at=expires_at))


def use_setup_token(unit: Unit, token_hash: bytes, now: datetime) -> bool:
    """Remove the token; whether it was there and valid."""
    used = delete(SetupToken).where(SetupToken.token_hash == token_hash, SetupToken.expires_at > now)
    return unit.session.execute(used.returning(SetupToken.token_hash)).scalar_one_or_none() is not None


def add_session(unit: Unit, session: Session, now: datetime) -> None:
    unit.session.execute(delete(Session).where(Session.expires_at <= now))
    unit.session.add(session)
    unit.session.flush()


def list_sessions(unit: Unit, now: datetime, user_id: UUID | None) -> Sequence[tuple[Session, User]]:
    """Return sessions that have not expired, the newest first; of one user, or all."""
    query = select(Session, User).join(User, User.id == Session.user_id).where(Session.expires_at > now)
    if user_id:
        query = query.where(Session.user_id == user_id)
    return [(row[0], row[1]) for row in unit.session.execute(query.order_by(Session.created_at.desc()))]


def session_addresses(unit: Unit, username: str, now: datetime) -> Sequence[str]:
    """Return the addresses of the user's sessions that have not ended."""
    query = select(Session.address).join(User, User.id == Session.user_id)
    return unit.session.scalars(query.where(User.username == username, Session.expires_at > now)).all()


def delete_session(unit: Unit, session_id: UUID, user_id: UUID | None) -> UUID | None:
    """Remove it, if it is of this user, or of any; its id, or None when there is none."""
    gone = delete(Session).where(Session.id == session_id)
    if user_id:
        gone = gone.where(Session.user_id == user_id)
    return unit.session.execute(gone.returning(Session.id)).scalar_one_or_none()


def delete_other_sessions(unit: Unit, user_id: UUID, kept: UUID) -> None:
    unit.session.execute(delete(Session).where(Session.user_id == user_id, Session.id != kept))


def find_session(unit: Unit, secret_hash: bytes, now: datetime) -> tuple[Session, User] | None:
    query = select(Session, User).join(User, User.id == Session.user_id)
    row = unit.session.execute(query.where(Session.secret_hash == secret_hash, Session.expires_at > now)).one_or_none()
    return (row[0], row[1]) if row else None


def end_session(unit: Unit, secret_hash: bytes) -> None:
    unit.session.execute(delete(Session).where(Session.secret_hash == secret_hash))


def add_tries(unit: Unit, keys: Sequence[str], now: datetime, keep: timedelta) -> dict[str, int]:
    """A try for each key; their numbers, which rise."""
    unit.session.execute(delete(LoginFailure).where(LoginFailure.at < now - keep))
    tries = [LoginFailure(key=key, at=now) for key in keys]
    unit.session.add_all(tries)
    unit.session.flush()
    return {each.key: each.id for each in tries}


def count_tries(unit: Unit, key: str, since: datetime, up_to: int | None = None) -> int:
    """Tries of a key since then: all, or those up to and with the one of this number."""
    query = select(func.count()).where(LoginFailure.key == key, LoginFailure.at > since)
    if up_to is not None:
        query = query.where(LoginFailure.id <= up_to)
    return unit.session.scalar(query) or 0


def delete_tries(unit: Unit, numbers: Sequence[int]) -> None:
    unit.session.execute(delete(LoginFailure).where(LoginFailure.id.in_(numbers)))


def list_tokens(unit: Unit, user_id: UUID | None) -> Sequence[ApiToken]:
    """Return the tokens of one user, or all."""
    query = select(ApiToken).order_by(ApiToken.created_at)
    return unit.session.scalars(query.where(ApiToken.user_id == user_id) if user_id else query).all()


def add_token(unit: Unit, token: ApiToken) -> None:
    unit.session.add(token)
    unit.session.flush()


def find_token(unit: Unit, secret_hash: bytes) -> tuple[ApiToken, Role] | None:
    """Return the token and the role of its account; one of the command line has an admin's."""
    query = select(ApiToken, User.role).outerjoin(User, User.id == ApiToken.user_id)
    row = unit.session.execute(query.where(ApiToken.secret_hash == secret_hash)).one_or_none()
    return (row[0], Role(row[1] or Role.ADMIN)) if row else None


def touch_token(unit: Unit, token_id: UUID, now: datetime) -> None:
    """Note its use, once a minute at most: a row written on every request would be locked by every request."""
    stale = (ApiToken.last_used_at.is_(None)) | (ApiToken.last_used_at < now - timedelta(minutes=1))
    unit.session.execute(update(ApiToken).where(ApiToken.id == token_id, stale).values(last_used_at=now))


def delete_token(unit: Unit, token_id: UUID, user_id: UUID | None) -> str | None:
    """Remove it, if it is of this user, or of any; its name, or None when there is none."""
    gone = delete(ApiToken).where(ApiToken.id == token_id)
    if user_id:
        gone = gone.where(ApiToken.user_id == user_id)
    return unit.session.execute(gone.returning(ApiToken.name)).scalar_one_or_none()


def add_enrolment(
    unit: Unit, token_hash: bytes, now: datetime, expires_at: datetime, account_id: UUID | None = None
) -> Enrolment:
    row = Enrolment(token_hash=token_hash, created_at=now, expires_at=expires_at, account_id=account_id)
    unit.session.add(row)
    unit.session.flush()
    return row


def use_enrolment(unit: Unit, token_hash: bytes, now: datetime) -> bool:
    """Mark it used; whether it was there, unused and in time."""
    used = (
        update(Enrolment)
        .where(Enrolment.token_hash == token_hash, Enrolment.used_at.is_(None), Enrolment.expires_at > now)
        .values(used_at=now)
        .returning(Enrolment.id)
    )
    return unit.session.execute(used).scalar_one_or_none() is not None


def audit(unit: Unit, now: datetime, actor: Actor, action: str, subject: str, subject_id: UUID | None = None) -> None:
    unit.session.add(
        Audit(
            at=now,
            actor=actor.name,
            actor_kind=actor.kind,
            actor_id=actor.id,
            action=action,
            subject=subject,
            subject_id=subject_id,
        )
    )
