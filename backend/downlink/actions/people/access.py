"""Set-up, sign-in, sessions, API tokens: who may do what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from uuid import UUID

from downlink.actions.people.attempt_limit import WINDOW, counted
from downlink.actions.people.passwords import check_strength, hash_password, is_password
from downlink.actions.people.secrets import API_TOKEN, PREFIX_SHOWN, SESSION, SETUP, hash_secret, make_secret
from downlink.domain.errors import ConflictError, DeniedError, InvalidError, NotFoundError
from downlink.domain.origin import origin_of
from downlink.domain.people.access import COMMAND_LINE, Actor, Caller
from downlink.domain.people.permission import SCOPES, Role, Verb
from downlink.domain.text import is_one_line
from downlink.process.settings import Settings
from downlink.storage.people import access_store, means_of_access
from downlink.storage.tables import ApiToken, Session, User
from downlink.storage.unit import Unit, UnitFactory, lock, open_units

SETUP_VALID = timedelta(hours=24)
FAILURES_PER_ADDRESS = 10
GUESSED_FAILURES = 100
"""Failures of one account within the window, from all addresses together, from which on somebody must be guessing."""
FAILURES_WHILE_GUESSED = 2
"""Failures of one address from then on, other than those at which the user is signed in. The owner is never shut out by strangers."""
SHOWN_BROWSER_CHARS = 200
MOST_NAME = 100
MOST_TOKENS = 25


def ensure_setup_token(unit: Unit, now: datetime) -> str | None:
    """A fresh first-run token, in place of any earlier one; None when there is an admin."""
    if access_store.has_user(unit):
        return None
    token = make_secret(SETUP)
    access_store.replace_setup_token(unit, hash_secret(token), now + SETUP_VALID)
    return token


def set_up(unit: Unit, token: str, username: str, password: str, now: datetime) -> None:
    """Make the admin. The token works once, and only while there is no admin."""
    lock(unit, "setup")
    if access_store.has_user(unit):
        raise ConflictError("already_set_up", "The admin's account already exists; sign in.")
    if not access_store.use_setup_token(unit, hash_secret(token), now):
        raise DeniedError(
            "setup_token_wrong", "This set-up link is no longer valid; `downlink setup-link` prints a new one."
        )
    check_strength(password, username)
    user = access_store.add_user(unit, username, hash_password(password), Role.ADMIN, now)
    access_store.audit(unit, now, Actor("user", username, user.id), "set_up", username, user.id)


def check_password(units: UnitFactory, username: str, password: str, address: str, now: datetime) -> None:
    """DeniedError unless the password is right. Failures are counted per address (origin_of), and then refused for a while.

    The slow hash runs between two short transactions: it must not hold a connection.
    """
    origin, everywhere = origin_of(address), f"user:{username}"
    allowed: dict[str, int | None] = {f"address:{origin}": FAILURES_PER_ADDRESS}
    with units() as unit:
        user = access_store.find_user(unit, username)
        if origin not in map(origin_of, access_store.session_addresses(unit, username, now)):
            is_guessed = access_store.count_tries(unit, everywhere, now - WINDOW) >= GUESSED_FAILURES
            allowed |= {everywhere: None, f"{everywhere} from {origin}": FAILURES_WHILE_GUESSED if is_guessed else None}
    with counted(units, allowed, now):
        if not is_password(password, user.password_hash if user else None):
            raise DeniedError("login_wrong", "User name or password is wrong.")


def open_session(
    unit: Unit, username: str, now: datetime, hours: int, address: str, browser: str
) -> tuple[Caller, str]:
    """A new session of a user whose password has been checked, and its secret."""
    user = access_store.find_user(unit, username)
    if user is None:
        raise DeniedError("login_wrong", "User name or password is wrong.")
    secret = make_secret(SESSION)
    session = Session(
        user_id=user.id,
        secret_hash=hash_secret(secret),
        created_at=now,
        expires_at=now + timedelta(hours=hours),
        address=address,
        browser=browser[:SHOWN_BROWSER_CHARS],
    )
    access_store.add_session(unit, session, now)
    return _caller(session, user), secret


def end_session(unit: Unit, secret: str) -> None:
    access_store.end_session(unit, hash_secret(secret))


def revoke_session(unit: Unit, session_id: UUID, now: datetime, *, caller: Caller) -> None:
    """End a session, of the caller's account or, for an admin, of any; its next request is refused."""
    if access_store.delete_session(unit, session_id, caller.confined_to(Verb.MANAGE_TOKENS)) is None:
        raise NotFoundError("session_not_found", f"There is no session {session_id}; it may already have ended.")
    access_store.audit(unit, now, caller.actor, "revoke_session", str(session_id), session_id)


