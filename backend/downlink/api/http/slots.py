"""Places for answers that last or cost: so many in all, so many for one caller."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from threading import Lock

from downlink.domain.errors import DeniedError

RETRY_S = 5
ADMINS_SHARE = 10
"""One place of so many is kept for admins, where there are as many."""


class Slots:
    """Counts what is open. It is used from the event loop alone, so that nothing happens between look and count.

    A tenth of all places is the admins': whatever others do, somebody can look, and end it.
    """

    def __init__(self, what: str, in_all: int, per_caller: int) -> None:
        self._what = what
        self._in_all = in_all
        self._per_caller = per_caller
        self._open: Counter[str] = Counter()

    def has_room(self, caller: str, *, is_admin: bool = False) -> bool:
        in_all = self._in_all if is_admin else self._in_all - self._in_all // ADMINS_SHARE
        return self._open[caller] < self._per_caller and self._open.total() < in_all

    @property
    def total(self) -> int:
        """Return how many places are held."""
        return self._open.total()

    @property
    def is_free(self) -> bool:
        """Return whether nobody holds a place."""
        return self.total == 0

    @contextmanager
    def take(self, caller: str, *, is_admin: bool = False) -> Iterator[None]:
        """Hold a place; DeniedError `too_many_open` (429) when none is free."""
        if not self.has_room(caller, is_admin=is_admin):
            raise DeniedError(
                "too_many_open",
                f"Too many {self._what} are open ({self._per_caller} for one caller, {self._in_all} in all); close one and try again.",
                {"retry_after_s": RETRY_S},
            )
        self._open[caller] += 1
        try:
            yield
        finally:
            self._open[caller] -= 1
            self._open += Counter()  # forget callers who hold nothing


class _Waiter:
    """One who waits for a turn, in the event loop of its own request."""

    def __init__(self, caller: str, *, is_admin: bool) -> None:
        self.caller = caller
        self.is_admin = is_admin
        self.turn: ExitStack | None = None
        self._loop = asyncio.get_running_loop()
        self._called = asyncio.Event()

    def call(self) -> None:
        self._loop.call_soon_threadsafe(self._called.set)

    async def wait(self) -> None:
        await self._called.wait()


class Turns:
    """Answers that cost: so many at a time, the others wait for their turn, who came first before who came later.

    A page asks for several at once, and again at each step of a zoom: what it asks for must come, or no longer be wanted.
    """

    def __init__(self, what: str, in_all: int, per_caller: int, waiting: int, *, in_line: int | None = None) -> None:
        """waiting: how many of one caller may wait for their turn. in_line: how many of all; as many of each unless it is said."""
        self._line = Slots(what, in_all * waiting if in_line is None else in_line, waiting)
        self._at_work = Slots(what, in_all, per_caller)
        self._waiters: list[_Waiter] = []
        self._lock = Lock()

    @property
    def is_free(self) -> bool:
        """Return whether nobody holds a turn."""
        return self._at_work.is_free

    @asynccontextmanager
    async def take(
        self, caller: str, is_gone: Callable[[], Awaitable[bool]], *, is_admin: bool = False
    ) -> AsyncIterator[None]:
        """Hold a turn. DeniedError `too_many_open` (429) where too many wait already, `caller_gone` where nobody waits."""
        waiter = _Waiter(caller, is_admin=is_admin)
        try:
            await self._queue(waiter)
            if await is_gone():
                raise DeniedError("caller_gone", "The caller has closed the connection.")
            yield
        finally:
            self._leave(waiter)

    async def _queue(self, waiter: _Waiter) -> None:
        """Wait in line until it is called; one who finds a free turn goes through: those in line could not use it."""
        with self._lock:
            if self._at_work.has_room(waiter.caller, is_admin=waiter.is_admin):
                self._give_turn(waiter)
                return
            line = ExitStack()
            line.enter_context(self._line.take(waiter.caller, is_admin=waiter.is_admin))
            self._waiters.append(waiter)
        with line:
            await waiter.wait()

    def _leave(self, waiter: _Waiter) -> None:
        with self._lock:
            if waiter in self._waiters:
                self._waiters.remove(waiter)
            if waiter.turn:
                waiter.turn.close()
            self._call_next()

    def _call_next(self) -> None:
        """Give a turn to each who may have one, in their order."""
        for waiter in [*self._waiters]:
            if self._at_work.has_room(waiter.caller, is_admin=waiter.is_admin):
                self._waiters.remove(waiter)
                self._give_turn(waiter)
                waiter.call()

    def _give_turn(self, waiter: _Waiter) -> None:
        waiter.turn = ExitStack()
        waiter.turn.enter_context(self._at_work.take(waiter.caller, is_admin=waiter.is_admin))
