"""Running a place of the plan again by hand: which runs may be, and when the new attempts are due; and after a pause."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from downlink.domain.campaigns.campaign_state import UNDER_WAY, CampaignState
from downlink.domain.campaigns.opening import Openings
from downlink.domain.campaigns.placing import SLACK_S
from downlink.domain.campaigns.timetable import Timetable
from downlink.domain.runs.run import FINAL, RunState

UNWANTED = frozenset({RunState.FAILED, RunState.INCOMPLETE, RunState.MISSED})
"""Ends that nobody chose: what a campaign's rerun takes."""
REPEATABLE = FINAL - {RunState.COMPLETE}
"""Ends after which a single run may be run again: also what somebody has cancelled."""
OPEN_TO_RERUNS = UNDER_WAY | {CampaignState.COMPLETE}
"""A complete campaign is under way again until its reruns have ended; what was cancelled stays so."""


def due_moments(
    lengths_s: Sequence[float],
    timetable: Timetable,
    last_due_at: datetime | None,
    now: datetime,
    openings: Openings | None = None,
) -> list[datetime]:
    """Return due times for new attempts on one link, in the order of the plan. lengths_s: how long each should hold the link.

    last_due_at: the latest due time of the link's runs that have not ended. In cycles they wait for the link like any other
    run, from now on. At even spacing they come behind the plan, spaced as it is: none of its runs is made late by them.
    openings: within which all of them are due.
    """
    spacing = timedelta(seconds=timetable.every_s or 0)
    is_behind = last_due_at is not None and timetable.every_s
    first = max(now, last_due_at + spacing) if last_due_at and is_behind else now
    return moved_on([(first, length_s) for length_s in lengths_s], spacing, openings)


def dues_after_pause(
    planned: Sequence[tuple[datetime, float]],
    timetable: Timetable,
    openings: Openings | None,
    since: datetime,
    now: datetime,
) -> list[datetime]:
    """Return new due times for one link's planned runs, after a pause of a campaign whose timetable follows a clock.

    planned: due time and expected seconds, in the order of the plan. since: when the first of the campaign's runs was due in the
    pause: it is due now, and what was due after it as much later as it was. They push on what comes behind them as far as they
    must; what is due later keeps its time by the clock.
    """
    moved = [(due_at if due_at > now else due_at + (now - since), length_s) for due_at, length_s in planned]
    return moved_on(moved, timedelta(seconds=timetable.every_s or 0), openings)


def moved_on(wanted: Sequence[tuple[datetime, float]], spacing: timedelta, openings: Openings | None) -> list[datetime]:
    """Each at its time, or later: one spacing behind the one before it, and within an opening. wanted: with seconds, in order."""
    dues: list[datetime] = []
    for wanted_at, length_s in wanted:
        at = max(wanted_at, dues[-1] + spacing) if dues else wanted_at
        dues.append((openings.next_fit(at, length_s + SLACK_S) if openings else None) or at)
    return dues
