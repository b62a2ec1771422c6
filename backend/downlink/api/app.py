"""The HTTP application: routers, one problem shape for every error, security headers, the dashboard."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import HTTPConnection
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Scope

from downlink.api.campaigns import annotations as annotating
from downlink.api.campaigns import campaigns, imports, reanalysis, retention, triggers
from downlink.api.fleet import agent_channel, agent_files, agents
from downlink.api.fleet.idle_agents import Resting
from downlink.api.fleet.known_agents import Known
from downlink.api.http import docs_page, health
from downlink.api.http.contract import complete
from downlink.api.http.dashboard import mount_dashboard
from downlink.api.http.deps import credential, read_clock
from downlink.api.http.disk_room import Room
from downlink.api.http.figures import ServerCollector, watch_process
from downlink.api.http.gate import Gate
from downlink.api.http.headers import SecurityHeaders
from downlink.api.http.intake import MIB, Intake
from downlink.api.http.linger import Linger
from downlink.api.http.pot import Pot
from downlink.api.http.problems import add_problem_handlers
from downlink.api.http.request_log import Figures, Observe
from downlink.api.http.sheets import Sheets
from downlink.api.http.slots import Slots, Turns
from downlink.api.http.waiters import Waiting
from downlink.api.links import links, observations, paths, weather
from downlink.api.notices import channels
from downlink.api.people import access, accounts, provider, shares
from downlink.api.people.known_callers import Confirmed
from downlink.api.results import comparison, days, judgements, reports, sweeps
from downlink.api.runs import live, runs
from downlink.api.traces import samples
from downlink.process.settings import Settings
from downlink.process.spans import with_spans
from downlink.storage.traces.objects import TraceStore
from downlink.storage.unit import open_units

if TYPE_CHECKING:  # the libraries of signed tokens take 20 MB, and most servers need none
    from downlink.courier.provider import Provider

PREFIX = "/api/v1"
PARTS = (
    access,
    accounts,
    provider,
    agent_files,
    agents,
    links,
    paths,
    campaigns,
    comparison,
    runs,
    samples,
    days,
    annotating,
    observations,
    shares,
    channels,
    retention,
    reanalysis,
    reports,
    judgements,
    imports,
    sweeps,
    triggers,
    weather,
    live,
    agent_channel,
    docs_page,
)
GZIP_FROM_BYTES = 1_000
GZIP_LEVEL = 5
PACKED = (*DEFAULT_EXCLUDED_CONTENT_TYPES, "application/vnd.apache.parquet")  # event streams are among the defaults


_DOCUMENT = threading.Lock()


class Application(FastAPI):
    """Wrapped from outside, so that the framework's own answers, those to unexpected errors too, are treated as any other."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document with the parts that do not follow from types alone. It is made once, however many ask for it
        meanwhile."""
        with _DOCUMENT:
            return self._document()

    def _document(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            parts = [(PREFIX, part.router) for part in PARTS] + [("", health.router)]
            own = [
                (before + route.path, route)
                for before, router in parts
                for route in router.routes
                if isinstance(route, APIRoute)
            ]
            self.openapi_schema = complete(super().openapi(), own)
        return self.openapi_schema

    def _find_caller(self, scope: Scope) -> str | None:
        """Return whose credential a request shows, where the database has confirmed it lately."""
        caller: str | None = self.state.confirmed.find(credential(HTTPConnection(scope), self.state.settings))
        return caller

    def build_middleware_stack(self) -> ASGIApp:
        settings: Settings = self.state.settings
        app: ASGIApp = Intake(
            super().build_middleware_stack(), stalled_s=settings.stalled_s, find_caller=self._find_caller
        )
        app = Sheets(app)
        if names := [name.strip() for name in settings.allowed_hosts.split(",") if name.strip()]:
            app = TrustedHostMiddleware(app, names, www_redirect=False)
        app = GZipMiddleware(app, GZIP_FROM_BYTES, GZIP_LEVEL, exclude_content_types=PACKED)
        app = SecurityHeaders(app, is_https=settings.is_https)
        return Linger(with_spans(Observe(app, figures=self.state.figures), settings))


def create_app(settings: Settings) -> FastAPI:
    """The application over one database. It sends no jobs: rows say what is due, and the tick finds them within a second."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        state = app.state
        tasks = [
            asyncio.create_task(state.waiting.follow(state.units)),
            asyncio.create_task(state.resting.write(state.units, state.clock)),
        ]
        yield
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await state.resting.write_once(state.units, state.clock())
        state.units.close()

    app = Application(
        title="Downlink",
        version="1",
        description="Plans TCP download experiments over satellite links, runs them, and reports on them.",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        generate_unique_id_function=_own_name,
    )
    app.state.settings = settings
    app.state.units = open_units(settings.database, settings.database_pool, store=TraceStore.of(settings))
    app.state.clock = read_clock
    app.state.room = Room(settings, app.state.units)
    app.state.provider = _provider_of(settings)
    app.state.figures = Figures()
    app.state.is_stopping = False
    app.state.streams = Slots("event streams", in_all=256, per_caller=32)
    app.state.exports = Slots("downloads", in_all=16, per_caller=4)
    app.state.visitors_exports = Slots("downloads", in_all=4, per_caller=2)
    # A page of samples asks for three at once. Half of the threads that answer requests stay free for all else.
    app.state.computing = Turns("computed answers", in_all=16, per_caller=4, waiting=64)
    # A link is one caller, however many have it: their pages wait together.
    app.state.visitors_computing = Turns("computed answers", in_all=2, per_caller=1, waiting=64)
    app.state.importing = Turns("imports", in_all=1, per_caller=1, waiting=2, in_line=32)
    # argon2 takes 64 MiB and a core: one host has one of two turns, and its third sign-in at once is refused.
    app.state.hashing = Turns("sign-ins", in_all=2, per_caller=1, waiting=2, in_line=64)
    app.state.polls = Slots("polls", in_all=1_000_000, per_caller=4)
    app.state.gate = Gate(burst=120, per_s=4)
    app.state.waiting = Waiting()
    app.state.resting = Resting(app.state.waiting)
    app.state.known = Known(app.state.waiting)
    app.state.confirmed = Confirmed()
    app.state.uploads = Pot(in_all=24 * MIB, per_caller=16 * MIB, most_open=4)
    watch_process(app.state.figures.registry, app.state.streams, app.state.waiting)
    queue = settings.queue
    app.state.figures.registry.register(ServerCollector(app.state, queue))
    app.state.newest = live.Newest(app.state.waiting)
    app.router.routes.extend(_routes())
    add_problem_handlers(app)
    mount_dashboard(app, settings)
    return app


@cache
def _routes() -> list[BaseRoute]:
    """Return the routes of all parts, made once in a process: models and dependencies of all routes take a third of a second."""
    whole = APIRouter(generate_unique_id_function=_own_name)
    # Most requests are polls, and routers are asked in turn whose a request is: half of a poll's time, were it the last one's.
    whole.include_router(agent_channel.router, prefix=PREFIX, include_in_schema=False)
    for module in PARTS:
        whole.include_router(module.router, prefix=PREFIX)
    whole.include_router(health.router)
    return whole.routes


def _own_name(route: APIRoute) -> str:
    return route.name


def _provider_of(settings: Settings) -> Provider | None:
    if settings.oidc_issuer is None or settings.oidc_client_id is None or settings.oidc_client_secret is None:
        return None
    from downlink.courier.provider import Client, Provider  # noqa: PLC0415 - see above

    secret, back = settings.oidc_client_secret.get_secret_value(), f"{settings.public_url}{PREFIX}/provider/callback"
    return Provider(Client(settings.oidc_issuer, settings.oidc_client_id, secret, back, settings.oidc_scopes))


def openapi_document() -> dict[str, Any]:
    """The machine-readable contract; no server and no database is needed."""
    return create_app(Settings()).openapi()
