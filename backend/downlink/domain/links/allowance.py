"""A link's allowance: so many bytes a month, which begins on the link's reset day at midnight by its own clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from downlink.domain.zone import moment_of


@dataclass(frozen=True, slots=True)
class Month:
    """From its first moment to the next month's, in UTC."""

    from_at: datetime
    to_at: datetime


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a link may carry in this month and what agents reported of it."""

    limit_bytes: int
    used_bytes: int
    resets_at: datetime

    @property
    def left_bytes(self) -> int:
        return max(0, self.limit_bytes - self.used_bytes)


def month_of(now: datetime, reset_day: int, zone: str | None) -> Month:
    """That in which a moment lies. reset_day: 1 to 28, the days that every month has. zone: an IANA name, None for UTC."""
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
