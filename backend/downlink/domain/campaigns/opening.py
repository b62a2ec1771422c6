"""Opening hours: when a campaign may run on a link, by the clock of the link's time zone. Pure.

An opening begins at the first moment at which the clock shows its time, and ends at the last one: in the night in which an
hour comes twice it is longer. A time that is left out when clocks go forward is the first moment after the gap; hours that lie
in the gap altogether do not open that day.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from downlink.domain.zone import moment_of

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
GROUPS = {"daily": range(7), "weekdays": range(5), "weekends": range(5, 7)}
EXAMPLE = 'such as "weekdays 18:00-06:00", "daily 01:00-05:00" or "sat,sun 00:00-24:00"'
LOOK_AHEAD_DAYS = 16
"""Opening hours repeat every week. A clock change may shorten a night too much for a run; the same night a week later is long enough."""
_FORM = re.compile(r"(\S+) (\d\d):(\d\d)-(\d\d):(\d\d)")
_DAY = 24 * 60


@dataclass(frozen=True, slots=True)
class Hours:
    """Hours on some days of the week. days: 0 is Monday. opens, closes: minutes of the day; up to opens it is of the next day.

    The days are those on which it opens.
    """

    days: tuple[int, ...]
    opens: int
    closes: int

    @classmethod
    def parse(cls, text: str) -> Hours:
        """Parse text such as `weekdays 18:00-06:00`. Raise ValueError with the fault."""
        match = _FORM.fullmatch(" ".join(text.split()))
        if match is None:
            raise ValueError(f"must be days and hours, {EXAMPLE}, not {text!r}.")
        opens, closes = _minute(match[2], match[3], _DAY - 1), _minute(match[4], match[5], _DAY)
        if opens == closes:
            raise ValueError("opens and closes at the same time; write 00:00-24:00 for the whole day.")
        return cls(_days(match[1].lower()), opens, closes)

    def __str__(self) -> str:
        named = next((name for name, days in GROUPS.items() if self.days == tuple(days)), "")
        days = named or ",".join(DAYS[day] for day in self.days)
        return f"{days} {_clock(self.opens)}-{_clock(self.closes)}"


@dataclass(frozen=True, slots=True)
class Opening:
    """An interval in which runs may take place: from_at is included, to_at is not."""

    from_at: datetime
    to_at: datetime


@dataclass(frozen=True, slots=True)
class Openings:
    """The opening hours of a link, with its zone's IANA name."""

    hours: tuple[Hours, ...]
    zone: str

    def after(self, moment: datetime) -> Iterator[Opening]:
        """Openings that end after a moment, rising, in UTC. Those that touch are one; one from long before may begin later here.

        Stops after LOOK_AHEAD_DAYS. Hours without a break are one opening until then.
        """
        held: Opening | None = None
        for each in self._parts(moment, LOOK_AHEAD_DAYS):
            if held and each.from_at <= held.to_at:
                held = Opening(held.from_at, max(held.to_at, each.to_at))
                continue
            if held and held.to_at > moment:
                yield held
            held = each
        if held and held.to_at > moment:
            yield held

    def opening_at(self, moment: datetime) -> Opening | None:
        """The one that a moment lies in."""
        first = next(self.after(moment), None)
        return first if first and first.from_at <= moment else None

    def next_fit(self, moment: datetime, duration_s: float) -> datetime | None:
        """The first moment from this one on at which an opening lasts for duration_s more; None where none is long enough."""
        length, held = timedelta(seconds=duration_s), Opening(moment, moment)
        for each in self._parts(moment, LOOK_AHEAD_DAYS + math.ceil(duration_s / 86_400)):
            is_joined = each.from_at <= held.to_at
            held = Opening(held.from_at, max(held.to_at, each.to_at)) if is_joined else each
            start = max(moment, held.from_at)
            if start + length <= held.to_at:
                return start
        return None

    def _parts(self, moment: datetime, days: int) -> Iterator[Opening]:
        """Yield the openings of each day, beginning with the day before this moment, because hours may last into the next day."""
        first = moment.astimezone(ZoneInfo(self.zone)).date() - timedelta(days=1)
        for day in range(days + 1):
            yield from _openings_of(self.hours, self.zone, first + timedelta(days=day))


@lru_cache(maxsize=4096)
def _openings_of(hours: tuple[Hours, ...], name: str, day: date) -> tuple[Opening, ...]:
    """Return the openings that begin on a day, in rising order."""
    zone, midnight = ZoneInfo(name), datetime.combine(day, time())
    openings = []
    for each in hours:
        if day.weekday() in each.days:
            closes = each.closes if each.closes > each.opens else each.closes + _DAY
            from_at = moment_of(zone, midnight + timedelta(minutes=each.opens))
            to_at = moment_of(zone, midnight + timedelta(minutes=closes), is_last=True)
            openings.append(Opening(from_at.astimezone(UTC), to_at.astimezone(UTC)))
    return tuple(sorted((each for each in openings if each.from_at < each.to_at), key=lambda each: each.from_at))


def _minute(hour: str, minute: str, most: int) -> int:
    minutes = int(hour) * 60 + int(minute)
    if int(minute) > 59 or minutes > most:
        raise ValueError(
            f"{hour}:{minute} is no time of the day; hours open from 00:00 to 23:59 and close at 24:00 at the latest."
        )
    return minutes


def _clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"


def _days(text: str) -> tuple[int, ...]:
    if text in GROUPS:
        return tuple(GROUPS[text])
    names = text.split(",")
    unknown = next((name for name in names if name not in DAYS), None)
    if unknown is not None:
        raise ValueError(
            f"{unknown!r} is no day; days are {', '.join(GROUPS)}, or some of {', '.join(DAYS)} with commas between them."
        )
    return tuple(sorted({DAYS.index(name) for name in names}))
