"""Stretches of days for a calendar, in UTC. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

FIRST_DAY, LAST_DAY = date(1970, 1, 1), date(2999, 12, 31)
MOST_DAYS = 31
FINE_DAYS = 7
"""Up to so many days are counted by the hour, more of them by four hours."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A period from the first moment of a day on, cut into cells of cell_s."""

    from_at: datetime
    to_at: datetime
    cell_s: int


def stretch(first: date, days: int) -> Stretch:
    """first: FIRST_DAY to LAST_DAY. days: 1 to MOST_DAYS."""
    from_at = datetime.combine(first, time(), UTC)
    return Stretch(from_at, from_at + timedelta(days=days), 3600 if days <= FINE_DAYS else 4 * 3600)


def first_day(now: datetime, days: int) -> date:
    """Return the first day to show by default: today for a single day, else this week's Monday."""
    today = now.astimezone(UTC).date()
    return today if days == 1 else today - timedelta(days=today.weekday())
