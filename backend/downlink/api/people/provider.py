"""Sign-in through an institute's identity provider (OpenID Connect)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from downlink.actions.people import access
from downlink.actions.people import provider as actions
from downlink.api.http.cookies import clear_visit, set_visit, visit_cookie_name
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
from downlink.api.people.access import sign_in
from downlink.api.schemas.provider import ConnectBody, Connected, Connection, ProviderState, Way
from downlink.domain.errors import DeniedError, DownlinkError, NotFoundError
from downlink.domain.people.access import Caller
from downlink.domain.people.permission import Verb
from downlink.storage.people import identity_store

if TYPE_CHECKING:  # the libraries of signed tokens take 20 MB, and most servers need none
    from downlink.courier.provider import Provider

router = APIRouter(tags=["access"])
Own = Annotated[Caller, may(Verb.CHANGE_ACCOUNT, is_own=True)]
Word = Annotated[str, Query(max_length=2000)]
_AWAY: dict[int | str, dict[str, Any]] = {303: {"description": "To the provider, or back to the dashboard"}}


def _provider(request: Request) -> Provider:
    provider: Provider | None = request.app.state.provider
    if provider is None:
        raise NotFoundError("provider_off", "This server has no sign-in by an identity provider; use a password.")
    return provider


@router.get("/provider", responses=problems())
def provider_state(request: Request, settings: Config) -> ProviderState:
    """Return whether sign-in by an identity provider is set up, and the label of its button."""
    is_on = request.app.state.provider is not None
    return ProviderState(is_on=is_on, name=settings.oidc_name if is_on else None)


@router.get(
    "/provider/start", status_code=303, response_class=RedirectResponse, responses={**problems(404, 429), **_AWAY}
)
def start(request: Request, units: Units, settings: Config, now: Now) -> RedirectResponse:
    """Redirect to the provider's page. The address holds a state, a nonce and a code challenge bound to this browser."""
    provider = _provider(request)
    request.app.state.gate.check(address_of(request), time.monotonic())
    try:
        way = actions.depart(units, provider, now, origin(request))
    except DownlinkError as error:
        return _back(error)
    answer = RedirectResponse(way.url, 303)
    set_visit(answer, settings, way.browser)
    return answer


@router.get(
    "/provider/callback", status_code=303, response_class=RedirectResponse, responses={**problems(404, 429), **_AWAY}
)
def callback(
    request: Request, units: Units, settings: Config, now: Now, state: Word = "", code: Word = "", error: Word = ""
) -> RedirectResponse:
    """Receive the browser from the provider: signed in, or sent to the sign-in page with an error."""
    provider = _provider(request)
    request.app.state.gate.check(address_of(request), time.monotonic())
    browser = request.cookies.get(visit_cookie_name(settings), "")
    try:
        if error or not code:
            raise DeniedError("provider_cancelled", "The identity provider let nobody in; sign in again.")
        username, is_connected = actions.arrive(units, provider, settings.admission, state, browser, code, now)
    except DownlinkError as refusal:
        return _back(refusal)
    answer = RedirectResponse("/tokens" if is_connected else "/", 303)
    if not is_connected:
        with units() as unit:
            sign_in(unit, username, request, answer, settings, now)
    clear_visit(answer, settings)
    return answer


@router.post("/provider/connection", dependencies=[HashTurn], responses=problems(401, 403, 404, 409, 429))
def connect(
    body: ConnectBody, caller: Own, request: Request, response: Response, units: Units, settings: Config, now: Now
) -> Way:
    """Connect your account: open `url` in this browser. The password is required, since a connection outlives the session."""
    provider = _provider(request)
    if caller.user_id is None:
        raise DeniedError("session_needed", "An account is connected in the dashboard, not with an API token.")
    access.check_password(units, caller.username, body.password, address_of(request), now)
    way = actions.depart(units, provider, now, origin(request), caller)
    set_visit(response, settings, way.browser)
    return Way(url=way.url)


@router.get("/provider/connection", responses=problems(401))
def connection(caller: Reader, unit: ReadUnit) -> Connection:
    """Return whether your account is connected with the provider."""
    identities = identity_store.of_user(unit, caller.account_id) if caller.account_id else ()
    return Connection(
        is_connected=bool(identities),
        has_password=not any(each.is_ruled for each in identities),
        identities=[Connected.model_validate(each) for each in identities],
    )


@router.delete("/provider/connection", status_code=204, responses=problems(401, 403, 409))
def disconnect(caller: Own, unit: UnitOfWork, now: Now) -> None:
    """Disconnect your account: sign in with the password alone from now on. 409 `no_password` for an account without one."""
    if caller.user_id is None:
        raise DeniedError("session_needed", "An account is disconnected in the dashboard, not with an API token.")
    actions.disconnect(unit, caller.user_id, now, actor=caller.actor)


def _back(error: DownlinkError) -> RedirectResponse:
    """Redirect to the sign-in page, which has the sentence for this code."""
    return RedirectResponse(f"/login#refused={error.code}", 303)