def change_password(
    units: UnitFactory, caller: Caller, current: str, password: str, address: str, now: datetime
) -> None:
    """Give the caller, who shows the current password, a new one. End all other sessions, and what was handed out and not used yet.

    `means.list_means` lists what lives longer; `end_means` ends it.
    """
    if caller.user_id is None:
        raise DeniedError("session_needed", "A password is changed in the dashboard, not with an API token.")
    check_password(units, caller.username, current, address, now)
    check_strength(password, caller.username)
    hashed = hash_password(password)
    with units() as unit:
        user = access_store.find_user(unit, caller.username)
        if user is None:
            raise DeniedError("session_ended", "Your session has ended; sign in again.")
        user.password_hash = hashed
        access_store.delete_other_sessions(unit, user.id, caller.id)
        means_of_access.end(unit, user.id, means_of_access.OPEN)
        access_store.audit(unit, now, caller.actor, "change_password", user.username, user.id)


def end_means(unit: Unit, caller: Caller, kinds: Sequence[str], now: datetime) -> dict[str, int]:
    """End all means of access of these kinds that the caller's account has made; return how many of each there were."""
    if caller.user_id is None:
        raise DeniedError("session_needed", "Access is ended in the dashboard, not with an API token.")
    ended = means_of_access.end(unit, caller.user_id, kinds)
    if ended:
        access_store.audit(unit, now, caller.actor, "end_access", means_of_access.counted(ended), caller.user_id)
    return ended


def session_caller(unit: Unit, secret: str, now: datetime) -> Caller:
    match = access_store.find_session(unit, hash_secret(secret), now)
    if match is None:
        raise DeniedError("session_ended", "Your session has ended; sign in again.")
    return _caller(*match)


def _caller(session: Session, user: User) -> Caller:
    return Caller(user.username, "session", Role(user.role), SCOPES, session.expires_at, session.id, user.id)


def token_caller(unit: Unit, secret: str, now: datetime) -> Caller:
    match = access_store.find_token(unit, hash_secret(secret))
    if match is None or (match[0].expires_at is not None and match[0].expires_at <= now):
        raise DeniedError("token_wrong", "This API token is no longer valid; create a new one.")
    token, role = match
    access_store.touch_token(unit, token.id, now)
    return Caller(token.name, "token", role, tuple(token.scopes), token.expires_at, token.id, token_of=token.user_id)


def make_token(
    unit: Unit,
    name: str,
    scopes: Sequence[str],
    now: datetime,
    expires_in_days: int | None,
    *,
    actor: Actor,
    maker: Caller | None = None,
) -> tuple[ApiToken, str]:
    """Make an API token and its secret, which is kept as a hash alone. It has the role of the account, and ends with it.

    One that a token makes expires with it at the latest, and ends when that is revoked. ConflictError beyond MOST_TOKENS.
    """
    account_id = maker.account_id if maker else None
    if account_id and len(access_store.list_tokens(unit, account_id)) >= MOST_TOKENS:
        raise ConflictError("tokens_full", f"The account has {MOST_TOKENS} API tokens already; revoke one first.")
    parent = maker if maker and maker.kind == "token" else None
    ends = [now + timedelta(days=expires_in_days)] if expires_in_days else []
    ends += [parent.expires_at] if parent and parent.expires_at else []
    secret = make_secret(API_TOKEN)
    token = ApiToken(
        name=name,
        prefix=secret[:PREFIX_SHOWN],
        secret_hash=hash_secret(secret),
        scopes=[scope for scope in SCOPES if scope in scopes],
        user_id=account_id,
        created_by=f"{actor.kind} {actor.name}",
        created_at=now,
        expires_at=min(ends, default=None),
        parent_id=parent.id if parent else None,
    )
    access_store.add_token(unit, token)
    access_store.audit(unit, now, actor, "create_token", name, token.id)
    return token, secret


def revoke_token(unit: Unit, token_id: UUID, now: datetime, *, caller: Caller) -> None:
    """Revoke a token of the caller's account or, for an admin, of any."""
    name = access_store.delete_token(unit, token_id, caller.confined_to(Verb.MANAGE_TOKENS))
    if name is None:
        raise NotFoundError("token_not_found", f"There is no API token {token_id}.")
    access_store.audit(unit, now, caller.actor, "revoke_token", name, token_id)


def setup_link(settings: Settings) -> str | None:
    """Return the link under which the admin is created, for the command line; None if there is one."""
    with _units(settings) as unit:
        token = ensure_setup_token(unit, datetime.now(UTC))
    # In the fragment, which browsers send to no server and write into no log.
    return f"{settings.public_url}/setup#{token}" if token else None


def create_token(settings: Settings, name: str, scopes: Sequence[str], days: int) -> str:
    """Create an API token, for the command line."""
    if not 1 <= len(name.strip()) <= MOST_NAME or not is_one_line(name):
        message = f"A token's name has 1 to {MOST_NAME} characters on one line: say what it is for."
        raise InvalidError("name_invalid", message)
    with _units(settings) as unit:
        return make_token(unit, name, scopes, datetime.now(UTC), days, actor=COMMAND_LINE)[1]


@contextmanager
def _units(settings: Settings) -> Iterator[Unit]:
    units = open_units(settings.database, 1)
    try:
        with units() as unit:
            yield unit
    finally:
        units.close()
