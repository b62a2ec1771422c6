"""The agents' own channel (docs/agent-protocol.md): protocol messages in, one action, protocol messages out."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Body, Depends, Header, Path, Request, Response
from starlette.concurrency import run_in_threadpool

from downlink.actions import agent_events, agents, channel, chunks
from downlink.actions.chunks import Place
from downlink.actions.tries import counted
from downlink.api.agent_orders import order_message
from downlink.api.body import read_bounded
from downlink.api.deps import Clock, Now, UnitOfWork, Units, address_of, problems
from downlink.api.resting import Heard, Resting
from downlink.api.waiting import Waiting, agent_subject
from downlink.codec.chunk import MAX_PACKED_BYTES
from downlink.domain.agent import AgentReport, AgentStatus
from downlink.domain.errors import DeniedError
from downlink.domain.sample import End
from downlink.protocol.messages import AnyEvent, ChunkStored, JoinRequest, JoinResponse, PollRequest, PollResponse
from downlink.storage.unit import UnitFactory

router = APIRouter(prefix="/agent", tags=["agent channel"])
JOIN_FAILURES = 30
"""Per address and quarter of an hour; many hosts may join from behind one."""


def _secret(request: Request) -> str:
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not secret:
        raise DeniedError("agent_unknown", "An agent shows its secret as `Authorization: Bearer …`.")
    return secret.strip()


Secret = Annotated[str, Depends(_secret)]


@router.post("/join", responses=problems(401, 403, 409, 429))
def join(body: JoinRequest, request: Request, units: Units, now: Now) -> JoinResponse:
    """Enrol with a single-use token; the answer holds the agent's own secret, this once."""
    host = body.host.model_dump(mode="json")
    with counted(units, {f"join:{address_of(request)}": JOIN_FAILURES}, now), units() as unit:
        agent, secret = agents.join(unit, body.token, body.name, body.version, host, now)
        return JoinResponse(agent_id=agent.id, secret=secret, server_now=now)


@router.post("/poll", responses=problems(401))
async def poll(body: PollRequest, request: Request, secret: Secret, units: Units, clock: Clock) -> PollResponse:
    """Heartbeat, and the one thing to do next; held for up to `wait_s` until there is one."""
    waiting: Waiting = request.app.state.waiting
    resting: Resting = request.app.state.resting
    until = time.monotonic() + body.wait_s
    heard = resting.find(secret, body, clock())
    if heard is None:
        mark, now = waiting.mark(), clock()
        heard = await run_in_threadpool(_hear, units, secret, body, now, mark)
        if heard.is_free:
            resting.note(secret, body, heard, now)
    while heard.order is None and await waiting.wait(agent_subject(heard.name), heard.mark, until - time.monotonic()):
        if request.app.state.is_stopping or await request.is_disconnected():
            break
        heard = await run_in_threadpool(_look, units, secret, body, clock(), waiting.mark())
    return PollResponse(server_now=clock(), order=order_message(heard.order) if heard.order else None)


def _hear(units: UnitFactory, secret: str, body: PollRequest, now: datetime, mark: int) -> Heard:
    with units() as unit:
        agent = agents.authenticate(unit, secret, is_locked=True)
        has_run = channel.hear(unit, agent, _report(body), body.model_dump(mode="json"), now)
        order = channel.next_order(unit, agent, _report(body), now)
        return Heard(agent.name, mark, order, is_free=not has_run and order is None)


def _look(units: UnitFactory, secret: str, body: PollRequest, now: datetime, mark: int) -> Heard:
    """What there is now for an agent whose poll is held. It is heard once more where the database has other words of it."""
    with units() as unit:
        agent = agents.authenticate(unit, secret)
        if channel.is_noted(agent, _report(body), body.detail):
            return Heard(agent.name, mark, channel.next_order(unit, agent, _report(body), now))
    return _hear(units, secret, body, now, mark)


def _report(body: PollRequest) -> AgentReport:
    spool = tuple(entry.run_id for entry in body.spool if entry.chunks)
    return AgentReport(AgentStatus(body.status), body.run_id, spool)


@router.post("/runs/{run_id}/events", status_code=204, responses=problems(401, 409))
def accept_event(run_id: UUID, body: Annotated[AnyEvent, Body()], secret: Secret, unit: UnitOfWork, now: Now) -> None:
    """What happened to a run at this agent. A repeat changes nothing; 409 means: restore and drop it."""
    agent = agents.authenticate(unit, secret, is_locked=True)
    agent_events.accept_event(unit, agent, run_id, body.model_dump(mode="json"), now)


@router.put(
    "/runs/{run_id}/traces/{flow}/{end}/{sequence}",
    responses=problems(401, 409, 413, 507),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def put_chunk(
    run_id: UUID,
    flow: Annotated[int, Path(ge=1, le=1000)],
    end: End,
    sequence: Annotated[int, Path(ge=0, le=1_000_000)],
    request: Request,
    response: Response,
    secret: Secret,
    units: Units,
    now: Now,
    x_content_sha256: Annotated[str, Header(pattern=r"^[0-9a-fA-F]{64}$")],
    x_attempt: Annotated[int, Header(ge=1, le=1000)],
) -> ChunkStored:
    """Store one chunk; the same content again is a no-op."""
    agent = await run_in_threadpool(_hear_upload, units, secret, run_id, now)
    body = await read_bounded(request, MAX_PACKED_BYTES)
    place = Place(run_id, x_attempt, flow, end, sequence)
    return ChunkStored(stored=await run_in_threadpool(_store, units, agent, place, body, x_content_sha256, now))


def _hear_upload(units: UnitFactory, secret: str, run_id: UUID, now: datetime) -> str:
    """Before the body is read: a stranger may not fill the memory."""
    with units() as unit:
        return chunks.hear_upload(unit, secret, run_id, now)


def _store(units: UnitFactory, agent: str, place: Place, body: bytes, sha256_hex: str, now: datetime) -> bool:
    digest, samples = chunks.check_chunk(body, sha256_hex, place)
    with units() as unit:
        return chunks.accept_chunk(unit, agent, place, body, digest, samples, now)
