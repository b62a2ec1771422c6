"""Columns of a weather station's CSV: its times, in one column or in two, its station, its quantities."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from downlink.codec.station_fault import unreadable
from downlink.codec.station_time import TIME_OF_DAY, is_day, with_dashes
from downlink.domain.links.observation import NAME, UNITS, unit_of

TIMES = ("time", "at", "date", "datetime", "timestamp", "date_time", "valid")
DAYS = ("date", "datum", "yyyymmdd")
CLOCKS = ("time", "hour", "hh", "uhrzeit", "zeit", "hora", "heure", "clock", "utc", "gmt", "time_utc", "hour_utc")
STATIONS = ("station", "station_id", "stations_id", "stationid", "location_id", "stn", "# stn")
HEADER = re.compile(rf"\s*({NAME})\s*(?:\[([^\]]{{1,20}})\])?\s*")
_HOUR = re.compile(r"\d{1,2}")


@dataclass(frozen=True, slots=True)
class Columns:
    """Places in a row. day_at: of the day, beside a column of clock times. clock_at: of the clock's time, beside one of days.

    quantities: place to (quantity, unit).
    """

    names: Sequence[str]
    time_at: int
    day_at: int | None
    clock_at: int | None
    station_at: int | None
    quantities: Mapping[int, tuple[str, str]]

    @property
    def least_cells(self) -> int:
        return 1 + max(self.time_at, self.day_at or 0)

    @property
    def time_names(self) -> list[str]:
        """The headers of the columns that times are in."""
        return [self.names[at] for at in (self.time_at, self.day_at, self.clock_at) if at is not None]

    def written_moments(self, row: Sequence[str], is_formatted: bool) -> list[str]:
        """Texts that may be the moment of a row, likeliest first; none where its time of day is missing."""
        text = row[self.time_at].strip()
        if self.day_at is not None:
            day = row[self.day_at].strip()
            if TIME_OF_DAY.fullmatch(text):
                return [f"{day} {text}"] if is_formatted else [f"{with_dashes(day)} {text}"]
            return [f"{day} {text}", text] if is_formatted else [text]
        if self.clock_at is None or not (is_formatted or is_day(text)):
            return [text]
        clock = row[self.clock_at].strip() if self.clock_at < len(row) else ""
        if is_formatted:
            return [f"{text} {clock}", text]
        hour = f"{int(clock):02}" if clock.isascii() and _HOUR.fullmatch(clock) else clock
        return [f"{with_dashes(text)} {hour}"] if clock else []


def read_header(header: Sequence[str], line: int, columns: Mapping[str, str], time_column: str | None) -> Columns:
    """Return what each column holds. Raises InvalidError where no column has the times, or none has a quantity."""
    wanted = (time_column.lower(),) if time_column else TIMES
    places = [index for index, name in enumerate(header) if name.lower() in wanted]
    # Date and Time in two columns: the clock's time comes first, its day is looked for beside it.
    time_at = next((index for index in places if header[index].lower() != "date"), next(iter(places), None))
    if time_at is None:
        ways = f"say which one it is, or call it {TIMES[0]}"
        raise unreadable(f"Line {line} names no column of times; {ways}. It names: {', '.join(header)[:200]}.")
    for name in columns:
        if name not in header:
            raise unreadable(f"Line {line} names no column {name!r}. It names: {', '.join(header)[:200]}.")
    quantities = _quantities(header, line, columns, time_at)
    day_at = _day_at(header, time_at, quantities)
    return Columns(
        header, time_at, day_at,
        _place(header, CLOCKS, {time_at, *quantities}) if day_at is None else None,
        _place(header, STATIONS, {time_at, *quantities}), quantities,
    )  # fmt: skip


def _quantities(
    header: Sequence[str], line: int, columns: Mapping[str, str], time_at: int
) -> dict[int, tuple[str, str]]:
    quantities: dict[int, tuple[str, str]] = {}
    for index, name in enumerate(header):
        match = HEADER.fullmatch(columns.get(name, name))
        if name in columns and not match:
            raise unreadable(f"{columns[name]!r} does not name a quantity: write it as in weather.rain_mm_per_h.")
        if match and index != time_at:
            other = next((at for at, (quantity, _) in quantities.items() if quantity == match[1]), None)
            if other is not None:
                raise unreadable(
                    f"Line {line}: columns {other + 1} and {index + 1} are both {match[1]}; rename one of them."
                )
            quantities[index] = (match[1], unit_of(match[1], match[2]))
    if not quantities:
        known = ", ".join(name for name in UNITS if name.startswith("weather."))
        raise unreadable(
            f"No column names a quantity: rename one, or say which is which (column=quantity). Known: {known}."
        )
    return quantities


def _day_at(header: Sequence[str], time_at: int, quantities: Mapping[int, tuple[str, str]]) -> int | None:
    return None if _plain(header[time_at]) in DAYS else _place(header, DAYS, {time_at, *quantities})


def _place(header: Sequence[str], names: Sequence[str], taken: set[int]) -> int | None:
    """The place of the column that has the first of these names; None where no column has any."""
    columns = {_plain(name): index for index, name in reversed(list(enumerate(header))) if index not in taken}
    return next((columns[name] for name in names if name in columns), None)


def _plain(name: str) -> str:
    """Return a name without what stands in brackets, as in `Time (UTC)`."""
    return name.lower().partition("(")[0].partition("[")[0].strip()
