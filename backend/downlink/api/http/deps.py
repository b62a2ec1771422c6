"""Dependencies of endpoints: a unit of work, the time, the caller, a page."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Query, Request
from starlette.requests import HTTPConnection

from downlink.actions.people import access, shares
from downlink.api.http.cookies import check_origin, cookie_name, share_cookie_name
from downlink.api.schemas.base import Problem
from downlink.domain.errors import DeniedError
from downlink.domain.origin import origin_of
from downlink.domain.people.access import Caller
from downlink.domain.people.permission import TABLE, Verb
from downlink.process.settings import Settings
from downlink.storage.people import owners
from downlink.storage.unit import Unit, UnitFactory


def read_clock() -> datetime:
    return datetime.now(UTC)


# `async`, though nothing is waited for: the framework calls others in a thread, which costs more than they do.
async def _clock(request: Request) -> Callable[[], datetime]:
    clock: Callable[[], datetime] = request.app.state.clock
    return clock


Clock = Annotated[Callable[[], datetime], Depends(_clock)]


async def _now(clock: Clock) -> datetime:
    return clock()


async def _settings(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


async def unit_factory(request: Request) -> UnitFactory:
    units: UnitFactory = request.app.state.units
    return units


def _unit(units: Annotated[UnitFactory, Depends(unit_factory)]) -> Iterator[Unit]:
    with units() as unit:
        yield unit


def _read_unit(units: Annotated[UnitFactory, Depends(unit_factory)]) -> Iterator[Unit]:
    with units(is_read_only=True) as unit:
        yield unit


Config = Annotated[Settings, Depends(_settings)]
Units = Annotated[UnitFactory, Depends(unit_factory)]
Now = Annotated[datetime, Depends(_now)]
# scope "function": committed, and its jobs sent, before the answer leaves
UnitOfWork = Annotated[Unit, Depends(_unit, scope="function")]
ReadUnit = Annotated[Unit, Depends(_read_unit, scope="function")]


def _bearer(request: HTTPConnection) -> str:
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


def credential(request: HTTPConnection, settings: Settings) -> str:
    """The secret that the caller shows: one browser, or one token."""
    return _bearer(request) or request.cookies.get(cookie_name(settings), "")


def find_caller(request: Request, units: Units, settings: Config, now: Now) -> Caller:
    """The one who asks, by bearer token or by session cookie. DeniedError (401) for anyone else."""
    caller = _find_caller(request, units, settings, now)
    request.app.state.confirmed.note(credential(request, settings), account_of(caller))
    return caller


def _find_caller(request: Request, units: UnitFactory, settings: Settings, now: datetime) -> Caller:
    with units() as unit:
        if secret := _bearer(request):
            return access.token_caller(unit, secret, now)
        if cookie := request.cookies.get(cookie_name(settings)):
            check_origin(request, settings)
            return access.session_caller(unit, cookie, now)
    raise _unknown()


def account_of(caller: Caller) -> str:
    """Return the account to which a request's places are counted: its own, however many sessions and tokens it has; each of the
    server's own tokens counts by itself."""
    return f"account {caller.account_id}" if caller.account_id else f"token {caller.id}"


def find_reader(request: Request, campaign_id: UUID, units: Units, settings: Config, now: Now) -> Caller:
    """Return who asks to see this campaign: an account, or else a visitor who has a link to it.

    The cookie of a link is looked at here alone: a route that does not ask for this is closed to visitors, however new it is.
    """
    secret = request.cookies.get(share_cookie_name(settings), "")
    if credential(request, settings):
        try:
            return find_caller(request, units, settings, now)
        except DeniedError:
            if not secret:  # a session that has ended takes nothing away from a link
                raise
    if not secret:
        raise _unknown()
    shares.check_form(secret)
    request.app.state.gate.check(address_of(request), time.monotonic())
    with units(is_read_only=True) as unit:
        return shares.share_caller(unit, secret, now)


def _unknown() -> DeniedError:
    return DeniedError("not_signed_in", "Sign in, or send an API token as `Authorization: Bearer dlk_…`.")


@dataclass(frozen=True, slots=True)
class Permission:
    """The permission that a route asks of its caller. is_own: it changes only the caller's own account."""

    verb: Verb
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class AccountPermission(Permission):
    """The permission of a route for accounts."""

    async def __call__(self, caller: Annotated[Caller, Depends(find_caller, scope="function")]) -> Caller:
        return caller.require(self.verb, is_owner=self.is_own)


def may(verb: Verb, *, is_own: bool = False) -> Any:
    """The dependency that lets only those callers in who may do this, by the table of domain/permission.py."""
    return Depends(AccountPermission(verb, is_own))


Owner = Callable[[Unit, UUID], UUID | None]


@dataclass(frozen=True, slots=True)
class OwnedPermission(Permission):
    """The permission of a route that changes something which belongs to an account."""

    def judge(self, caller: Caller, units: UnitFactory, owner_of: Owner, thing: UUID) -> Caller:
        """The owner is looked up only where the answer depends on it; NotFoundError where there is no such thing."""
        is_owner = False
        caller.require_scopes(TABLE[self.verb].scope)
        if account := caller.confined_to(self.verb):
            with units(is_read_only=True) as unit:
                is_owner = owner_of(unit, thing) == account
        return caller.require(self.verb, is_owner=is_owner)


@dataclass(frozen=True, slots=True)
class OwnCampaignPermission(OwnedPermission):
    def __call__(
        self, campaign_id: UUID, caller: Annotated[Caller, Depends(find_caller, scope="function")], units: Units
    ) -> Caller:
        return self.judge(caller, units, owners.of_campaign, campaign_id)


