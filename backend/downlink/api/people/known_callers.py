"""Callers whose credentials the database has confirmed recently: their bodies have room of their own, apart from strangers'."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from downlink.actions.people.secrets import hash_secret

MOST = 20_000
"""Remembered at a time; the one that was confirmed the longest ago is forgotten first."""
VALID_S = 3600.0
"""A credential that was revoked gives room to nothing but a body, and that no longer than this."""


class Confirmed:
    """Accounts and agents by what they show. It opens nothing: who a caller is, is asked of the database with every request."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._found: OrderedDict[bytes, tuple[str, float]] = OrderedDict()
        self._lock = Lock()

    def note(self, secret: str, name: str) -> None:
        """The database knows this secret just now. name: of the account or the agent, whatever the credential."""
        key = hash_secret(secret)
        with self._lock:  # callers are found in threads
            self._found.pop(key, None)
            self._found[key] = (name, self._now_s())
            if len(self._found) > MOST:
                self._found.popitem(last=False)

    def find(self, secret: str) -> str | None:
        """Return whose secret it is, None for one that was not confirmed within the hour."""
        name, at_s = self._found.get(hash_secret(secret), ("", -VALID_S))
        return name if name and self._now_s() - at_s < VALID_S else None
