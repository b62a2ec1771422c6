"""Triggers: a prepared set of runs starts when a condition holds, within limits. Pure: what was observed and when are arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, TypeAlias

from downlink.domain.campaigns.timetable import parse_day
from downlink.domain.links.observation import UNITS

FRESH_S = 900.0
"""A value that is older says nothing of now; two values further apart do not say what was between them."""
SLOT_GRACE_S = 2.0
"""The conductor looks once a second: a slot that began longer ago was missed."""
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class QuantityHolds:
    """A quantity of a link is above (or below) a value, for so long. source: who must say so; anybody where it is None."""

    quantity: str
    above: float | None = None
    below: float | None = None
    for_s: float = 0.0
    link: str | None = None
    source: str | None = None

    @property
    def name(self) -> str:
        side, bound = ("above", self.above) if self.above is not None else ("below", self.below)
        lasting = f" for {self.for_s:g} s" if self.for_s else ""
        return f"{self.quantity} {side} {bound:g}{lasting}"

    def holds(self, value: float) -> bool:
        return value > self.above if self.above is not None else value < (self.below or 0.0)


@dataclass(frozen=True, slots=True)
class SlotBegins:
    """A slot of a satellite's scheduler begins: every_s seconds long, the first at_s seconds after a full minute UTC."""

    every_s: float
    at_s: float = 0.0

    @property
    def name(self) -> str:
        return f"slot of {self.every_s:g} s from second {self.at_s:g}"

    def last_begin(self, now: datetime) -> datetime:
        """Return when the current slot began."""
        minute = now.replace(second=0, microsecond=0)
        since_s = (now - minute).total_seconds() - self.at_s
        if 60 % self.every_s:  # not a part of a minute: counted from 1970
            since_s = now.timestamp() - self.at_s
        return now - timedelta(seconds=since_s % self.every_s)


@dataclass(frozen=True, slots=True)
class Called:
    """A signed HTTP call comes."""

    @property
    def name(self) -> str:
        return "signed call"


When: TypeAlias = QuantityHolds | SlotBegins | Called


@dataclass(frozen=True)  # without slots: the campaign file's schema reads the defaults
class Trigger:
    """pause_s: the least time between firings. most_per_day: in any 24 hours. until: the last day, in UTC."""

    when: When
    pause_s: float = 600.0
    most_per_day: int = 24
    most: int = 100
    until: date | None = None

    @property
    def name(self) -> str:
        return self.when.name

    @property
    def ends_at(self) -> datetime | None:
        return datetime.combine(self.until + DAY, time(), UTC) if self.until else None

    def to_dict(self) -> dict[str, Any]:
        """Return the trigger as the campaign file writes it."""
        limits = {"pause_s": self.pause_s, "most_per_day": self.most_per_day, "most": self.most}
        return {"when": _when_dict(self.when), **limits, **({"until": self.until.isoformat()} if self.until else {})}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Trigger:
        """Read the trigger that to_dict wrote."""
        until = data.get("until")
        return cls(
            _when_of(data["when"]),
            data["pause_s"],
            data["most_per_day"],
            data["most"],
            parse_day(until) if until else None,
        )


def _when_dict(when: When) -> dict[str, Any]:
    if isinstance(when, Called):
        return {"call": True}
    known = {key: value for key, value in asdict(when).items() if value is not None}
    return {"slot": known} if isinstance(when, SlotBegins) else known


def _when_of(data: Mapping[str, Any]) -> When:
    if data.get("call"):
        return Called()
    return SlotBegins(**data["slot"]) if "slot" in data else QuantityHolds(**data)


@dataclass(frozen=True, slots=True)
class Cause:
    """The cause that started runs; each of them keeps it. at: time of the value, of the slot or of the call. value: None for a call
    without one; for a slot the seconds since it began."""

    name: str
    at: datetime
    value: float | None = None
    unit: str = ""
    source: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "at": self.at.isoformat(),
            "value": self.value,
            "unit": self.unit,
            "source": self.source,
        }


@dataclass(frozen=True, slots=True)
class Seen:
    """One value of the quantity."""

    at: datetime
    value: float
    source: str


@dataclass(frozen=True, slots=True)
class NotYet:
    """The condition that is missing before the trigger fires, as a sentence."""

    why: str


