"""A shared budget of many callers, such as bytes of unfinished bodies: when it is full, the caller who holds most makes room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from types import TracebackType

from downlink.domain.errors import UnavailableError

RETRY_S = 5


class Held:
    """The share of one request. give_way: called when another caller needs the room, before the request is whole."""

    def __init__(self, pot: Pot, caller: str, give_way: Callable[[], None]) -> None:
        self.caller = caller
        self.count = 0
        self.is_whole = False
        self.give_way = give_way
        self._pot = pot

    def grow(self, count: int) -> None:
        """Hold so many more. UnavailableError `busy` where no room can be made."""
        self._pot.add(self, count)

    def give_back(self) -> None:
        """Release all that is held."""
        self._pot.drop(self)

    def __enter__(self) -> Held:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.give_back()


class Pot:
    """A budget: so much in all, so much for one caller, so many requests of one. Used from the event loop alone.

    A bound on all without a share for each would be a switch for the first who fills it. So a newcomer is served, and the oldest
    unfinished request of the caller who holds most is given up. What is whole is at work and stays.
    """

    def __init__(self, in_all: int, per_caller: int, most_open: int) -> None:
        self._in_all = in_all
        self._per_caller = per_caller
        self._most_open = most_open
        self._open: dict[str, list[Held]] = {}
        self._counts: Counter[str] = Counter()
        self.total = 0

    def open(self, caller: str, give_way: Callable[[], None]) -> Held:
        """Begin a request. UnavailableError `busy` where its caller has too many at work already."""
        if len(self._open.get(caller, ())) >= self._most_open and not self._give_up_oldest(caller):
            raise _busy()
        held = Held(self, caller, give_way)
        self._open.setdefault(caller, []).append(held)
        return held

    def add(self, held: Held, count: int) -> None:
        """Let it hold so many more. UnavailableError `busy` where no room can be made."""
        while self._counts[held.caller] + count > self._per_caller:
            if not self._give_up_oldest(held.caller, held):
                raise _busy()
        while self.total + count > self._in_all:
            if not self._give_up_of_most(held, count):
                raise _busy()
        self._count(held, count)

    def drop(self, held: Held) -> None:
        """Take what it holds off, and forget it."""
        self._count(held, -held.count)
        own = self._open.get(held.caller, [])
        if held in own:
            own.remove(held)
        if not own:
            self._open.pop(held.caller, None)
            self._counts.pop(held.caller, None)

    def _count(self, held: Held, count: int) -> None:
        held.count += count
        self._counts[held.caller] += count
        self.total += count

    def _give_up_of_most(self, newcomer: Held, count: int) -> bool:
        """Give up a request of a caller who holds at least as much as the newcomer would; whether there was one."""
        would_hold = self._counts[newcomer.caller] + count
        for caller, held in self._counts.most_common():
            is_more = held >= would_hold or caller == newcomer.caller
            if is_more and self._give_up_oldest(caller, newcomer):
                return True
        return False

    def _give_up_oldest(self, caller: str, besides: Held | None = None) -> bool:
        unfinished = (each for each in self._open.get(caller, ()) if not each.is_whole and each is not besides)
        oldest = next(unfinished, None)
        if oldest is None:
            return False
        oldest.give_back()
        oldest.give_way()
        return True


def _busy() -> UnavailableError:
    return UnavailableError("busy", "Too much is being sent at once; try again.", {"retry_after_s": RETRY_S})
