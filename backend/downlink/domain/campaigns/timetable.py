"""The timetable of a campaign: number of runs, spacing, start and time zone. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo

from downlink.domain.campaigns.opening import Hours, Openings
from downlink.domain.zone import moment_of

FIRST_YEAR, LAST_YEAR = 2000, 2099
_START = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d) (\S+)")
START_EXAMPLE = "such as 2026-12-01 18:00 Europe/Berlin"


class ConditionOrder(StrEnum):
    """The order of the conditions within a cycle."""

    INTERLEAVED = "interleaved"
    SHUFFLED = "shuffled"


class Every(StrEnum):
    """Periods of repetition, by the clock."""

    DAY = "day"
    WEEK = "week"

    @property
    def days(self) -> int:
        return 1 if self is Every.DAY else 7


@dataclass(frozen=True, slots=True)
class Start:
    """A local time, without seconds, and the IANA name of the zone whose clock shows it."""

    local: datetime
    zone: str

    @classmethod
    def parse(cls, text: str) -> Start:
        """Parse a start such as `2026-12-01 18:00 Europe/Berlin`. Raise ValueError with the fault; the zone's existence is not
        checked."""
        match = _START.fullmatch(" ".join(text.split()))
        if match is None:
            raise ValueError(f"must be a date, a time and a time zone, {START_EXAMPLE}, not {text!r}.")
        try:
            local = datetime.fromisoformat(f"{match[1]}T{match[2]}")
        except ValueError:
            raise ValueError(f"{match[1]} {match[2]} is no date and time; write one {START_EXAMPLE}.") from None
        _check_year(local.year)
        return cls(local, match[3])

    def __str__(self) -> str:
        return f"{self.local:%Y-%m-%d %H:%M} {self.zone}"

    def after_days(self, days: int) -> datetime:
        """The same time by the clock so many days later, as a moment in UTC."""
        return moment_of(ZoneInfo(self.zone), self.local + timedelta(days=days))


@dataclass(frozen=True, slots=True)
class Repeat:
    """Again each day or week at the time of the start; the last time on the day `until`, or before it."""

    every: Every
    until: date

    def count(self, start: Start) -> int:
        """Return the number of repetitions, the first one included; 0 if it lies after `until`."""
        return (self.until - start.local.date()).days // self.every.days + 1


def parse_day(text: str) -> date:
    """Parse a date such as `2026-12-31`. Raise ValueError with the fault."""
    try:
        day = datetime.strptime(text.strip(), "%Y-%m-%d").date()  # noqa: DTZ007 - a day of the start's zone
    except ValueError:
        raise ValueError(f"must be a day such as 2026-12-31, not {text!r}.") from None
    _check_year(day.year)
    return day


def _check_year(year: int) -> None:
    if not FIRST_YEAR <= year <= LAST_YEAR:
        raise ValueError(f"must be of the years {FIRST_YEAR} to {LAST_YEAR}, not {year}.")


@dataclass(frozen=True, slots=True)
class Timetable:
    """Either `cycles` with a pause between them, or `duration_h` with a run on each link every `every_s`.

    start: not before then. hours: on each link only when it is open, by the clock of the link's own zone. repeat: the whole
    once more each day or week; it needs a start.
    """

    cycles: int | None = None
    duration_h: float | None = None
    every_s: float | None = None
    pause_s: float = 0.0
    order: ConditionOrder = ConditionOrder.INTERLEAVED
    seed: int = 1
    start: Start | None = None
    hours: tuple[Hours, ...] = ()
    repeat: Repeat | None = None

    @property
    def is_clocked(self) -> bool:
        """True if its runs follow a clock, and not only the launch."""
        return bool(self.start or self.hours)

    def unclocked(self) -> Timetable:
        """The same once, whenever it is launched."""
        return replace(self, start=None, hours=(), repeat=None)

    @property
    def repetitions(self) -> int:
        return self.repeat.count(self.start) if self.repeat and self.start else 1

    def runs_per_repetition(self, conditions: int) -> int:
        """Return the number of runs on each link. With a duration the last cycle may be incomplete; the next repetition continues it."""
        if self.cycles is not None:
            return self.cycles * conditions
        return int((self.duration_h or 0) * 3600 / (self.every_s or math.inf) + 1e-9)

    def runs_per_link(self, conditions: int) -> int:
        return self.runs_per_repetition(conditions) * self.repetitions

    def begins_at(self, repetition: int, launched_at: datetime) -> datetime:
        """Return when a repetition begins, but not before the launch. Repetitions count from 0."""
        if self.start is None:
            return launched_at
        return max(launched_at, self.start.after_days(repetition * (self.repeat.every.days if self.repeat else 0)))

    def openings(self, zone: str | None) -> Openings | None:
        """Return the opening hours of a link in this time zone; None if it is always open."""
        return Openings(self.hours, zone or "UTC") if self.hours else None

    def to_dict(self) -> dict[str, Any]:
        shape = (
            {"cycles": self.cycles, "pause_s": self.pause_s}
            if self.cycles is not None
            else {"duration_h": self.duration_h, "every_s": self.every_s}
        )
        return {**shape, "order": self.order.value, "seed": self.seed, **self._clock()}

    def _clock(self) -> dict[str, Any]:
        repeat = self.repeat and {"every": self.repeat.every.value, "until": self.repeat.until.isoformat()}
        hours = [str(each) for each in self.hours]
        named = {"start_at": self.start and str(self.start), "opening_hours": hours, "repeat": repeat}
        return {key: value for key, value in named.items() if value}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Timetable:
        """Read the timetable that to_dict wrote."""
        clock = ("start_at", "opening_hours", "repeat")
        start, repeat = data.get("start_at"), data.get("repeat")
        return cls(
            **{key: value for key, value in data.items() if key not in (*clock, "order")},
            order=ConditionOrder(data["order"]),
            start=Start.parse(start) if start else None,
            hours=tuple(map(Hours.parse, data.get("opening_hours", ()))),
            repeat=Repeat(Every(repeat["every"]), parse_day(repeat["until"])) if repeat else None,
        )
