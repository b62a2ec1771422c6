"""A link's allowance: so many bytes a month, which begins on the link's reset day at midnight by its own clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from downlink.domain.zone import moment_of


@dataclass(frozen=True, slots=True)
class Month:
    """A month from its first moment to the next month's, in UTC."""

    from_at: datetime
    to_at: datetime


@dataclass(frozen=True, slots=True)
class Allowance:
    """The monthly volume that a link may carry, and the part that agents have reported as used."""

    limit_bytes: int
    used_bytes: int
    resets_at: datetime

    @property
    def left_bytes(self) -> int:
        return max(0, self.limit_bytes - self.used_bytes)


def month_of(now: datetime, reset_day: int, zone: str | None) -> Month:
    """Return the month of a moment. reset_day: 1 to 28, the days that every month has. zone: an IANA name, None for UTC."""
    clock = ZoneInfo(zone or "UTC")
    local = now.astimezone(clock)
    month = _begin(local.year, local.month, reset_day, clock)
    if now >= month:
        return Month(month, _begin(local.year, local.month + 1, reset_day, clock))
    return Month(_begin(local.year, local.month - 1, reset_day, clock), month)


def _begin(year: int, month: int, day: int, clock: ZoneInfo) -> datetime:
    """month: 0 is the last one of the year before, 13 the first of the next. Of a midnight that comes twice, the second."""
    years, month = divmod(month - 1, 12)
    return moment_of(clock, datetime(year + years, month + 1, day), is_last=True)  # noqa: DTZ001 - a clock's time, whose zone is beside it
