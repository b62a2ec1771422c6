"""The time zone of a station's file, and the moments of its local times where clocks change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from itertools import pairwise
from zoneinfo import ZoneInfo

from downlink.codec.station_fault import unreadable
from downlink.domain.errors import InvalidError
from downlink.domain.moment import in_utc
from downlink.domain.zone import check_zone

_KEY = re.compile(r"(?<![a-z])(?:time[ _-]?zone|tz)\s*(?:->|[:=,;\t])\s*([^,;\t]{1,60})", re.IGNORECASE)
_SENTENCE = re.compile(
    r"(?<![a-z])times?(?![a-z])[^,;\t]{0,40}?(?:\bin|\bis|\bare|:|=)\s*(UTC|GMT)(?![\w+-])", re.IGNORECASE
)
_IN_NAME = re.compile(r"(?<![a-z])((?:UTC|GMT)(?:\s*[+-]\s*\d{1,2}(?::?\d{2})?)?)(?![a-z0-9])", re.IGNORECASE)
_AHEAD = re.compile(r"(?:UTC|GMT)?\s*([+-])\s*(\d{1,2})(?::?(\d{2}))?", re.IGNORECASE)
_LOCAL = ("", "-", "local", "local time", "auto", "none", "na", "n/a", "unknown")
"""Names no zone: the link's own is as good."""
ADVICE = "Say which it is: --time-zone Europe/Madrid, or --time-zone Etc/GMT-1 for an hour ahead of UTC in summer, too."
LONGEST_RUN = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class SaidZone:
    """The zone that a line names; zone is None where it is not known."""

    line: int
    text: str
    zone: tzinfo | None


@dataclass(frozen=True, slots=True)
class Zones:
    """The time zones of a file's times without an offset. said: what the file names; used: the zones that must all agree."""

    name: str
    used: tuple[tzinfo, ...]
    said: tuple[SaidZone, ...] = ()

    @classmethod
    def of(cls, wanted: str | None, stated: tuple[SaidZone, ...], otherwise: str | None) -> Zones:
        """Choose the zones: those stated for this file, else those of the file itself, else the link's."""
        if wanted is None and stated:
            names = dict.fromkeys(each.text for each in stated)
            return cls(" and ".join(names), tuple(dict.fromkeys(each.zone for each in stated if each.zone)), stated)
        name = wanted or otherwise
        zone = _zone(name) if name else None
        return cls(name or "", (zone,) if zone else ())

    def moments_of(self, at: datetime, text: str, line: int) -> tuple[datetime, ...]:
        """The moments that a time of the file may be. InvalidError where its zone is not known, or known in two ways."""
        if at.tzinfo is None:
            self._check(text, line)
        try:
            moments = (in_utc(at),) if at.tzinfo else moments_of(at, self.used)
        except ValueError as error:
            raise unreadable(f"Line {line}: {text[:40]!r} {error}.") from None
        if not moments and len(self.used) > 1:
            raise unreadable(
                f"Line {line}: by {self.name}, which the file says, {text[:40]!r} is not one moment. {ADVICE}"
            )
        return moments

    def _check(self, text: str, line: int) -> None:
        unknown = next((each for each in self.said if each.zone is None), None)
        if unknown:
            raise unreadable(f"Line {unknown.line} says the time zone {unknown.text!r}, which is not known. {ADVICE}")
        if not self.used and self.name:
            raise unreadable(f"There is no time zone {self.name}; write an IANA name, such as Europe/Madrid or UTC.")
        if not self.used:
            raise unreadable(
                f"Line {line}: {text[:40]!r} has no offset; say the time zone of the file, such as Europe/Madrid."
            )


