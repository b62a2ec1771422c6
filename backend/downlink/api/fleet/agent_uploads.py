"""The uploads of agents: admission of a body, its chunks, and the answer for each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from downlink.actions.fleet import agents
from downlink.actions.traces import chunks
from downlink.actions.traces.chunks import Checked, ChunkKey
from downlink.api.fleet.known_agents import Known
from downlink.api.http.disk_room import room_of
from downlink.api.http.intake import PACE
from downlink.api.http.pot import Held, Pot
from downlink.api.http.problems import status_of
from downlink.api.http.request_log import Figures
from downlink.codec.bundle import Bundled
from downlink.domain.errors import DownlinkError, InvalidError
from downlink.domain.fleet.instance import Instance
from downlink.protocol.chunks import ChunkAnswer
from downlink.storage.unit import UnitFactory


def figures_of(request: Request) -> Figures:
    figures: Figures = request.app.state.figures
    return figures


async def admit_body(request: Request, units: UnitFactory, secret: str) -> str:
    """Return the agent's name, before the body is read: a stranger fills no memory, and a disk that is nearly full takes nothing."""
    known: Known = request.app.state.known
    name = known.name_of(secret)
    if name is None:
        mark = request.app.state.waiting.mark()
        name = await run_in_threadpool(_name_of, units, secret)
        known.note(secret, name, mark)
    await run_in_threadpool(room_of(request).check)
    return name


def take_upload(request: Request, agent: str) -> Held:
    """Open room for a body of this agent. The oldest unfinished body of the agent that holds most makes way for it."""
    uploads: Pot = request.app.state.uploads
    return uploads.open(agent, request.scope[PACE].give_up)


def _name_of(units: UnitFactory, secret: str) -> str:
    with units() as unit:
        return agents.authenticate(unit, secret).name


def store_chunks(
    units: UnitFactory,
    secret: str,
    shown: Instance | None,
    run_id: UUID,
    attempt: int,
    bundle: Sequence[Bundled],
    now: datetime,
) -> list[bool | DownlinkError]:
    checked = [_check(run_id, attempt, chunk) for chunk in bundle]
    sound = [each for each in checked if isinstance(each, Checked)]
    with units() as unit:
        answers = iter(chunks.take_chunks(unit, secret, shown, run_id, sound, now))
    return [next(answers) if isinstance(each, Checked) else each for each in checked]


def _check(run_id: UUID, attempt: int, chunk: Bundled) -> Checked | DownlinkError:
    key = ChunkKey(run_id, attempt, chunk.flow, chunk.point, chunk.sequence)
    try:
        return chunks.check_chunk(chunk.content, chunk.sha256, key)
    except InvalidError as error:
        return error


def chunk_answer(chunk: Bundled, answer: bool | DownlinkError) -> ChunkAnswer:
    if isinstance(answer, bool):
        fields: dict[str, Any] = {"status": 200, "stored": answer}
    else:
        fields = {"status": status_of(answer), "code": answer.code, "message": answer.message}
    return ChunkAnswer(flow=chunk.flow, point=chunk.point, sequence=chunk.sequence, **fields)
