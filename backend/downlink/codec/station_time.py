"""Times as weather stations write them. What can be read in two ways is refused: a wrong hour would never be noticed."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

_DAY = r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"
_GERMAN_DAY = r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})"
_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,6})\d*)?)?"
_OFFSET = r"(?:\s*(?P<utc>[Zz]|UTC|GMT)|\s*(?P<sign>[+-])(?P<off_h>\d{2}):?(?P<off_m>\d{2})?)?"
_HOUR = r"(?P<hour>\d{2})"
_WRITTEN = tuple(
    re.compile(rf"{day}(?:[Tt]|\s+){clock}{_OFFSET}") for day in (_DAY, _GERMAN_DAY) for clock in (_CLOCK, _HOUR)
)
_DAYS = tuple(re.compile(day) for day in (_DAY, _GERMAN_DAY))
_COMPACT = re.compile(
    rf"(?P<year>\d{{4}})(?P<month>\d{{2}})(?P<day>\d{{2}})(?:[Tt ]?(?P<hour>\d{{2}})(?P<minute>\d{{2}})?(?P<second>\d{{2}})?)?{_OFFSET}"
)
"""DWD writes hours as YYYYMMDDHH: each part has all of its digits, or a missing one would move the others."""
_EPOCH = re.compile(r"\d{9,10}|1\d{12}")
"""Seconds or milliseconds since 1970, of the years in which no such number is a date as well."""
EPOCH_BEGINS, EPOCH_ENDS = 946_684_800, 2_000_000_000
TIME_OF_DAY = re.compile(rf"\s*{_CLOCK}{_OFFSET}\s*")
_COMPACT_DAY = re.compile(r"(\d{4})(\d{2})(\d{2})")
_HOUR_OF_DAY = re.compile(r"[0-9.-]{8,10} [0-9]{2}")
_WITHOUT_CENTURY = re.compile(r"\d{10}")
_HAS_CLOCK = re.compile(r"%[HIcXTRr]")


def read_moment(text: str) -> datetime | None:
    """Return a time, with or without an offset; None for what is none. Hour 24 is the next day's 0, as many services write it."""
    text = text.strip()
    if not text.isascii():  # digits of other scripts would be read, too
        return None
    if _EPOCH.fullmatch(text) and (at := _since_1970(int(text))):
        return at
    for pattern in (*_WRITTEN, *_DAYS, _COMPACT):
        if found_parts := pattern.fullmatch(text):
            return _moment(found_parts.groupdict())
    return None


def read_formatted(text: str, form: str) -> datetime | None:
    """Return a time that is written as `form` says, in the signs of strptime; runs of blanks count as one."""
    try:
        return datetime.strptime(" ".join(text.split()), " ".join(form.split()))  # noqa: DTZ007 — the zone is the file's
    except ValueError:
        return None


def is_day(text: str) -> bool:
    """Return whether a text is a day without a time of day."""
    return text.isascii() and any(pattern.fullmatch(text) for pattern in (*_DAYS, _COMPACT_DAY))


def is_hour(text: str) -> bool:
    """Return whether a text is an hour of a day without its minutes, in two parts."""
    return bool(_HOUR_OF_DAY.fullmatch(text))


def with_dashes(day: str) -> str:
    """Return YYYYMMDD as YYYY-MM-DD, which a clock's time may follow, and anything else as it is."""
    match = _COMPACT_DAY.fullmatch(day)
    return "-".join(match.groups()) if match else day


def has_clock(form: str) -> bool:
    """Return whether a strptime format has a time of day."""
    return bool(_HAS_CLOCK.search(form))


def is_without_century(text: str) -> bool:
    """Return whether seconds since 1970 could also be YYMMDDhhmm."""
    return bool(_WITHOUT_CENTURY.fullmatch(text)) and read_formatted(text, "%y%m%d%H%M") is not None


def _since_1970(number: int) -> datetime | None:
    seconds = number / 1000 if number > 10**11 else float(number)
    return datetime.fromtimestamp(seconds, UTC) if EPOCH_BEGINS <= seconds < EPOCH_ENDS else None


def _moment(parts: dict[str, str | None]) -> datetime | None:
    def number(name: str) -> int:
        return int(parts.get(name) or 0)

    hour, minute, second = number("hour"), number("minute"), number("second")
    is_next_day = hour == 24 and minute == second == 0
    micro = int(f"{parts.get('fraction') or 0:0<6}")
    day = number("year"), number("month"), number("day")
    try:
        at = datetime(*day, 0 if is_next_day else hour, minute, second, micro, tzinfo=_offset(parts))
        return at + timedelta(days=is_next_day)
    except (ValueError, OverflowError):
        return None


def _offset(parts: dict[str, str | None]) -> timezone | None:
    if parts.get("utc"):
        return UTC
    if not parts.get("sign"):
        return None
    ahead = timedelta(hours=int(parts.get("off_h") or 0), minutes=int(parts.get("off_m") or 0))
    return timezone(ahead if parts["sign"] == "+" else -ahead)
