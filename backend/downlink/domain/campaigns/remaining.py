"""The expected end of a campaign under way, according to its plan. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from downlink.domain.campaigns.opening import Openings

MOST_OPENINGS = 1000
"""Openings at most, more than two years of nights: a campaign that follows a clock ends before."""


@dataclass(frozen=True, slots=True)
class LeftOnLink:
    """The remaining work on one link: runs come one after another, and none before it is due.

    last_end_at: the end of its last planned run by the plan. left_s: how long all its planned runs take together, and runs how
    many there are. busy_until_at: when its run under way should have let go of the link. openings: when the campaign may run on
    this link, None for always.
    """

    last_end_at: datetime | None = None
    left_s: float = 0.0
    runs: int = 0
    busy_until_at: datetime | None = None
    openings: Openings | None = None


def expected_end(now: datetime, links: Iterable[LeftOnLink]) -> datetime | None:
    """The end of the last run, or None where nothing is left.

    As planned where there is time between the runs, and one run after the other where the plan is behind; with opening hours
    only as many in each opening as fit into it. Further attempts, runs that wait for another campaign, and pauses between the
    cycles of a plan that is behind are not foreseen.
    """
    return max((_end(now, link) for link in links if link.last_end_at or link.busy_until_at), default=None)


def _end(now: datetime, link: LeftOnLink) -> datetime:
    free_at = max(now, link.busy_until_at or now)
    in_turn = _in_openings(free_at, link, link.openings) if link.openings and link.runs else None
    return max(link.last_end_at or now, in_turn or free_at + timedelta(seconds=link.left_s))


def _in_openings(free_at: datetime, link: LeftOnLink, openings: Openings) -> datetime | None:
    """The end of the last run where each takes the mean time and must fit into an opening; None where none is long enough."""
    run_s, runs, moment = link.left_s / link.runs, link.runs, free_at
    for _ in range(MOST_OPENINGS):
        start = openings.next_fit(moment, run_s)
        opening = openings.opening_at(start) if start else None
        if start is None or opening is None:
            return None
        room_s = (opening.to_at - start).total_seconds()
        fitting = runs if runs * run_s <= room_s else max(1, int(room_s / run_s))
        runs, moment = runs - fitting, start + timedelta(seconds=fitting * run_s)
        if runs == 0:
            break
    return moment
