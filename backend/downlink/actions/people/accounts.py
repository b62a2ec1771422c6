"""Accounts: invitation, role, new password, removal."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from downlink.actions.people.passwords import check_strength, hash_password
from downlink.actions.people.secrets import INVITATION, hash_secret, make_secret
from downlink.domain.errors import ConflictError, DeniedError, InvalidError, NotFoundError
from downlink.domain.people.access import Actor
from downlink.domain.people.permission import Role
from downlink.storage.notices import channel_store
from downlink.storage.people import access_store, account_store, means_of_access
from downlink.storage.tables import Invitation, User
from downlink.storage.unit import Unit, UnitFactory, lock

VALID = timedelta(days=7)
MOST_INVITATIONS = 50


def invite(unit: Unit, name: str, role: Role, now: datetime, *, actor: Actor) -> tuple[Invitation, str]:
    """An invitation to an account with this role, and its secret. name: whom it is for. ConflictError beyond MOST_INVITATIONS."""
    if len(account_store.list_invitations(unit, now)) >= MOST_INVITATIONS:
        message = f"There are {MOST_INVITATIONS} open invitations already; withdraw one first."
        raise ConflictError("invitations_full", message)
    return _add(unit, name, role, None, now, actor)


def offer_password(unit: Unit, user_id: UUID, now: datetime, *, actor: Actor) -> tuple[Invitation, str]:
    """The right to a new password for an account whose own is lost; until it is used the old one works."""
    user = _get(unit, user_id)
    return _add(unit, user.username, Role(user.role), user.id, now, actor)


def _add(
    unit: Unit, name: str, role: Role, user_id: UUID | None, now: datetime, actor: Actor
) -> tuple[Invitation, str]:
    secret = make_secret(INVITATION)
    made = Invitation(
        name=name,
        role=role,
        user_id=user_id,
        secret_hash=hash_secret(secret),
        created_by=f"{actor.kind} {actor.name}",
        account_id=actor.account_id,
        created_at=now,
        expires_at=now + VALID,
    )
    account_store.add_invitation(unit, made, now)
    action = "offer_password" if user_id else "invite"
    access_store.audit(unit, now, actor, action, name if user_id else f"{name} as {role}", user_id or made.id)
    return made, secret


def withdraw(unit: Unit, invitation_id: UUID, now: datetime, *, actor: Actor) -> None:
    name = account_store.delete_invitation(unit, invitation_id)
    if name is None:
        raise NotFoundError("invitation_not_found", f"There is no invitation {invitation_id}; it may have been used.")
    access_store.audit(unit, now, actor, "withdraw_invitation", name, invitation_id)


def find(unit: Unit, secret: str, now: datetime) -> Invitation:
    """DeniedError when it does not work, with one sentence for whatever the cause is: a guess learns nothing."""
    invitation = account_store.find_invitation(unit, hash_secret(secret), now)
    if invitation is None:
        raise _ended()
    return invitation


def accept(units: UnitFactory, secret: str, username: str | None, password: str, now: datetime) -> str:
    """Make the account, or give it the new password; its user name. username: None exactly for a new password.

    The slow hash runs between two short transactions, and for nobody without a secret that works.
    """
    with units() as unit:
        invitation = find(unit, secret, now)
        known = _get(unit, invitation.user_id).username if invitation.user_id else None
    name = known or username
    if name is None:
        raise InvalidError("username_missing", "Choose a user name.")
    check_strength(password, name)
    hashed = hash_password(password)
    with units() as unit:
        lock(unit, "accounts")
        used = account_store.use_invitation(unit, hash_secret(secret), now)
        if used is None:
            raise _ended()
        _give(unit, used, name, hashed, now)
    return name


def _give(unit: Unit, used: Invitation, name: str, hashed: str, now: datetime) -> None:
    if used.user_id:
        user = _get(unit, used.user_id)
        user.password_hash = hashed
        account_store.delete_sessions(unit, user.id)
        ended = means_of_access.end(unit, user.id, means_of_access.KINDS)
        words = f"{name}; ended: {means_of_access.counted(ended)}" if ended else name
        access_store.audit(unit, now, Actor("user", name, user.id), "change_password", words, user.id)
        return
    taken = access_store.taken_name(unit, name)
    if taken:
        raise ConflictError("username_taken", f"There is an account called {taken} already; choose another user name.")
    user = access_store.add_user(unit, name, hashed, Role(used.role), now)
    access_store.audit(unit, now, Actor("user", name, user.id), "join", f"{name} as {used.role}", user.id)


def change_role(unit: Unit, user_id: UUID, role: Role, now: datetime, *, actor: Actor) -> User:
    """Change an account's role, which applies from its next request on. Raise ConflictError for the last admin."""
    lock(unit, "accounts")
    user = _get(unit, user_id)
    if user.role == role:
        return user
    _keep_an_admin(unit, user)
    if user.role not in channel_store.HAVING:
        channel_store.begin_anew(unit, user.id)
    user.role = role
    access_store.audit(unit, now, actor, "change_role", f"{user.username} to {role}", user.id)
    return user


def remove(unit: Unit, user_id: UUID, now: datetime, *, actor: Actor) -> None:
    """Its sessions and tokens end at once; its campaigns and links stay, and are the admins'. ConflictError for the last admin."""
    lock(unit, "accounts")
    user = _get(unit, user_id)
    _keep_an_admin(unit, user)
    account_store.delete_user(unit, user_id)
    access_store.audit(unit, now, actor, "remove_account", user.username, user_id)


def _keep_an_admin(unit: Unit, user: User) -> None:
    if user.role == Role.ADMIN and account_store.count_admins(unit) == 1:
        message = f"{user.username} is the only admin; make another account admin first."
        raise ConflictError("last_admin", message)


def _get(unit: Unit, user_id: UUID) -> User:
    user = account_store.get_user(unit, user_id)
    if user is None:
        raise NotFoundError("account_not_found", f"There is no account {user_id}.")
    return user


def _ended() -> DeniedError:
    return DeniedError(
        "invitation_ended",
        "This invitation no longer works: it was used, withdrawn, or has expired. Ask for a new one.",
    )
