"""Agents that rest: idle, with nothing to upload and no run. Their polls say what they said before, and need no database.

What such a poll changes is `last_seen_at` alone, which is written for all of them together every few seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from starlette.concurrency import run_in_threadpool

from downlink.actions.fleet.agent_channel import OrderFacts
from downlink.actions.people.secrets import hash_secret
from downlink.api.http.waiters import Waiting, agent_subject
from downlink.domain.errors import UnavailableError
from downlink.domain.fleet.agent import ONLINE_S, AgentStatus
from downlink.protocol.poll import PollRequest
from downlink.storage.fleet import agent_store
from downlink.storage.unit import UnitFactory

WRITE_S = 5.0
# Seen but not written yet: with a poll of 25 s and WRITE_S an agent stays online whatever happens to this process.
UNWRITTEN = timedelta(seconds=ONLINE_S / 2)
FORGET = timedelta(minutes=10)
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Heard:
    """The result of a poll: its agent, at which mark, the order if there is one, and whether no run is in the agent's hands.

    holds_upload: the upload of which it speaks must wait for a run of others.
    """

    name: str
    mark: int
    order: OrderFacts | None = None
    is_free: bool = False
    holds_upload: bool = False


@dataclass(slots=True)
class _Rest:
    """One agent as it was found at a mark: these were its words, and there was no order for it."""

    name: str
    words: tuple[str, str | None]
    mark: int
    seen_at: datetime
    written_at: datetime


class Resting:
    """The agents that rest at this process."""

    def __init__(self, waiting: Waiting) -> None:
        self._waiting = waiting
        self._rests: dict[bytes, _Rest] = {}

    def find(self, secret: str, body: PollRequest, now: datetime) -> Heard | None:
        """Return the earlier result for the same poll of this agent, if nothing has changed for it since.

        None for one that the database must be asked about. A poll that does not wait is one of them: a notice may be on its way.
        """
        rest = self._rests.get(hash_secret(secret))
        if rest is None or not body.wait_s or not self._waiting.is_listening:
            return None
        is_as_before = not _is_more(body) and rest.words == (body.status, body.detail)
        if not is_as_before or self._waiting.is_woken(agent_subject(rest.name), rest.mark):
            return None
        if now - rest.written_at > UNWRITTEN:
            return None
        rest.seen_at = now
        return Heard(rest.name, rest.mark)

    def note(self, secret: str, body: PollRequest, heard: Heard, now: datetime) -> None:
        """The database has this poll, and neither order nor run for its agent."""
        if not _is_more(body):
            words = (body.status, body.detail)
            self._rests[hash_secret(secret)] = _Rest(heard.name, words, heard.mark, seen_at=now, written_at=now)

    async def write(self, units: UnitFactory, clock: Callable[[], datetime]) -> None:
        """Write when agents were seen, every WRITE_S until cancelled."""
        while True:
            await asyncio.sleep(WRITE_S)
            await self.write_once(units, clock())

    async def write_once(self, units: UnitFactory, now: datetime) -> None:
        seen = {rest.name: rest.seen_at for rest in self._rests.values() if rest.seen_at > rest.written_at}
        try:
            if seen:
                await run_in_threadpool(_note_seen, units, seen)
        except UnavailableError as error:
            log.warning("agents_not_marked", code=error.code)
            return
        self._rests = {key: rest for key, rest in self._rests.items() if now - rest.seen_at < FORGET}
        for rest in self._rests.values():
            rest.written_at = max(rest.written_at, seen.get(rest.name, rest.written_at))


def _note_seen(units: UnitFactory, seen: dict[str, datetime]) -> None:
    with units() as unit:
        agent_store.note_seen(unit, seen)


def _is_more(body: PollRequest) -> bool:
    """Return whether a poll says more than that its agent is there."""
    is_at_rest = body.status in (AgentStatus.IDLE, AgentStatus.BLOCKED)
    return not is_at_rest or any((body.run_id, body.progress, body.spool, body.host))
