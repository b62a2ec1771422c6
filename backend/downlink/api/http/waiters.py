"""Waiting requests of this process: held polls for their agents' orders, event streams for the log.

The database says on one connection what was committed; nobody asks it again and again.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict

import structlog

from downlink.domain.errors import UnavailableError
from downlink.storage.unit import UnitFactory
from downlink.storage.wakes import AGENTS, listen

LOG = ("log", "")
RECONNECT_S = 0.5
Subject = tuple[str, str]
log = structlog.get_logger()


def agent_subject(name: str) -> Subject:
    return ("agent", name)


class Waiting:
    """Wakes those who wait for a subject. is_listening: no change can have been missed.

    A mark is a moment: take it before you look, and `wait` returns at once when the subject was woken after it.
    """

    def __init__(self) -> None:
        self.is_listening = False
        self._wakes = 0
        self._woken: dict[Subject, int] = {}
        self._all_woken = 0
        self._waiters: dict[Subject, set[asyncio.Future[None]]] = defaultdict(set)

    @property
    def agents(self) -> int:
        """Return how many agents' polls are held."""
        return len(self._waiters) - (LOG in self._waiters)

    def mark(self) -> int:
        return self._wakes

    def is_woken(self, subject: Subject, since: int) -> bool:
        return max(self._woken.get(subject, 0), self._all_woken) > since

    def wake(self, subject: Subject) -> None:
        self._wakes += 1
        self._woken[subject] = self._wakes
        _resolve(self._waiters.get(subject, set()))

    def wake_all(self) -> None:
        self._wakes += 1
        self._all_woken = self._wakes
        for waiters in self._waiters.values():
            _resolve(waiters)

    async def wait(self, subject: Subject, since: int, timeout_s: float) -> bool:
        """Wait for the subject's next wake after the mark; False when the time is over without one."""
        if self.is_woken(subject, since) or timeout_s <= 0:
            return self.is_woken(subject, since)
        waiter = asyncio.get_running_loop().create_future()
        self._waiters[subject].add(waiter)
        try:
            await asyncio.wait((waiter,), timeout=timeout_s)
        finally:
            self._waiters[subject].discard(waiter)
            if not self._waiters[subject]:
                del self._waiters[subject]
        return self.is_woken(subject, since)

    async def follow(self, units: UnitFactory) -> None:
        """Listen until cancelled. After a break everybody is woken: nobody knows what was missed."""
        while True:
            try:
                async with contextlib.aclosing(listen(units.engine)) as notices:
                    async for notice in notices:
                        if notice is None:
                            self.is_listening = True
                            self.wake_all()
                        else:
                            self.wake(agent_subject(notice.payload) if notice.channel == AGENTS else LOG)
            except UnavailableError:
                if self.is_listening:
                    log.warning("notices_lost")
            finally:
                self.is_listening = False
            await asyncio.sleep(RECONNECT_S)


def _resolve(waiters: set[asyncio.Future[None]]) -> None:
    for waiter in waiters:
        if not waiter.done():
            waiter.set_result(None)