@dataclass(frozen=True, slots=True)
class OwnRunPermission(OwnedPermission):
    def __call__(
        self, run_id: UUID, caller: Annotated[Caller, Depends(find_caller, scope="function")], units: Units
    ) -> Caller:
        return self.judge(caller, units, owners.of_run, run_id)


@dataclass(frozen=True, slots=True)
class OwnLinkPermission(OwnedPermission):
    def __call__(
        self, link_id: UUID, caller: Annotated[Caller, Depends(find_caller, scope="function")], units: Units
    ) -> Caller:
        return self.judge(caller, units, owners.of_link, link_id)


@dataclass(frozen=True, slots=True)
class OwnChannelPermission(OwnedPermission):
    def __call__(
        self, channel_id: UUID, caller: Annotated[Caller, Depends(find_caller, scope="function")], units: Units
    ) -> Caller:
        return self.judge(caller, units, owners.of_channel, channel_id)


def may_with_campaign(verb: Verb) -> Any:
    """Return the dependency `may` for changes to the campaign that the path names."""
    return Depends(OwnCampaignPermission(verb))


def may_with_run(verb: Verb) -> Any:
    """Return the dependency `may` for changes to the run that the path names: it belongs to its campaign's owner."""
    return Depends(OwnRunPermission(verb))


def may_with_link(verb: Verb) -> Any:
    """Return the dependency `may` for changes to the link that the path names."""
    return Depends(OwnLinkPermission(verb))


def may_with_channel(verb: Verb) -> Any:
    """Return the dependency `may` for changes to the channel that the path names."""
    return Depends(OwnChannelPermission(verb))


def address_of(request: Request) -> str:
    """Return the address of a request's origin, for limits and lists."""
    return request.client.host if request.client else "unix"


def origin(request: Request) -> str:
    """Return the part of its address that one host cannot change: limits of strangers count by it."""
    return origin_of(address_of(request))


@dataclass(frozen=True, slots=True)
class CampaignPermission(Permission):
    """The permission of a route about one campaign, named in its path, which is a visitor's own when the link was made for it."""

    async def __call__(
        self, campaign_id: UUID, caller: Annotated[Caller, Depends(find_reader, scope="function")]
    ) -> Caller:
        return caller.require(self.verb, is_owner=caller.campaign_id == campaign_id)


Reader = Annotated[Caller, may(Verb.READ)]
CampaignReader = Annotated[Caller, Depends(CampaignPermission(Verb.READ_CAMPAIGN))]


async def _stream_slot(request: Request, caller: Reader) -> AsyncIterator[None]:
    with request.app.state.streams.take(account_of(caller), is_admin=caller.is_admin):
        yield


async def _export_slot(request: Request, caller: Reader) -> AsyncIterator[None]:
    with request.app.state.exports.take(account_of(caller), is_admin=caller.is_admin):
        yield


async def _campaign_export_slot(request: Request, caller: CampaignReader) -> AsyncIterator[None]:
    state = request.app.state
    slots = state.visitors_exports if caller.campaign_id else state.exports
    with slots.take(_place(caller), is_admin=caller.is_admin):
        yield


def _place(caller: Caller) -> str:
    """Return to whom places are counted: visitors have their own, so that they take none from those who measure."""
    return str(caller.id) if caller.campaign_id else account_of(caller)


async def _computing_turn(
    request: Request, caller: Annotated[Caller, Depends(find_caller, scope="function")]
) -> AsyncIterator[None]:
    """Hold a turn to compute, for callers with any scope: their permission is the route's own question."""
    await request.body()  # only behind the body is the end of the connection seen
    turn = request.app.state.computing.take(account_of(caller), request.is_disconnected, is_admin=caller.is_admin)
    async with turn:
        yield


async def _campaign_turn(request: Request, caller: CampaignReader) -> AsyncIterator[None]:
    """Always of a visitor: what is stored is recomputed where runs have ended or the analysis is older. Of others where a
    baseline is named."""
    if not (caller.campaign_id or "baseline" in request.query_params):
        yield
        return
    await request.body()
    state = request.app.state
    turns = state.visitors_computing if caller.campaign_id else state.computing
    async with turns.take(_place(caller), request.is_disconnected, is_admin=caller.is_admin):
        yield


async def _hash_turn(request: Request) -> AsyncIterator[None]:
    """Waited for outside of threads: those at work hash, and all others stay free."""
    async with request.app.state.hashing.take(origin(request), request.is_disconnected):
        yield


# A place that is held until the whole answer has left.
StreamSlot = Depends(_stream_slot)
ExportSlot = Depends(_export_slot)
CampaignExportSlot = Depends(_campaign_export_slot)
# A turn at the processor, waited for. Scope "function": it ends when the answer is made, however slowly that is read.
ComputingTurn = Depends(_computing_turn, scope="function")
CampaignTurn = Depends(_campaign_turn, scope="function")
# A turn at the slow hash of a password.
HashTurn = Depends(_hash_turn, scope="function")
Limit = Annotated[int, Query(ge=1, le=500, description="How many at most")]
Offset = Annotated[int, Query(ge=0, le=10_000_000, description="How many to skip")]


def problems(*codes: int) -> dict[int | str, dict[str, Any]]:
    """OpenAPI entries for the error answers of a route."""
    descriptions = {
        400: "The request cannot be read",
        401: "Not signed in",
        403: "Not allowed",
        404: "No such thing",
        409: "Its state does not allow this",
        413: "Too large",
        426: "Another version of the agent protocol is spoken here",
        422: "The input is wrong; `details` says where",
        429: "Too many tries",
        503: "A part of the server is unavailable; try again",
        507: "No room",
    }
    return {code: {"model": Problem, "description": descriptions[code]} for code in (400, *codes, 422, 503)}
