"""Running a place of the plan again by hand: which runs may be, and when the new attempts are due."""

from __future__ import annotations

from datetime import datetime, timedelta

from downlink.domain.campaign import Timetable
from downlink.domain.campaign_state import UNDER_WAY, CampaignState
from downlink.domain.run import FINAL, RunState

UNWANTED = frozenset({RunState.FAILED, RunState.INCOMPLETE, RunState.MISSED})
"""Ends that nobody chose: what a campaign's rerun takes."""
REPEATABLE = FINAL - {RunState.COMPLETE}
"""Ends after which a single run may be run again: also what somebody has cancelled."""
OPEN_TO_RERUNS = UNDER_WAY | {CampaignState.COMPLETE}
"""A complete campaign is under way again until its reruns have ended; what was cancelled stays so."""


def due_moments(count: int, timetable: Timetable, last_due_at: datetime | None, now: datetime) -> list[datetime]:
    """When so many new attempts on one link are due, in the order of the plan.

    last_due_at: the latest due time of the link's runs that have not ended. In cycles they wait for the link like any other
    run, from now on. At even spacing they come behind the plan, spaced as it is: none of its runs is made late by them.
    """
    if not timetable.every_s:
        return [now] * count
    spacing = timedelta(seconds=timetable.every_s)
    first = now if last_due_at is None else max(now, last_due_at + spacing)
    return [first + number * spacing for number in range(count)]
