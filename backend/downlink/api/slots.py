"""Places for answers that last, streams and exports: so many in all, so many for one caller."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from downlink.domain.errors import DeniedError

RETRY_S = 5


class Slots:
    """Counts what is open. It is used from the event loop alone, so that nothing happens between look and count."""

    def __init__(self, what: str, in_all: int, per_caller: int) -> None:
        self._what = what
        self._in_all = in_all
        self._per_caller = per_caller
        self._open: Counter[str] = Counter()

    @contextmanager
    def take(self, caller: str) -> Iterator[None]:
        """Hold a place; DeniedError `too_many_open` (429) when none is free."""
        if self._open[caller] >= self._per_caller or self._open.total() >= self._in_all:
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
