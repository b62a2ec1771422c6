"""Retention of a campaign's data: how long raw traces, series and the campaign itself are kept, and what is due to be removed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise

from downlink.domain.errors import InvalidError

MOST_DAYS = 3650


class Part(StrEnum):
    """Parts of a campaign's data that can be removed. TRACES: the raw samples. SERIES: those and the one-second series. ALL: the
    campaign and all its data."""

    TRACES = "traces"
    SERIES = "series"
    ALL = "all"


PARTS = tuple(Part)
"""Each takes along what comes before it."""


@dataclass(frozen=True, slots=True)
class Keep:
    """Days after a campaign's end for which each part is kept; None: permanently."""

    traces_days: int | None = None
    series_days: int | None = None
    all_days: int | None = None

    def days(self, part: Part) -> int | None:
        return {Part.TRACES: self.traces_days, Part.SERIES: self.series_days, Part.ALL: self.all_days}[part]

    def due_at(self, part: Part, ended_at: datetime | None) -> datetime | None:
        """Return when this part is removed; None if it is kept, or if the campaign has not ended."""
        days = self.days(part)
        return None if days is None or ended_at is None else ended_at + timedelta(days=days)

    def check(self) -> None:
        """InvalidError where a part would be kept for longer than what takes it along."""
        for (part, days), (later, later_days) in pairwise(self._known()):
            if days > later_days:
                message = f"`{part}` is kept for {days} days, but goes with `{later}` after {later_days}: give it {later_days} at most."
                raise InvalidError("retention_invalid", message, {"place": f"{part}_days"})

    def _known(self) -> Iterator[tuple[Part, int]]:
        for part in PARTS:
            if (days := self.days(part)) is not None:
                yield part, days

    def due(self, ended_at: datetime | None, now: datetime) -> Part | None:
        """The widest part whose time has come."""
        due_parts = [part for part in PARTS if (at := self.due_at(part, ended_at)) is not None and at <= now]
        return due_parts[-1] if due_parts else None
