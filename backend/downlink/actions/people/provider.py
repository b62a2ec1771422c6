"""Sign-in through an institute's identity provider: who comes back, as which account, with which role."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from downlink.actions.people.passwords import hash_password
from downlink.actions.people.secrets import VISIT, hash_secret, make_secret
from downlink.domain.errors import ConflictError, DeniedError
from downlink.domain.people.access import Actor, Caller
from downlink.domain.people.permission import Role
from downlink.domain.people.provider import Admission, wanted_name
from downlink.storage.people import access_store, account_store, identity_store
from downlink.storage.tables import Identity, ProviderVisit, User
from downlink.storage.unit import Unit, UnitFactory, lock

if TYPE_CHECKING:  # the libraries of signed tokens take 20 MB, and most servers need none
    from downlink.courier.provider import Provider

VALID = timedelta(minutes=10)
MOST_VISITS = 1_000
MOST_OF_ORIGIN = 20
"""Sign-ins under way of one host; the oldest makes room for another one."""
MOST_SUBJECT = 255
"""OpenID Connect Core, section 2."""


@dataclass(frozen=True, slots=True)
class Departure:
    """url: where the browser goes. browser: the secret that it keeps, and shows when it is back."""

    url: str
    browser: str


def depart(
    units: UnitFactory, provider: Provider, now: datetime, origin: str, connecting: Caller | None = None
) -> Departure:
    """Begin a sign-in. connecting: who is signed in already, and connects the account; the visit ends with that session.

    origin: where from (domain/origin.py). Beyond MOST_VISITS the oldest of the origin that has most makes room. The provider is
    asked outside of a transaction.
    """
    state, nonce, verifier, browser = (make_secret(VISIT) for _ in range(4))
    url = provider.sign_in_url(state, nonce, verifier)
    with units() as unit:
        lock(unit, "visits")
        identity_store.make_room(unit, origin, MOST_OF_ORIGIN, MOST_VISITS, now)
        visit = ProviderVisit(
            state_hash=hash_secret(state),
            browser_hash=hash_secret(browser),
            nonce=nonce,
            verifier=verifier,
            user_id=connecting.user_id if connecting else None,
            session_id=connecting.id if connecting else None,
            origin=origin,
            expires_at=now + VALID,
        )
        identity_store.add_visit(unit, visit)
    return Departure(url, browser)


def arrive(
    units: UnitFactory, provider: Provider, admission: Admission, state: str, browser: str, code: str, now: datetime
) -> tuple[str, bool]:
    """The user name of who has come back, and whether an account was connected. DeniedError for everybody else.

    A state works once, in the browser that it was made for, whatever comes of it.
    """
    with units() as unit:
        visit = identity_store.use_visit(unit, hash_secret(state), now)
    if visit is None or not hmac.compare_digest(visit.browser_hash, hash_secret(browser)):
        message = "This sign-in was begun elsewhere, was used, or is older than ten minutes; sign in again."
        raise DeniedError("provider_state_wrong", message)
    claims = provider.claims_for(code, visit.nonce, visit.verifier, int(now.timestamp()))
    subject = claims["sub"]
    if not isinstance(subject, str) or not 0 < len(subject) <= MOST_SUBJECT or "\0" in subject:
        raise DeniedError("provider_token_invalid", "The identity provider does not say who you are; tell its admin.")
    role = admission.role_of(claims)
    spare = hash_password(make_secret(VISIT)) if visit.user_id is None else ""
    with units() as unit:
        lock(unit, "accounts")
        if visit.user_id is not None:
            return _connect(unit, provider.client.issuer, subject, visit.user_id, now), True
        return _sign_in(unit, provider.client.issuer, claims, role, spare, now), False


def _sign_in(unit: Unit, issuer: str, claims: Mapping[str, Any], role: Role, spare: str, now: datetime) -> str:
    """Find the account by issuer and subject alone: other claims, such as a name or an address, find none."""
    known = identity_store.find(unit, issuer, claims["sub"])
    if known is None:
        return _join(unit, issuer, claims, role, spare, now)
    identity, user = known
    if identity.is_ruled and user.role != role:
        _change_role(unit, user, role, now)
    return user.username


def _join(unit: Unit, issuer: str, claims: Mapping[str, Any], role: Role, spare: str, now: datetime) -> str:
    """A new account, whose password nobody knows."""
    if not access_store.has_user(unit):
        raise DeniedError("not_set_up", "This server has no admin yet; `downlink setup-link` makes the first account.")
    name = wanted_name(claims)
    if taken := access_store.taken_name(unit, name):
        message = (
            f"There is an account called {taken} already. If it is yours, sign in to it with its password and "
            "connect it under Access; else ask an admin."
        )
        raise ConflictError("provider_name_taken", message)
    user = access_store.add_user(unit, name, spare, role, now)
    identity_store.add(unit, _identity(issuer, claims["sub"], user.id, now, is_ruled=True))
    access_store.audit(unit, now, Actor("user", name, user.id), "join", f"{name} as {role}, by {issuer}", user.id)
    return name


def _connect(unit: Unit, issuer: str, subject: str, user_id: UUID, now: datetime) -> str:
    """The account of who is signed in, and has just shown who that is at the provider. Its role stays, and it has one subject."""
    user = account_store.get_user(unit, user_id)
    if user is None:
        raise DeniedError("session_ended", "Your session has ended; sign in again.")
    identity = identity_store.find(unit, issuer, subject)
    if identity and identity[1].id != user_id:
        message = f"At the identity provider you are connected to the account {identity[1].username} already."
        raise ConflictError("provider_connected", message)
    if identity is None:
        if identity_store.of_user(unit, user_id):
            message = "Your account is connected with another identity there; disconnect that one first, under Access."
            raise ConflictError("provider_connected_otherwise", message)
        identity_store.add(unit, _identity(issuer, subject, user_id, now, is_ruled=False))
        who = f"{subject} at {issuer}"
        access_store.audit(unit, now, Actor("user", user.username, user_id), "connect_provider", who, user_id)
    return user.username


def disconnect(unit: Unit, user_id: UUID, now: datetime, *, actor: Actor) -> None:
    """Disconnect an account, which then signs in with its password alone. Raise ConflictError for one that has no password."""
    identities = identity_store.of_user(unit, user_id)
    if any(each.is_ruled for each in identities):
        raise ConflictError(
            "no_password", "This account was made by the identity provider and has no password of its own."
        )
    if identity_store.remove_of(unit, user_id):
        access_store.audit(unit, now, actor, "disconnect_provider", actor.name, user_id)


def _identity(issuer: str, subject: str, user_id: UUID, now: datetime, *, is_ruled: bool) -> Identity:
    return Identity(issuer=issuer, subject=subject, user_id=user_id, is_ruled=is_ruled, created_at=now)


def _change_role(unit: Unit, user: User, role: Role, now: datetime) -> None:
    """Give the role of the current claims; the last admin stays one."""
    if user.role == Role.ADMIN and account_store.count_admins(unit) == 1:
        return
    user.role = role
    provider = Actor("server", "the identity provider")
    access_store.audit(unit, now, provider, "change_role", f"{user.username} to {role}", user.id)
