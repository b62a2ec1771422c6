"""When a campaign under way will have ended, as far as its plan says. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class LeftOnLink:
    """What one link still has to do: runs come one after another, and none before it is due.

    last_end_at: the end of its last planned run by the plan. left_s: how long all its planned runs take together.
    busy_until_at: when its run under way should have let go of the link.
    """

    last_end_at: datetime | None = None
    left_s: float = 0.0
    busy_until_at: datetime | None = None


def expected_end(now: datetime, links: Iterable[LeftOnLink]) -> datetime | None:
    """The end of the last run, or None where nothing is left.

    As planned where there is time between the runs, and one run after the other where the plan is behind. Further attempts,
    runs that wait for another campaign, and pauses between the cycles of a plan that is behind are not foreseen.
    """
    return max((_end(now, link) for link in links if link.last_end_at or link.busy_until_at), default=None)


def _end(now: datetime, link: LeftOnLink) -> datetime:
    free_at = max(now, link.busy_until_at or now)
    return max(link.last_end_at or now, free_at + timedelta(seconds=link.left_s))
