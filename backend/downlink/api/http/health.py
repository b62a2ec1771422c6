"""Routes for monitoring: alive, ready, and the contact for security reports."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from redis import Redis, RedisError

from downlink.actions.service import service_state
from downlink.api.http.deps import Clock, Config, Now, Reader, ReadUnit, Units, problems
from downlink.api.http.disk_room import room_of
from downlink.api.http.problems import problem
from downlink.api.schemas.service import Room, Service
from downlink.domain.errors import UnavailableError
from downlink.domain.fleet.agent import PROTOCOL
from downlink.domain.watch import LATE_S
from downlink.storage import heartbeats
from downlink.storage.notices.events import hidden_since
from downlink.storage.unit import UnitFactory

router = APIRouter()
PROBE = "downlink:probe"
LAGS_S = 10.0
"""Time that an own transaction may take; the next look at the log shows what it held back."""
SECURITY_TXT_HOLDS = timedelta(days=90)


@router.get("/api/v1/service", tags=["service"], responses=problems(401))
def service(caller: Reader, request: Request, unit: ReadUnit, now: Now) -> Service:
    """Return whether the conductor is alive: without it no run starts and no job is sent. `service` events report changes.

    Also return whether there is disk space: without it samples and imports are refused, and agents keep their data.
    """
    state = service_state(unit, now)
    room = Room.model_validate(room_of(request).look())
    return Service(is_conducting=state.is_conducting, ticked_at=state.ticked_at, room=room)


@router.get("/healthz", include_in_schema=False)
async def alive() -> dict[str, str | int]:
    """The process answers, and says which version of the agent protocol it speaks."""
    return {"status": "alive", "agent_protocol": PROTOCOL}


@router.get("/readyz", include_in_schema=False)
def ready(units: Units, settings: Config, clock: Clock) -> Response:
    """Database and queue answer and take changes, and the conductor has ticked lately; 503 names what is away.

    It also says when pages and notifications hear of events late, for how long and why: then the server is ready all the same.
    """
    away = [*_away_from_database(units, clock), *([] if _is_queue_there(settings) else ["queue"])]
    if away:
        sentence = f"No answer from: {', '.join(away)}."
        hint = f" The conductor has not ticked for more than {LATE_S:g} s: is `downlink conductor` running?"
        return problem(503, "not_ready", sentence + (hint if "conductor" in away else ""), {"away": away})
    lag_s = _lag_s(units, clock)
    if lag_s < LAGS_S:
        return Response('{"status":"ready"}', media_type="application/json")
    sentence = (
        f"Pages and notifications have waited {lag_s:.0f} s for what happened: a transaction of this database is open that long. "
        "See pg_stat_activity for the oldest xact_start, and end it."
    )
    return JSONResponse({"status": "ready", "events_lag_s": round(lag_s), "detail": sentence})


@router.get("/.well-known/security.txt", include_in_schema=False)
async def security_contact(settings: Config, clock: Clock) -> Response:
    """Return the contact for security reports about this server (RFC 9116), if its admin has named one. It is dated at each request,
    and expires a quarter of a year later."""
    if not settings.security_contact:
        return problem(404, "not_found", "The admin of this server has named no contact (DOWNLINK_SECURITY_CONTACT).")
    expires = (clock().astimezone(UTC) + SECURITY_TXT_HOLDS).replace(hour=0, minute=0, second=0, microsecond=0)
    lines = [
        f"Contact: {settings.security_contact}",
        f"Expires: {expires:%Y-%m-%dT%H:%M:%SZ}",
        f"Canonical: {settings.public_url}/.well-known/security.txt",
        "Preferred-Languages: en",
    ]
    return PlainTextResponse("\n".join([*lines, ""]))


def _away_from_database(units: UnitFactory, clock: Callable[[], datetime]) -> list[str]:
    try:
        with units() as unit:
            if not heartbeats.is_writable(unit):
                return ["database"]
            return [] if service_state(unit, clock()).is_conducting else ["conductor"]
    except UnavailableError:
        return ["database"]


def _lag_s(units: UnitFactory, clock: Callable[[], datetime]) -> float:
    """Return for how many seconds the first event waits that an open transaction hides; 0 for none."""
    try:
        with units(is_read_only=True) as unit:
            since = hidden_since(unit)
    except UnavailableError:
        return 0.0
    return (clock() - since).total_seconds() if since else 0.0


def _is_queue_there(settings: Config) -> bool:
    try:
        with Redis.from_url(settings.queue, socket_timeout=2, socket_connect_timeout=2) as redis:
            return bool(redis.set(PROBE, "1", ex=60))  # a full queue still answers, and takes no job
    except RedisError:
        return False
