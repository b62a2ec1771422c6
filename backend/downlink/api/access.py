"""Set-up, sign-in and API tokens."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter, Request, Response

from downlink.actions import access
from downlink.api.cookies import check_origin, clear_session, cookie_name, set_session
from downlink.api.deps import Config, Now, Reader, ReadUnit, UnitOfWork, Units, Writer, problems
from downlink.api.schemas.access import (
    LoginBody,
    Session,
    SetupBody,
    SetupState,
    Token,
    TokenBody,
    TokenCreated,
    TokenList,
)
from downlink.storage import access as rows

router = APIRouter(tags=["access"])


@router.get("/setup", responses=problems())
def setup_state(unit: ReadUnit) -> SetupState:
    """Whether the first-run set-up is still to be done."""
    return SetupState(is_needed=not rows.has_user(unit))


@router.post("/setup", status_code=201, responses=problems(403, 409, 429))
def set_up(
    body: SetupBody, request: Request, response: Response, unit: UnitOfWork, settings: Config, now: Now
) -> Session:
    """Make the admin with the token of the set-up link, and sign in."""
    access.set_up(unit, body.token, body.username, body.password, now)
    return _sign_in(unit, body.username, response, settings, now)


@router.post("/login", responses=problems(401, 403, 429))
def login(body: LoginBody, request: Request, response: Response, units: Units, settings: Config, now: Now) -> Session:
    """Sign in; the answer sets the session cookie."""
    check_origin(request, settings) if request.headers.get("origin") else None
    access.check_password(units, body.username, body.password, _address(request), now)
    with units() as unit:
        return _sign_in(unit, body.username, response, settings, now)


@router.post("/logout", status_code=204, responses=problems(401, 403))
def logout(caller: Reader, request: Request, response: Response, unit: UnitOfWork, settings: Config) -> None:
    """End this session, at once and on the server."""
    if secret := request.cookies.get(cookie_name(settings)):
        access.end_session(unit, secret)
    clear_session(response, settings)


@router.get("/session", responses=problems(401))
def session(caller: Reader) -> Session:
    """Who is calling."""
    return Session.model_validate(caller)


@router.get("/tokens", responses=problems(401))
def list_tokens(caller: Reader, unit: ReadUnit) -> TokenList:
    tokens = [Token.model_validate(row) for row in rows.list_tokens(unit)]
    return TokenList(items=tokens, total=len(tokens))


@router.post("/tokens", status_code=201, responses=problems(401, 403))
def create_token(body: TokenBody, caller: Writer, unit: UnitOfWork, now: Now) -> TokenCreated:
    """Make an API token; its secret is in this answer and nowhere else."""
    row, secret = access.make_token(unit, body.name, body.scopes, now, body.expires_in_days, actor=caller.username)
    return TokenCreated(**Token.model_validate(row).model_dump(), secret=secret)


@router.delete("/tokens/{token_id}", status_code=204, responses=problems(401, 403, 404))
def revoke_token(token_id: UUID, caller: Writer, unit: UnitOfWork, now: Now) -> None:
    """Revoke a token; its next request is refused."""
    access.revoke_token(unit, token_id, now, actor=caller.username)


def _sign_in(unit: UnitOfWork, username: str, response: Response, settings: Config, now: Now) -> Session:
    caller, secret = access.open_session(unit, username, now, settings.session_hours)
    set_session(response, settings, secret)
    return Session.model_validate(caller)


def _address(request: Request) -> str:
    return request.client.host if request.client else "unix"
