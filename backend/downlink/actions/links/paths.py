"""Paths are asked for, sent to a worker, and given up. The api and the conductor need no more of them than this."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from downlink.domain.errors import ConflictError, InvalidError
from downlink.domain.links.ready_paths import READY
from downlink.storage.links import path_store
from downlink.storage.tables import SatellitePath
from downlink.storage.unit import Unit, lock

MOST_PATHS = 50
"""Paths that a server keeps at most: a day of one has some megabytes, and each backup has them all."""
HOUR_US = 3_600_000_000
RESEND = timedelta(minutes=7)
"""A pause longer than a worker lets a job run, so that two never make the same path."""
MAX_TRIES = 2
NEVER_DONE = f"It was not finished in {MAX_TRIES} tries. Workers may be missing or too slow: see their logs, and ask for fewer hours."


def order_path(unit: Unit, ready: str, hours: float, now: datetime) -> SatellitePath:
    """Ask for a ready-made path; the tick sends it to a worker. InvalidError for an unknown name, ConflictError where there is no room."""
    if ready not in READY:
        raise InvalidError(
            "path_invalid",
            f"There is no ready-made path {ready!r}. Take one of {', '.join(READY)}.",
            {"place": "ready"},
        )
    lock(unit, path_store.LOCK)
    if path_store.count_paths(unit) >= MOST_PATHS:
        raise ConflictError(
            "paths_full", f"This server keeps {MOST_PATHS} paths at most. Delete one that is not needed."
        )
    made = SatellitePath(ready=ready, duration_us=round(hours * HOUR_US), state="queued", created_at=now)
    unit.session.add(made)
    unit.session.flush()
    return made


def next_due(unit: Unit, now: datetime) -> Sequence[UUID]:
    """Return the path to compute next. Workers have one path at a time, so that the jobs of runs do not wait behind it."""
    for path in path_store.unfinished(unit):
        if path.sent_at and path.sent_at >= now - RESEND:
            return []
        if path.tries < MAX_TRIES:
            path.state, path.sent_at, path.tries, path.done_us = "making", now, path.tries + 1, 0
            return [path.id]
        path.state, path.reason, path.ended_at = "failed", NEVER_DONE, now
    return []
