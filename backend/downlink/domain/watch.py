"""The time since which this server has been watching: silence counts only while a process could hear it.

The conductor and the api leave a mark each, every second or two. Where one of the marks is old, nobody ticked or nobody
could be heard, and no agent can be blamed for that time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

CONDUCTOR, API = "conductor", "api"
LATE_S = 10.0  # several passes of the tick, each with room for a slow transaction


@dataclass(frozen=True, slots=True)
class Pulse:
    """A process that marks its life. at: the newest mark. since: the first one of a series without a break."""

    at: datetime
    since: datetime


def is_beating(pulse: Pulse | None, now: datetime) -> bool:
    """Return whether the newest mark is fresh. A clock that was set back makes it look late as well."""
    return pulse is not None and abs(now - pulse.at) <= timedelta(seconds=LATE_S)


def next_pulse(before: Pulse | None, now: datetime) -> Pulse:
    """The pulse after one more mark."""
    return Pulse(now, before.since if before and is_beating(before, now) else now)


def watched_since(conductor: Pulse | None, api: Pulse | None, now: datetime) -> datetime:
    """Return since when both processes have run without a break; now, while one of them does not."""
    if conductor is None or api is None or not (is_beating(conductor, now) and is_beating(api, now)):
        return now
    return min(now, max(conductor.since, api.since))
