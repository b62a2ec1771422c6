"""Bodies that a process has made and may send again: the next reader need not wait for them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock

MOST = 8
"""A body has up to some megabytes."""


class Remade:
    """The last few bodies by what they were made of. Safe to use from several threads; two may make the same one at once."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._bodies: OrderedDict[Hashable, bytes] = OrderedDict()
        self._lock = Lock()

    def find(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        with self._lock:
            if key in self._bodies:
                self._bodies.move_to_end(key)
                return self._bodies[key]
        body = make()
        with self._lock:
            self._bodies[key] = body
            while len(self._bodies) > self._most:
                self._bodies.popitem(last=False)
        return body
