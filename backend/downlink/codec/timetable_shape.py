"""The part of a campaign file that says when its runs are wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from downlink.codec.campaign_parts import MAX_SECONDS, STORABLE, WHOLE, LaterSeconds, Part, at, shown
from downlink.domain.campaigns.opening import EXAMPLE, Hours
from downlink.domain.campaigns.timetable import (
    START_EXAMPLE,
    ConditionOrder,
    Every,
    Repeat,
    Start,
    Timetable,
    parse_day,
)
from downlink.domain.errors import InvalidError
from downlink.domain.zone import check_zone

MAX_RUNS = 100_000
MAX_HOURS = 20
NEEDS_CYCLES = "needs cycles, or duration_h with every_s."
CLOCK = r"\d\d:\d\d"
DAY = r"\d{4}-\d\d-\d\d"


def _written(read: Callable[[str], object], wanted: str) -> BeforeValidator:
    """A text that `read` takes, which stays the text that it was."""

    def accept(value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError(f"must be {wanted}, not {shown(value)}.")
        read(value)
        return value

    return BeforeValidator(accept)


def _start(text: str) -> Start:
    start = Start.parse(text)
    try:
        check_zone(start.zone)
    except InvalidError as error:
        raise ValueError(error.message) from None
    return start


def _text(pattern: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": pattern})


StartText = Annotated[
    str,
    STORABLE,
    _written(_start, f"a time with its zone, {START_EXAMPLE}"),
    _text(rf"^{DAY} {CLOCK} \S+$"),
]
HoursText = Annotated[
    str, STORABLE, _written(Hours.parse, f"days and hours, {EXAMPLE}"), _text(rf"^\S+ {CLOCK}-{CLOCK}$")
]
DayText = Annotated[str, STORABLE, _written(parse_day, "a day such as 2026-12-31"), _text(rf"^{DAY}$")]


class RepeatPart(Part):
    """Repeat the timetable each day or week, at the time of day of `start_at`."""

    every: Every = Field(description="Interval between repetitions")
    until: DayText = Field(description="Last day on which a repetition may begin, such as 2026-12-31")


class TimetablePart(Part):
    """Either `cycles` with a pause between them, or `duration_h` with a run on each link every `every_s`; with `until` neither."""

    cycles: Annotated[int, Field(strict=True, ge=1, le=MAX_RUNS), WHOLE] | None = Field(
        default=None, description="Runs of each condition on each link"
    )
    pause_s: LaterSeconds | None = Field(default=None, description="Seconds between cycles; 0 by default")
    duration_h: Annotated[float, Field(strict=True, ge=0.001, le=24 * 366)] | None = Field(
        default=None, description="Total hours"
    )
    every_s: Annotated[float, Field(strict=True, ge=1, le=30 * MAX_SECONDS)] | None = Field(
        default=None, description="Seconds between starts of runs on the same link"
    )
    order: ConditionOrder = Field(
        default=ConditionOrder.INTERLEAVED,
        description="Order of the conditions in a cycle: as listed, or shuffled for each cycle",
    )
    seed: Annotated[int, Field(strict=True, ge=0, le=2**32 - 1), WHOLE] = Field(
        default=1, description="Seed of the shuffled order"
    )

    start_at: StartText | None = Field(
        default=None,
        description="Earliest start: date, time and IANA time zone, such as 2026-12-01 18:00 Europe/Berlin",
    )
    opening_hours: Annotated[list[HoursText], Field(min_length=1, max_length=MAX_HOURS)] | None = Field(
        default=None,
        description="Runs begin and end within these hours, in each link's time zone: "
        '"weekdays 18:00-06:00", "daily 01:00-05:00", "sat,sun 00:00-24:00"',
    )
    repeat: RepeatPart | None = Field(
        default=None, description="Repeat the timetable each day or week, at the time of day of `start_at`"
    )

    @model_validator(mode="after")
    def _is_one_way(self) -> TimetablePart:
        if self.cycles is not None:
            for key in ("duration_h", "every_s"):
                self._refuse(key, "does not go with cycles: give either cycles, or duration_h with every_s.")
        elif self.duration_h is None and self.every_s is None:
            return self  # the file's `until` says how many cycles there are, or its own rules refuse it
        elif self.duration_h is None or self.every_s is None:
            raise ValueError(NEEDS_CYCLES)
        else:
            self._refuse("pause_s", "does not go with duration_h: every_s sets the spacing.")
            if self.every_s > self.duration_h * 3600:
                raise at("every_s", f"must not be longer than the duration, {self.duration_h * 3600:g} s.")
        return self

    @model_validator(mode="after")
    def _repeats_after_its_start(self) -> TimetablePart:
        if self.repeat is None:
            return self
        if self.start_at is None:
            raise at("repeat", "needs start_at: each repetition begins at its time of day.")
        if self.to_domain().repetitions < 1:
            raise at("repeat", f"ends before the campaign starts: until must be {self.start_at.strip()[:10]} or later.")
        hours = self.repeat.every.days * 24
        if self.duration_h is not None and self.duration_h > hours:
            raise at("duration_h", f"must be at most {hours} where the timetable is repeated each {self.repeat.every}.")
        return self

    def _refuse(self, key: str, message: str) -> None:
        if getattr(self, key) is not None:
            raise at(key, message)

    def to_domain(self) -> Timetable:
        repeat = self.repeat
        return Timetable(
            self.cycles,
            self.duration_h,
            self.every_s,
            self.pause_s or 0.0,
            self.order,
            self.seed,
            _start(self.start_at) if self.start_at else None,
            tuple(map(Hours.parse, self.opening_hours or ())),
            Repeat(repeat.every, parse_day(repeat.until)) if repeat else None,
        )
