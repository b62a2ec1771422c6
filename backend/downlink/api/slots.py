"""Places for answers that last or cost: so many in all, so many for one caller."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager

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
        """How many places are held."""
        return self._open.total()

    @property
    def is_free(self) -> bool:
        """Whether nobody holds a place."""
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


class Turns:
    """Answers that are computed when they are asked for: so many at a time, the others wait for their turn.

    A page asks for several at once, and again at each step of a zoom: what it asks for must come, or not be wanted any more.
    """

    def __init__(self, what: str, in_all: int, per_caller: int, waiting: int, *, in_line: int | None = None) -> None:
        """waiting: how many of one caller may wait for their turn. in_line: how many of all; as many of each unless it is said."""
        self._line = Slots(what, in_all * waiting if in_line is None else in_line, waiting)
        self._at_work = Slots(what, in_all, per_caller)
        self._ended = asyncio.Condition()

    @property
    def is_free(self) -> bool:
        """Whether nobody holds a turn."""
        return self._at_work.is_free

    @asynccontextmanager
    async def take(
        self, caller: str, is_gone: Callable[[], Awaitable[bool]], *, is_admin: bool = False
    ) -> AsyncIterator[None]:
        """Hold a turn. DeniedError `too_many_open` (429) where too many wait already, `caller_gone` where nobody waits any more."""
        turn = ExitStack()
        async with self._ended:
            with self._line.take(caller, is_admin=is_admin):
                await self._ended.wait_for(lambda: self._at_work.has_room(caller, is_admin=is_admin))
            turn.enter_context(self._at_work.take(caller, is_admin=is_admin))
        try:
            if await is_gone():
                raise DeniedError("caller_gone", "Whoever asked has closed the connection.")
            yield
        finally:
            turn.close()
            async with self._ended:
                self._ended.notify_all()
