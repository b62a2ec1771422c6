"""Set-up, sign-in and API tokens."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Request, Response

from downlink.actions.people import access
from downlink.actions.people.access import FAILURES_PER_ADDRESS
from downlink.actions.people.attempt_limit import counted
from downlink.api.http.cookies import check_origin, clear_session, cookie_name, set_session
from downlink.api.http.deps import (
    Config,
    HashTurn,
    Now,
    Reader,
    ReadUnit,
    UnitOfWork,
    Units,
    address_of,
    may,
    origin,
    problems,
)
from downlink.api.schemas.access import (
    LoginBody,
    Means,
    MeansBody,
    MeansEnded,
    MeansList,
    OpenSession,
    PasswordBody,
    Session,
    SessionList,
    SetupBody,
    SetupState,
    Token,
    TokenBody,
    TokenCreated,
    TokenList,
)
from downlink.domain.people.access import Caller
from downlink.domain.people.permission import Verb
from downlink.storage.people import access_store, means_of_access
from downlink.storage.tables import Session as SessionRow
from downlink.storage.tables import User
from downlink.storage.unit import Unit

router = APIRouter(tags=["access"])
TokenManager = Annotated[Caller, may(Verb.MANAGE_TOKENS, is_own=True)]
Own = Annotated[Caller, may(Verb.CHANGE_ACCOUNT, is_own=True)]


@router.get("/setup", responses=problems())
def setup_state(unit: ReadUnit) -> SetupState:
    """Return whether the first-run set-up is still to be done."""
    return SetupState(is_needed=not access_store.has_user(unit))


@router.post("/setup", status_code=201, dependencies=[HashTurn], responses=problems(403, 409, 429))
def set_up(body: SetupBody, request: Request, response: Response, units: Units, settings: Config, now: Now) -> Session:
    """Create the admin account with the token of the set-up link, and sign in."""
    with counted(units, {f"setup:{origin(request)}": FAILURES_PER_ADDRESS}, now), units() as unit:
        access.set_up(unit, body.token, body.username, body.password, now)
        return sign_in(unit, body.username, request, response, settings, now)


@router.post("/login", dependencies=[HashTurn], responses=problems(401, 403, 429))
def login(body: LoginBody, request: Request, response: Response, units: Units, settings: Config, now: Now) -> Session:
    """Sign in; the answer sets the session cookie."""
    check_origin(request, settings) if request.headers.get("origin") else None
    access.check_password(units, body.username, body.password, address_of(request), now)
    with units() as unit:
        return sign_in(unit, body.username, request, response, settings, now)


@router.post("/logout", status_code=204, responses=problems(401, 403))
def logout(caller: Reader, request: Request, response: Response, unit: UnitOfWork, settings: Config) -> None:
    """End this session on the server at once."""
    if secret := request.cookies.get(cookie_name(settings)):
        access.end_session(unit, secret)
    clear_session(response, settings)


@router.get("/session", responses=problems(401))
def session(caller: Reader) -> Session:
    """Return the caller's identity, role and scopes."""
    return Session.model_validate(caller)


@router.post("/password", status_code=204, dependencies=[HashTurn], responses=problems(401, 403, 429))
def change_password(
    body: PasswordBody,
    caller: Own,
    request: Request,
    units: Units,
    now: Now,
) -> None:
    """Change your password; every other session of the account ends, with the unused links and tokens it created.

    /account/access lists what else gives access. Not for API tokens.
    """
    access.change_password(units, caller, body.current, body.password, address_of(request), now)


@router.get("/account/access", responses=problems(401, 403))
def list_means(caller: TokenManager, unit: ReadUnit, now: Now) -> MeansList:
    """List what your sessions and tokens created that gives access. Sessions have their own list."""
    means = means_of_access.list_means(unit, caller.account_id, now) if caller.account_id else []
    items = [Means.model_validate(each) for each in means]
    return MeansList(items=items, total=len(items))


@router.post("/account/access/end", responses=problems(401, 403))
def end_means(body: MeansBody, caller: Own, unit: UnitOfWork, now: Now) -> MeansEnded:
    """End all means of access of these kinds at once, for example after a new password. Not for API tokens."""
    return MeansEnded(ended=access.end_means(unit, caller, body.kinds, now))


@router.get("/sessions", responses=problems(401, 403))
def list_sessions(caller: TokenManager, unit: ReadUnit, now: Now) -> SessionList:
    """List sessions, newest first: admins see all, other users their own."""
    rows = access_store.list_sessions(unit, now, caller.confined_to(Verb.MANAGE_TOKENS))
    items = [_open_session(session, user, caller) for session, user in rows]
    return SessionList(items=items, total=len(items))


@router.delete("/sessions/{session_id}", status_code=204, responses=problems(401, 403, 404))
def revoke_session(session_id: UUID, caller: TokenManager, unit: UnitOfWork, now: Now) -> None:
    """End one of your sessions, or as an admin any; its next request is refused."""
    access.revoke_session(unit, session_id, now, caller=caller)


@router.get("/tokens", responses=problems(401, 403))
def list_tokens(caller: TokenManager, unit: ReadUnit) -> TokenList:
    """List tokens by name, scope and first characters, without their secrets: admins see all, other users their own."""
    rows = access_store.list_tokens(unit, caller.confined_to(Verb.MANAGE_TOKENS))
    tokens = [Token.model_validate(row) for row in rows]
    return TokenList(items=tokens, total=len(tokens))


@router.post("/tokens", status_code=201, responses=problems(401, 403, 409))
def create_token(body: TokenBody, caller: TokenManager, unit: UnitOfWork, now: Now) -> TokenCreated:
    """Create an API token with at most the caller's scopes. It never exceeds the account's rights, and ends with the account.

    Only this answer holds its secret.
    """
    caller.require_scopes(*body.scopes)
    row, secret = access.make_token(
        unit, body.name, body.scopes, now, body.expires_in_days, actor=caller.actor, maker=caller
    )
    return TokenCreated(**Token.model_validate(row).model_dump(), secret=secret)


@router.delete("/tokens/{token_id}", status_code=204, responses=problems(401, 403, 404))
def revoke_token(token_id: UUID, caller: TokenManager, unit: UnitOfWork, now: Now) -> None:
    """Revoke one of your tokens, or as an admin any; its next request is refused."""
    access.revoke_token(unit, token_id, now, caller=caller)


def sign_in(
    unit: Unit, username: str, request: Request, response: Response, settings: Config, now: datetime
) -> Session:
    """Open a session of a user who has shown who it is, and set its cookie."""
    browser = request.headers.get("user-agent", "")
    caller, secret = access.open_session(unit, username, now, settings.session_hours, address_of(request), browser)
    set_session(response, settings, secret)
    return Session.model_validate(caller)


def _open_session(session: SessionRow, user: User, caller: Caller) -> OpenSession:
    return OpenSession(
        id=session.id,
        username=user.username,
        address=session.address,
        browser=session.browser,
        created_at=session.created_at,
        expires_at=session.expires_at,
        is_own=session.id == caller.id,
    )
