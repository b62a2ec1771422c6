"""Set-up, sign-in, API tokens: who may do what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Literal
from uuid import UUID

from pwdlib import PasswordHash

from downlink.actions.secrets import API_TOKEN, PREFIX_SHOWN, SESSION, SETUP, hash_secret, make_secret
from downlink.domain.errors import ConflictError, DeniedError, InvalidError, NotFoundError
from downlink.settings import Settings
from downlink.storage import access as rows
from downlink.storage.tables import ApiToken
from downlink.storage.unit import Unit, UnitFactory, lock, open_units

SETUP_VALID = timedelta(hours=24)
FAILURE_WINDOW = timedelta(minutes=15)
FAILURES_ALLOWED = 10
MIN_DISTINCT_CHARACTERS = 5


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. A session may do everything, a token what its scopes say."""

    username: str
    kind: Literal["session", "token"]
    scopes: tuple[str, ...]
    expires_at: datetime | None


@cache
def _passwords() -> PasswordHash:
    return PasswordHash.recommended()


@cache
def _no_ones_hash() -> str:
    return _passwords().hash(make_secret(SESSION))


def ensure_setup_token(unit: Unit, now: datetime) -> str | None:
    """A fresh first-run token, in place of any earlier one; None when there is an admin."""
    if rows.has_user(unit):
        return None
    token = make_secret(SETUP)
    rows.replace_setup_token(unit, hash_secret(token), now + SETUP_VALID)
    return token


def set_up(unit: Unit, token: str, username: str, password: str, now: datetime) -> None:
    """Make the admin. The token works once, and only while there is no admin."""
    lock(unit, "setup")
    if rows.has_user(unit):
        raise ConflictError("already_set_up", "There is an admin already; sign in.")
    if not rows.use_setup_token(unit, hash_secret(token), now):
        raise DeniedError(
            "setup_token_wrong", "This set-up link is not valid (any more); `downlink setup-link` prints a fresh one."
        )
    if len(set(password)) < MIN_DISTINCT_CHARACTERS or username.lower() in password.lower():
        raise InvalidError(
            "password_weak", "Choose a password with more different characters, and without the user name in it."
        )
    rows.add_user(unit, username, _passwords().hash(password), now)
    rows.audit(unit, now, username, "set_up", "admin")


def check_password(units: UnitFactory, username: str, password: str, address: str, now: datetime) -> None:
    """DeniedError unless the password is right. Failures are counted per user and per address, and then refused for a while.

    The slow hash runs between two short transactions: it must not hold a connection.
    """
    keys = (f"user:{username}", f"address:{address}")
    with units() as unit:
        if rows.count_failures(unit, keys, now - FAILURE_WINDOW) >= FAILURES_ALLOWED:
            raise DeniedError(
                "too_many_tries", "Too many failed sign-ins; wait a quarter of an hour.", {"retry_after_s": 900}
            )
        user = rows.find_user(unit, username)
    # An unknown name costs the same time as a wrong password.
    is_right = _passwords().verify(password, user.password_hash if user else _no_ones_hash())
    if user is None or not is_right:
        with units() as unit:
            rows.add_failure(unit, keys, now, FAILURE_WINDOW)
        raise DeniedError("login_wrong", "User name or password is wrong.")


def open_session(unit: Unit, username: str, now: datetime, hours: int) -> tuple[Caller, str]:
    """A new session of a user whose password has been checked, and its secret."""
    user = rows.find_user(unit, username)
    if user is None:
        raise DeniedError("login_wrong", "User name or password is wrong.")
    secret, expires_at = make_secret(SESSION), now + timedelta(hours=hours)
    rows.add_session(unit, user.id, hash_secret(secret), now, expires_at)
    return Caller(username, "session", ("read", "write"), expires_at), secret


def end_session(unit: Unit, secret: str) -> None:
    rows.end_session(unit, hash_secret(secret))


def session_caller(unit: Unit, secret: str, now: datetime) -> Caller:
    found = rows.find_session(unit, hash_secret(secret), now)
    if found is None:
        raise DeniedError("session_ended", "Your session has ended; sign in again.")
    session, user = found
    return Caller(user.username, "session", ("read", "write"), session.expires_at)


def token_caller(unit: Unit, secret: str, now: datetime) -> Caller:
    token = rows.find_token(unit, hash_secret(secret))
    if token is None or (token.expires_at is not None and token.expires_at <= now):
        raise DeniedError("token_wrong", "This API token is not valid (any more); make another one.")
    rows.touch_token(unit, token.id, now)
    return Caller(token.name, "token", tuple(token.scopes), token.expires_at)


def require_scope(caller: Caller, scope: str) -> Caller:
    if scope not in caller.scopes:
        raise DeniedError("scope_missing", f"This API token may not do this: it lacks the scope `{scope}`.")
    return caller


def make_token(
    unit: Unit, name: str, scopes: Sequence[str], now: datetime, expires_in_days: int | None, *, actor: str
) -> tuple[ApiToken, str]:
    """A new API token and its secret, which is kept as a hash alone."""
    secret = make_secret(API_TOKEN)
    token = ApiToken(
        name=name,
        prefix=secret[:PREFIX_SHOWN],
        secret_hash=hash_secret(secret),
        scopes=sorted(set(scopes)),
        created_by=actor,
        created_at=now,
        expires_at=now + timedelta(days=expires_in_days) if expires_in_days else None,
    )
    rows.add_token(unit, token)
    rows.audit(unit, now, actor, "create_token", name)
    return token, secret


def revoke_token(unit: Unit, token_id: UUID, now: datetime, *, actor: str) -> None:
    name = rows.delete_token(unit, token_id)
    if name is None:
        raise NotFoundError("token_not_found", f"There is no API token {token_id}.")
    rows.audit(unit, now, actor, "revoke_token", name)


def setup_link(settings: Settings) -> str | None:
    """For the command line: the link under which the admin is made; None when there is one."""
    with _units(settings) as unit:
        token = ensure_setup_token(unit, datetime.now(UTC))
    # In the fragment, which browsers send to no server and write into no log.
    return f"{settings.public_url}/setup#{token}" if token else None


def create_token(settings: Settings, name: str) -> str:
    """For the command line: a new API token that may read and write."""
    with _units(settings) as unit:
        return make_token(unit, name, ("read", "write"), datetime.now(UTC), None, actor="command line")[1]


@contextmanager
def _units(settings: Settings) -> Iterator[Unit]:
    units = open_units(settings.database_url.get_secret_value(), 1)
    try:
        with units() as unit:
            yield unit
    finally:
        units.close()
