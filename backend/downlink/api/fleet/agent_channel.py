"""The agents' own channel (docs/agent-protocol.md): protocol messages in, one action, protocol messages out."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, cast
from uuid import UUID

import structlog
from fastapi import APIRouter, Body, Depends, Header, Path, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool

from downlink.actions.fleet import agent_channel, agents, instances
from downlink.actions.links import observations
from downlink.actions.people.attempt_limit import counted
from downlink.actions.runs import agent_events
from downlink.api.fleet.agent_orders import order_message
from downlink.api.fleet.agent_uploads import admit_body, chunk_answer, figures_of, store_chunks, take_upload
from downlink.api.fleet.idle_agents import Heard, Resting
from downlink.api.http.body import read_held
from downlink.api.http.deps import Clock, Now, UnitOfWork, Units, address_of, origin, problems
from downlink.api.http.intake import HELD
from downlink.api.http.problems import MAX_PROBLEMS
from downlink.api.http.waiters import Waiting, agent_subject
from downlink.codec.bundle import MAX_BYTES as MAX_BUNDLE_BYTES
from downlink.codec.bundle import Bundled, split_bundle
from downlink.codec.chunk import MAX_PACKED_BYTES
from downlink.codec.wording import fault_of
from downlink.domain.errors import DeniedError, DownlinkError, InvalidError
from downlink.domain.fleet.agent import PROTOCOL, AgentReport, AgentStatus
from downlink.domain.fleet.instance import Instance, read_instance
from downlink.domain.links.observation import Observation
from downlink.domain.traces.point import Point
from downlink.protocol.base import PointName
from downlink.protocol.chunks import ChunksAnswer, ChunkStored
from downlink.protocol.events import AnyEvent
from downlink.protocol.facts import JoinRequest, JoinResponse
from downlink.protocol.observations import (
    ObservationsAnswer,
    ObservationsHold,
    ObservationsRequest,
    ObservedValue,
    RefusedValue,
    Unreadable,
)
from downlink.protocol.poll import PollRequest, PollResponse
from downlink.storage.unit import UnitFactory

router = APIRouter(prefix="/agent", tags=["agent channel"])
log = structlog.get_logger()
JOIN_FAILURES = 30
"""Failures of one address in a quarter of an hour; many hosts may join from behind one."""


async def read_secret(request: Request) -> str:
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not secret:
        raise DeniedError("agent_unknown", "An agent shows its secret as `Authorization: Bearer …`.")
    return secret.strip()


Secret = Annotated[str, Depends(read_secret)]


async def shown_instance(
    x_agent_instance: Annotated[
        str | None,
        Header(max_length=140, description="Which start of the agent speaks (docs/agent-protocol.md section 2)"),
    ] = None,
) -> Instance | None:
    return read_instance(x_agent_instance)


Shown = Annotated[Instance | None, Depends(shown_instance)]


@router.post("/join", responses=problems(401, 403, 409, 426, 429))
def join(body: JoinRequest, request: Request, units: Units, now: Now) -> JoinResponse:
    """Enrol with a single-use token; only this answer holds the agent's secret."""
    host = body.host.model_dump(mode="json")
    with counted(units, {f"join:{origin(request)}": JOIN_FAILURES}, now), units() as unit:
        agent, secret = agents.join(unit, body.token, body.name, body.version, body.protocol, host, now)
        return JoinResponse(agent_id=agent.id, secret=secret, server_now=now)


@router.post("/poll", responses=problems(401, 426))
async def poll(request: Request, secret: Secret, shown: Shown, units: Units, clock: Clock) -> PollResponse:
    """Send a heartbeat and get the next order; the answer waits up to `wait_s` for one."""
    state = request.app.state
    body = await _read_poll(request)
    until = time.monotonic() + body.wait_s
    heard = await _first_heard(request, secret, shown, body, units, clock())
    state.confirmed.note(secret, f"agent {heard.name}")
    body = body.model_copy(update={"host": None, "progress": None})  # heard; what is held below is small
    request.scope[HELD].give_back()
    with state.polls.take(heard.name):
        return await _hold(request, secret, shown, body, units, clock, heard, until)


async def _read_poll(request: Request) -> PollRequest:
    """Read and check the body here: the framework would keep it, and what it was parsed to, for as long as the poll is held."""
    return parse_poll(b"".join([piece async for piece in request.stream()]))


