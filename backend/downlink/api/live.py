"""What happens, as server-sent events. The events table is the truth; a client that fell behind is told to fetch anew."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any
from uuid import UUID

import orjson
from fastapi import APIRouter, FastAPI, Header, Query, Request
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool

from downlink.api.deps import Reader, Units, problems
from downlink.api.schemas.live import LiveEvent
from downlink.storage import events
from downlink.storage.events import Cursor, Entry
from downlink.storage.unit import UnitFactory

router = APIRouter(tags=["live"])
POLL_S = 0.25
PING_S = 15
BATCH = 200

_STREAM: dict[int | str, dict[str, Any]] = {
    200: {"model": LiveEvent, "content": {"text/event-stream": {}}, "description": "An endless stream; `data` is JSON"}
}


@router.get("/events", response_class=EventSourceResponse, responses=_STREAM | problems(401))
async def stream_events(
    request: Request,
    caller: Reader,
    units: Units,
    campaign_id: Annotated[UUID | None, Query(description="Only this campaign's events, and those of agents")] = None,
    last_event_id: Annotated[str | None, Header(description="Resume after this event")] = None,
) -> EventSourceResponse:
    """Events `run`, `progress`, `campaign`, `report`, `sweep` and `agent`; `refetch` says that some were left out."""
    start = Cursor.parse(last_event_id)
    feed = _feed(request.app, units, campaign_id, start)
    return EventSourceResponse(feed, ping=PING_S, headers={"Cache-Control": "no-store"}, send_timeout=30)


async def _feed(
    app: FastAPI, units: UnitFactory, campaign_id: UUID | None, start: Cursor | None
) -> AsyncIterator[ServerSentEvent]:
    """Poll for events after the cursor. At most one batch is in memory: what a slow reader misses is replaced by `refetch`."""
    cursor = start if start is not None else await run_in_threadpool(_newest, units)
    yield ServerSentEvent(event="hello", id=str(cursor), data="{}")
    while not app.state.is_stopping:
        entries = await run_in_threadpool(_after, units, cursor, campaign_id)
        if len(entries) == BATCH:
            cursor = await run_in_threadpool(_newest, units)
            yield ServerSentEvent(event="refetch", id=str(cursor), data="{}")
            continue
        for entry in entries:
            cursor = entry.cursor
            yield ServerSentEvent(event=entry.kind, id=str(cursor), data=orjson.dumps(entry.data).decode())
        await asyncio.sleep(POLL_S)


def _newest(units: UnitFactory) -> Cursor:
    with units(is_read_only=True) as unit:
        return events.newest(unit)


def _after(units: UnitFactory, cursor: Cursor, campaign_id: UUID | None) -> list[Entry]:
    with units(is_read_only=True) as unit:
        return events.after(unit, cursor, campaign_id, BATCH)
