"""Rate limits for requests that need no account, by address, counted in memory: before the database hears of them."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from downlink.domain.errors import DeniedError
from downlink.domain.origin import origin_of

MOST_ADDRESSES = 10_000
"""Remembered at a time; the one that was silent for longest is forgotten first, with its places free again."""


class Gate:
    """A bucket for each address: `burst` requests at once, and `per_s` more each second."""

    def __init__(self, burst: int, per_s: float) -> None:
        self._burst = burst
        self._per_s = per_s
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = Lock()

    def check(self, address: str, now_s: float) -> None:
        """DeniedError `too_many_requests` (429) for more than that. now_s: by a clock that only goes forward."""
        key = origin_of(address)
        with self._lock:
            left, seen_s = self._buckets.pop(key, (float(self._burst), now_s))
            left = min(float(self._burst), left + (now_s - seen_s) * self._per_s)
            is_free = left >= 1
            self._buckets[key] = (left - 1 if is_free else left, now_s)
            if len(self._buckets) > MOST_ADDRESSES:
                self._buckets.popitem(last=False)
        if not is_free:
            raise DeniedError(
                "too_many_requests",
                "Too many requests from this address; wait a few seconds.",
                {"retry_after_s": max(1, round((1 - left) / self._per_s))},
            )