def judge_quantity(when: QuantityHolds, seen: Sequence[Seen], now: datetime) -> Cause | NotYet:
    """seen: what was observed lately, by time; what is later than now does not count.

    It holds when it holds for the latest value of every recent source, and for one of them has held for at least for_s,
    from the first such value to the last, without a gap in which anything could have been.
    """
    by_source: dict[str, list[Seen]] = {}
    for each in seen:
        if each.at <= now and when.source in (None, each.source):
            by_source.setdefault(each.source, []).append(each)
    fresh = [values for values in by_source.values() if now - values[-1].at <= timedelta(seconds=FRESH_S)]
    if not fresh:
        return NotYet(f"Nobody has said what {when.quantity} is in the last {FRESH_S / 60:.0f} minutes.")
    against = next((values[-1] for values in fresh if not when.holds(values[-1].value)), None)
    if against:
        return NotYet(f"{when.quantity} is {against.value:g} by {against.source}.")
    longest = max(fresh, key=lambda values: _held_s(when, values))
    held_s, last = _held_s(when, longest), longest[-1]
    if held_s < when.for_s:
        return NotYet(f"{when.quantity} is {last.value:g}, for {held_s:.0f} s of {when.for_s:g} s so far.")
    return Cause(when.name, last.at, last.value, UNITS.get(when.quantity, ""), last.source)


def _held_s(when: QuantityHolds, values: Sequence[Seen]) -> float:
    """Return for how many seconds the condition has held up to the last value, without a long gap."""
    first = last = values[-1]
    for each in reversed(values):
        if not when.holds(each.value) or (first.at - each.at).total_seconds() > FRESH_S:
            break
        first = each
    return (last.at - first.at).total_seconds()


def looks_back_s(when: QuantityHolds) -> float:
    """Return how old, in seconds, a value may be and still matter."""
    return when.for_s + 2 * FRESH_S


def too_rare(when: QuantityHolds, spaces_s: Mapping[str, float | None]) -> str | None:
    """Explain why a trigger cannot work: no source states its quantity often enough; None if one does. spaces_s: by source, seconds
    between values; None where that is not known yet."""
    counted = {source: space for source, space in spaces_s.items() if when.source in (None, source)}
    known = {source: space for source, space in counted.items() if space is not None}
    if not counted or len(known) < len(counted) or min(known.values()) <= FRESH_S:
        return None
    source = min(known, key=lambda each: known[each])
    fresh = f"{FRESH_S / 60:.0f} minutes"
    often = "Let it be observed more often (a weather service: DOWNLINK_WEATHER_EVERY_MIN)"
    pace = (
        f"{when.quantity} comes every {known[source] / 60:.0f} minutes from {source}, and a value counts for {fresh}:"
    )
    if when.for_s:
        return f"{pace} values so far apart never hold for {when.for_s:g} s. {often}, or leave for_s out, so that one value is enough."
    return f"{pace} between two values the campaign waits. {often}, if it is to start at any time."


def judge_slot(when: SlotBegins, now: datetime) -> Cause | NotYet:
    began = when.last_begin(now)
    late_s = (now - began).total_seconds()
    if late_s > SLOT_GRACE_S:
        return NotYet(f"The next slot begins in {when.every_s - late_s:.0f} s.")
    return Cause(when.name, began, round(late_s, 3), "s")


@dataclass(frozen=True, slots=True)
class Fired:
    """The history of a trigger's firing. in_day: in the last 24 hours. oldest_in_day_at: the first of these."""

    total: int = 0
    in_day: int = 0
    last_at: datetime | None = None
    oldest_in_day_at: datetime | None = None


def is_over(trigger: Trigger, fired: Fired, now: datetime) -> bool:
    """Return whether it will never fire again."""
    return fired.total >= trigger.most or (trigger.ends_at is not None and now >= trigger.ends_at)


def free_at(trigger: Trigger, fired: Fired) -> datetime | None:
    """Return when its rate limits let it fire next; None if it has not fired recently."""
    moments = []
    if fired.last_at:
        moments.append(fired.last_at + timedelta(seconds=trigger.pause_s))
    if fired.in_day >= trigger.most_per_day and fired.oldest_in_day_at:
        moments.append(fired.oldest_in_day_at + DAY)
    return max(moments, default=None)


def refusal(trigger: Trigger, fired: Fired, now: datetime) -> str | None:
    """Explain why it may not fire now, whatever its condition; None if it may."""
    if fired.total >= trigger.most:
        return f"It has fired {fired.total} times, as often as it may."
    if trigger.ends_at and now >= trigger.ends_at:
        return f"Its last day was {trigger.until}."
    if fired.last_at and now < (free := fired.last_at + timedelta(seconds=trigger.pause_s)):
        return f"The pause of {trigger.pause_s:g} s after the last firing lasts until {free:%Y-%m-%d %H:%M:%S} UTC."
    if fired.in_day >= trigger.most_per_day:
        return f"It has fired {fired.in_day} times in 24 hours, as often as it may."
    return None


def waiting_for(trigger: Trigger) -> str:
    """Describe what a waiting trigger waits for, for pages."""
    when = trigger.when
    if isinstance(when, Called):
        return "a signed call"
    if isinstance(when, SlotBegins):
        return f"the beginning of a slot of {when.every_s:g} s (second {when.at_s:g} of the minute, UTC)"
    return f"{when.name}, on {when.link or 'its link'}"
