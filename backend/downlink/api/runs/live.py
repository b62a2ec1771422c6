"""Events as a stream (server-sent events). The events table is the truth; a client that fell behind gets a request to fetch again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any, TypeVar
from uuid import UUID

import orjson
from fastapi import APIRouter, Header, Query, Request
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool

from downlink.api.http.deps import Clock, Config, Reader, StreamSlot, Units, find_caller, problems
from downlink.api.http.waiters import LOG, Waiting
from downlink.api.schemas.live import LiveMessage
from downlink.domain.errors import DeniedError, UnavailableError
from downlink.storage.notices import events
from downlink.storage.notices.events import Cursor, Entry
from downlink.storage.unit import Unit, UnitFactory

router = APIRouter(tags=["live"])
GAP_S = 0.1
"""Time between two looks at the log's end, however much is written."""
LOOK_S = 25.0
"""Time after which the log is looked at without a notice."""
PING_S = 15
RIGHT_S = 5.0
BATCH = 200
T = TypeVar("T")

_STREAM: dict[int | str, dict[str, Any]] = {
    200: {"model": LiveMessage, "content": {"text/event-stream": {}}, "description": "An endless stream of these"}
}


@router.get(
    "/events",
    response_class=EventSourceResponse,
    responses=_STREAM | problems(401, 429),
    dependencies=[StreamSlot],
)
async def stream_events(
    request: Request,
    caller: Reader,
    units: Units,
    settings: Config,
    clock: Clock,
    campaign_id: Annotated[UUID | None, Query(description="Only this campaign's events, and those of agents")] = None,
    last_event_id: Annotated[str | None, Header(description="Resume after this event")] = None,
) -> EventSourceResponse:
    """Events `run`, `progress`, `campaign`, `report`, `reanalysis`, `sweep`, `agent` and `service`; `refetch` says that some were left out.

    The stream ends when the caller loses the right to read it.
    """

    def check_right() -> None:
        find_caller(request, units, settings, clock())

    feed = _Feed(request, units, campaign_id, check_right)
    start = Cursor.parse(last_event_id)
    return EventSourceResponse(feed.events(start), ping=PING_S, headers={"Cache-Control": "no-store"})


class Newest:
    """The end of the log: read when something was committed to it, however many streams want to know.

    An older transaction that is still under way hides what was committed after it: until it ends, `pause_s` is short.
    """

    def __init__(self, waiting: Waiting) -> None:
        self._waiting = waiting
        self._lock = asyncio.Lock()
        self._mark = -1
        self._asked_at = 0.0
        self._place = Cursor()
        self.pause_s = LOOK_S

    async def place(self, units: UnitFactory) -> Cursor:
        async with self._lock:
            if not self._is_fresh():
                await asyncio.sleep(self._asked_at + GAP_S - time.monotonic())
                self._mark, self._asked_at = self._waiting.mark(), time.monotonic()
                self._place, is_whole = await _read(units, events.newest)
                self.pause_s = LOOK_S if is_whole else GAP_S
        return self._place

    def _is_fresh(self) -> bool:
        is_old = time.monotonic() - self._asked_at >= self.pause_s
        return not is_old and not self._waiting.is_woken(LOG, self._mark)


class _Feed:
    """One reader's stream. At most one batch is in memory: what a slow reader misses is replaced by `refetch`."""

    def __init__(
        self, request: Request, units: UnitFactory, campaign_id: UUID | None, check_right: Callable[[], None]
    ) -> None:
        self._app = request.app
        self._units = units
        self._campaign_id = campaign_id
        self._check_right = check_right
        self._cursor = Cursor()

    async def events(self, start: Cursor | None) -> AsyncIterator[ServerSentEvent]:
        """Yield events from the start, or else from now on, until the server stops or the reader loses the right to read."""
        now = await _read(self._units, events.horizon)
        # A place that is not reached yet: the database is an older one, restored from a backup.
        is_ahead = start is not None and start > now
        self._cursor = now if start is None or is_ahead else start
        yield self._event("hello")
        if is_ahead:
            yield self._event("refetch")
        waiting: Waiting = self._app.state.waiting
        checked_at = time.monotonic()
        while not self._app.state.is_stopping:
            mark = waiting.mark()
            if time.monotonic() - checked_at >= RIGHT_S:
                if not await self._has_right():
                    return
                checked_at = time.monotonic()
            for event in await self._next():
                yield event
            await waiting.wait(LOG, mark, min(RIGHT_S, self._app.state.newest.pause_s))

    async def _next(self) -> list[ServerSentEvent]:
        """Return the events since; none while the database is away."""
        try:
            newest = await self._app.state.newest.place(self._units)
            if newest <= self._cursor:
                return []
            entries = await _read(self._units, self._after)
            if len(entries) == BATCH:
                self._cursor = await _read(self._units, events.horizon)
                return [self._event("refetch")]
        except UnavailableError:
            return []
        if not entries:  # what came is of no interest here
            self._cursor = newest
        return [self._entry(entry) for entry in entries]

    async def _has_right(self) -> bool:
        try:
            await run_in_threadpool(self._check_right)
        except DeniedError:
            return False
        except UnavailableError:
            pass  # nothing is read meanwhile either
        return True

    def _after(self, unit: Unit) -> list[Entry]:
        return events.after(unit, self._cursor, self._campaign_id, BATCH)

    def _entry(self, entry: Entry) -> ServerSentEvent:
        self._cursor = entry.cursor
        return self._event(entry.kind, orjson.dumps(entry.data).decode())

    def _event(self, kind: str, data: str = "{}") -> ServerSentEvent:
        return ServerSentEvent(event=kind, id=str(self._cursor), data=data)


async def _read(units: UnitFactory, ask: Callable[[Unit], T]) -> T:
    def asked() -> T:
        with units(is_read_only=True) as unit:
            return ask(unit)

    return await run_in_threadpool(asked)