def parse_poll(raw: bytes) -> PollRequest:
    """Parse and check a poll. RequestValidationError, as the framework would raise it."""
    if not raw:
        raise RequestValidationError([{"type": "missing", "loc": ("body",), "msg": "Field required", "input": None}])
    try:
        return PollRequest.model_validate(
            json.loads(raw)
        )  # not from the text: an endless list is refused before its items are
    except (ValueError, RecursionError) as error:
        raise RequestValidationError(_faults(error)) from None


def _faults(error: Exception) -> list[Any]:
    """Return the faults in the framework's form."""
    if isinstance(error, ValidationError):
        return [{**each, "loc": ("body", *each["loc"])} for each in error.errors(include_url=False)]
    return [
        {
            "type": "json_invalid",
            "loc": ("body",),
            "msg": "JSON decode error",
            "input": {},
            "ctx": {"error": "not JSON"},
        }
    ]


async def _first_heard(
    request: Request, secret: str, shown: Instance | None, body: PollRequest, units: UnitFactory, now: datetime
) -> Heard:
    waiting: Waiting = request.app.state.waiting
    resting: Resting = request.app.state.resting
    if body.protocol != PROTOCOL:
        await run_in_threadpool(_refuse, units, secret, body.protocol)
    whose = f"{secret} {shown.id if shown else ''}"
    heard = resting.find(whose, body, now)
    if heard is None:
        address = address_of(request)
        heard = await run_in_threadpool(_hear, units, secret, shown, address, body, now, waiting.mark())
        if heard.is_free:
            resting.note(whose, body, heard, now)
    return heard


async def _hold(
    request: Request,
    secret: str,
    shown: Instance | None,
    body: PollRequest,
    units: UnitFactory,
    clock: Callable[[], datetime],
    heard: Heard,
    until: float,
) -> PollResponse:
    waiting: Waiting = request.app.state.waiting
    while not (heard.order or heard.holds_upload) and await waiting.wait(
        agent_subject(heard.name), heard.mark, until - time.monotonic()
    ):
        if request.app.state.is_stopping or await request.is_disconnected():
            break
        heard = await run_in_threadpool(_look, units, secret, shown, address_of(request), body, clock(), waiting.mark())
    order = order_message(heard.order) if heard.order else None
    return PollResponse(server_now=clock(), order=order, hold_upload=heard.holds_upload)


def _refuse(units: UnitFactory, secret: str, protocol: int) -> None:
    with units() as unit:
        refusal = agents.note_protocol(unit, secret, protocol)
    if refusal:
        raise refusal


def _hear(
    units: UnitFactory,
    secret: str,
    shown: Instance | None,
    address: str,
    body: PollRequest,
    now: datetime,
    mark: int,
) -> Heard:
    with units() as unit:
        agent = agents.authenticate(unit, secret, is_locked=True)
        hostname = body.host.hostname if body.host else None
        refusal = instances.admit(unit, agent, shown, address, hostname, now)
        if refusal is None:
            has_run = agent_channel.hear(unit, agent, _report(body), body.model_dump(mode="json"), now)
            order = agent_channel.next_order(unit, agent, _report(body), now)
            is_held = order is None and agent_channel.holds_upload(unit, agent, _report(body))
            return Heard(agent.name, mark, order, is_free=not has_run and order is None, holds_upload=is_held)
    raise refusal


def _look(
    units: UnitFactory,
    secret: str,
    shown: Instance | None,
    address: str,
    body: PollRequest,
    now: datetime,
    mark: int,
) -> Heard:
    """Look for news for an agent whose poll is held. Its report is taken once more if the database has another one."""
    with units() as unit:
        agent = agents.authenticate(unit, secret, shown)
        if agent_channel.is_noted(agent, _report(body), body.detail):
            return Heard(agent.name, mark, agent_channel.next_order(unit, agent, _report(body), now))
    return _hear(units, secret, shown, address, body, now, mark)


def _report(body: PollRequest) -> AgentReport:
    spool = tuple(entry.run_id for entry in body.spool if entry.chunks)
    return AgentReport(AgentStatus(body.status), body.run_id, spool)


@router.post("/runs/{run_id}/events", status_code=204, responses=problems(401, 409))
def accept_event(
    run_id: UUID, body: Annotated[AnyEvent, Body()], secret: Secret, shown: Shown, unit: UnitOfWork, now: Now
) -> None:
    """Report what happened to a run at this agent. A repeat changes nothing; 409 means: restore and drop the run."""
    agent = agents.authenticate(unit, secret, shown, is_locked=True)
    agent_events.accept_event(unit, agent, run_id, body.model_dump(mode="json"), now)


