"""Time zones of links: which names there are, which moment a local time is, and when it is night there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from downlink.domain.errors import InvalidError

NIGHT_FROM = time(22)
NIGHT_TO = time(6)
"""Night by the clock, 22:00 to 06:00: it is meant for when people use a link little, not for where the sun stands."""

NO_PLACES = frozenset({"localtime", "Factory"})
"""Files beside the zones: what this host is set to, and a host that is not set up."""


@dataclass(frozen=True, slots=True)
class Night:
    """The night from dusk to dawn by the clock, within the stretch that was asked about."""

    from_at: datetime
    to_at: datetime


def check_zone(name: str) -> None:
    """InvalidError for what is no IANA time zone of this host."""
    if name not in _names():
        raise InvalidError(
            "time_zone_unknown", f"There is no time zone {name}; write an IANA name, such as Europe/Madrid or UTC."
        )


def moment_of(zone: ZoneInfo, local: datetime, *, is_last: bool = False) -> datetime:
    """The moment, in UTC, at which the zone's clock shows a local time, which is given without a zone.

    A time that is left out when clocks go forward is the first moment after the gap. Of one that comes twice it is the first
    one, or with is_last the second (PEP 495 calls them fold 0 and 1).
    """
    first, second = (local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if first <= second:
        return second if is_last else first
    # In a gap: fold 0 counts by the clock before it, fold 1 by the clock after it, and the change lies between them.
    before, low, high = second.astimezone(zone).utcoffset(), 0, int((first - second).total_seconds())
    while high - low > 1:
        middle = (low + high) // 2
        is_before = (second + timedelta(seconds=middle)).astimezone(zone).utcoffset() == before
        low, high = (middle, high) if is_before else (low, middle)
    return second + timedelta(seconds=high)


@cache
def _names() -> frozenset[str]:
    return frozenset(available_timezones()) - NO_PLACES


def nights(name: str, from_at: datetime, to_at: datetime) -> list[Night]:
    """The nights of a zone between two moments, cut at both; none for a zone that this host does not know.

    Where clocks are put back or forward in the night, it lasts an hour more or less.
    """
    try:
        zone = ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return []
    first, last = from_at.astimezone(zone).date() - timedelta(days=1), to_at.astimezone(zone).date()
    whole = (_night(zone, first + timedelta(days=day)) for day in range((last - first).days + 1))
    cut = (Night(max(night.from_at, from_at), min(night.to_at, to_at)) for night in whole)
    return [night for night in cut if night.from_at < night.to_at]


def _night(zone: ZoneInfo, evening: date) -> Night:
    """Return the night that begins on this day."""
    start = datetime.combine(evening, NIGHT_FROM, zone)
    end = datetime.combine(evening + timedelta(days=1), NIGHT_TO, zone)
    return Night(start.astimezone(UTC), end.astimezone(UTC))