def zones_said(above: Sequence[str], cells: Sequence[Sequence[str]], time_names: Sequence[str]) -> tuple[SaidZone, ...]:
    """Each zone that the lines above the header say, or the headers of the times. cells: those of each line, between commas."""
    stated = [
        SaidZone(len(above) + 1, text[1], zone_named(text[1])) for name in time_names if (text := _IN_NAME.search(name))
    ]
    inside = set[int]()
    for index, line in enumerate(above):
        names = [name.lower() for name in cells[index]]
        if "utc_offset_seconds" in names or {"timezone", "latitude"} <= set(names):
            rows = list(_rows_below(cells, index))
            inside |= {index, *(at for at, _ in rows)}
            stated += [each for at, row in rows for each in _of_table(names, row, at + 1)]
        elif index not in inside and (text := _KEY.search(line) or _SENTENCE.search(line)):
            stated += _of_text(text[1], index + 1)
    return tuple(stated)


def zone_named(text: str) -> tzinfo | None:
    """Return UTC, an offset from it, or a zone with a place in its name. Abbreviations do not say whether clocks change."""
    if text.lower() in ("utc", "gmt", "z"):
        return UTC
    if (match := _AHEAD.fullmatch(text)) and text.isascii():
        return _offset((int(match[2]) * 60 + int(match[3] or 0)) * (60 if match[1] == "+" else -60))
    return _zone(text) if "/" in text else None


def moments_of(local: datetime, zones: Sequence[tzinfo]) -> tuple[datetime, ...]:
    """The moments, rising, at which the clocks of all zones show this time: none where it is left out, two where it comes twice.

    ValueError for one whose moment lies outside of the years 1 to 9999 in UTC.
    """
    moments = [_moments_of(local, zone) for zone in zones]
    return tuple(each for each in moments[0] if all(each in others for others in moments))


def settled(choices: Sequence[tuple[datetime, ...]]) -> list[datetime | None]:
    """The moment of each, in the order of the file; None where it is open which of two it is, or there is none.

    Loggers write rising times: where all others rise, the one step back among times that come twice is the clock's.
    """
    moments: list[datetime | None] = [each[0] if len(each) == 1 else None for each in choices]
    sure = [each for each in moments if each is not None]
    if any(later <= earlier for earlier, later in pairwise(sure)):
        return moments
    for run in _runs(choices):
        steps_back = [at for at in run[1:] if choices[at][0] <= choices[at - 1][0]]
        if len(steps_back) == 1:
            for at in run:
                moments[at] = choices[at][at >= steps_back[0]]
    return moments


def _runs(choices: Sequence[tuple[datetime, ...]]) -> Iterator[list[int]]:
    """Neighbours that come twice on the same night."""
    run: list[int] = []
    for at, each in enumerate(choices):
        if run and (len(each) < 2 or abs(each[0] - choices[at - 1][0]) > LONGEST_RUN):
            yield run
            run = []
        if len(each) > 1:
            run.append(at)
    if run:
        yield run


def _moments_of(local: datetime, zone: tzinfo) -> tuple[datetime, ...]:
    first, second = (local.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    early, late = first.utcoffset(), second.utcoffset()
    if early == late or early is None or late is None:
        return (in_utc(first),)
    return (in_utc(first), in_utc(second)) if early > late else ()


def _zone(name: str) -> ZoneInfo | None:
    try:
        check_zone(name)
    except InvalidError:
        return None
    return ZoneInfo(name)


def _offset(seconds: int) -> timezone | None:
    return timezone(timedelta(seconds=seconds)) if abs(seconds) <= 14 * 3600 else None


def _rows_below(cells: Sequence[Sequence[str]], index: int) -> Iterator[tuple[int, Sequence[str]]]:
    for at in range(index + 1, len(cells)):
        if len(cells[at]) != len(cells[index]):
            return
        yield at, cells[at]


def _of_table(names: Sequence[str], row: Sequence[str], line: int) -> Iterator[SaidZone]:
    for name, text in zip(names, row, strict=True):
        if name == "utc_offset_seconds" and text:
            is_number = re.fullmatch(r"[+-]?\d{1,6}", text) and text.isascii()
            yield SaidZone(line, f"{text} s", _offset(int(text)) if is_number else None)
        elif name == "timezone":
            yield from _of_text(text, line)


def _of_text(text: str, line: int) -> list[SaidZone]:
    text = text.strip(" \"'#")
    first = text.partition(" ")[0]
    return [] if text.lower() in _LOCAL else [SaidZone(line, text, zone_named(first if "/" in first else text))]