@router.post("/observations", responses=problems(401, 403))
def take_observations(
    body: ObservationsRequest, secret: Secret, shown: Shown, unit: UnitOfWork, now: Now
) -> ObservationsAnswer:
    """Store reports of the agent's dish and modem. A repeat stores nothing twice; a refused value does not affect the others."""
    agent = agents.authenticate(unit, secret, shown)
    readable, refused = _parted(cast("list[ObservedValue | Unreadable]", body.observations))
    stored, faults = observations.take_from_agent(unit, agent, body.link, readable, now)
    refused |= faults
    refusals = [
        RefusedValue(place=position, code=refused[position].code, message=refused[position].message)
        for position in sorted(refused)
    ]
    if refusals:
        log.warning(
            "observations_refused",
            agent=agent.name,
            refused=len(refusals),
            of=len(body.observations),
            first=refusals[0].message,
        )
    return ObservationsAnswer(stored=stored, refused_count=len(refusals), refused=refusals[:MAX_PROBLEMS])


@router.get("/observations", responses=problems(401))
def hold_observations(secret: Secret, unit: UnitOfWork) -> ObservationsHold:
    """Return whether the agent should hold its dish and modem data until another run is over."""
    agent = agents.authenticate(unit, secret)
    return ObservationsHold(hold=agent_channel.holds_observations(unit, agent))


def _parted(values: list[ObservedValue | Unreadable]) -> tuple[dict[int, Observation], dict[int, DownlinkError]]:
    """Return by position the values that can be read, and the errors of the others."""
    readable: dict[int, Observation] = {}
    refused: dict[int, DownlinkError] = {}
    for position, each in enumerate(values):
        if isinstance(each, Unreadable):
            where = ".".join(map(str, each.error["loc"])) or "this"
            refused[position] = InvalidError("observation_invalid", f"{where}: {fault_of(each.error)}.")
        else:
            readable[position] = Observation(each.quantity, each.unit, each.source, each.at, each.value)
    return readable, refused


BINARY = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
Attempt = Annotated[int, Header(ge=1, le=1000)]


@router.put(
    "/runs/{run_id}/traces/{flow}/{point}/{sequence}", responses=problems(401, 409, 413, 507), openapi_extra=BINARY
)
async def put_chunk(
    run_id: UUID,
    flow: Annotated[int, Path(ge=0, le=1000)],
    point: PointName,
    sequence: Annotated[int, Path(ge=0, le=1_000_000)],
    request: Request,
    secret: Secret,
    shown: Shown,
    units: Units,
    clock: Clock,
    x_content_sha256: Annotated[str, Header(pattern=r"^[0-9a-fA-F]{64}$")],
    x_attempt: Attempt,
) -> ChunkStored:
    """Store one chunk; the same content again is a no-op."""
    with take_upload(request, await admit_body(request, units, secret)) as held:
        body = await read_held(request, MAX_PACKED_BYTES, held)
        chunk = Bundled(flow, Point(point), sequence, x_content_sha256, body)
        (answer,) = await run_in_threadpool(store_chunks, units, secret, shown, run_id, x_attempt, [chunk], clock())
    if isinstance(answer, DownlinkError):
        raise answer
    figures_of(request).note_chunks([len(body)] if answer else [])
    return ChunkStored(stored=answer)


@router.post("/runs/{run_id}/chunks", responses=problems(401, 413, 507), openapi_extra=BINARY)
async def post_chunks(
    run_id: UUID, request: Request, secret: Secret, shown: Shown, units: Units, clock: Clock, x_attempt: Attempt
) -> ChunksAnswer:
    """Store several chunks in one transaction; the answer has for each what its PUT would have returned."""
    with take_upload(request, await admit_body(request, units, secret)) as held:
        bundle = await run_in_threadpool(split_bundle, await read_held(request, MAX_BUNDLE_BYTES, held))
        answers = await run_in_threadpool(store_chunks, units, secret, shown, run_id, x_attempt, bundle, clock())
    pairs = list(zip(bundle, answers, strict=True))
    figures_of(request).note_chunks([len(chunk.content) for chunk, answer in pairs if answer is True])
    return ChunksAnswer(chunks=[chunk_answer(chunk, answer) for chunk, answer in pairs])
