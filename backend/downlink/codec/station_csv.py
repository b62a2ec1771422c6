"""The CSV of a weather station to observations: a column of times, and a column for each quantity."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from downlink.domain.errors import InvalidError
from downlink.domain.moment import in_utc
from downlink.domain.observation import MOST_IN_FILE, NAME, UNITS, Observation, fault_of, unit_of

MAX_BYTES = 16 * 2**20
TIMES = ("time", "at", "date", "datetime", "timestamp", "date_time", "valid")
MISSING = ("", "na", "nan", "null", "-", "--", "m")
"""How stations write that they have no value."""
HEADER = re.compile(rf"\s*({NAME})\s*(?:\[([^\]]{{1,20}})\])?\s*")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
"""Python's own reading takes `1_000`, and digits of other scripts."""
FORMATS = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M", "%Y%m%d%H%M")


def parse_station(
    text: str,
    source: str,
    columns: Mapping[str, str] | None = None,
    zone: str | None = None,
    first_line: int | None = None,
    most: int | None = MOST_IN_FILE,
) -> list[Observation]:
    """What the file says, in its order. Cells that are empty, or `NA`, `-` and the like, are left out; so is the same value said again.

    columns: the file's own headers to quantities, with a unit where it is not known (`weather.gust_m_per_s [m/s]`). zone: in
    which times without an offset are. first_line: the text is a part of a longer file, whose line of this number is the one behind
    the header; a part may hold nothing. most: values of it; None for any number.
    InvalidError `station_unreadable` names the line of the file.
    """
    lines = text.lstrip("\ufeff").splitlines()
    if not lines:
        raise _refusal("The file is empty.")
    delimiter = max(";\t,", key=lines[0].count)
    rows = _rows(lines, delimiter, (first_line or 2) - 2)
    header = [cell.strip() for cell in next(rows)[1]]
    time_at, quantities = _read_header(header, columns or {})
    placed = _placed(rows, len(header), delimiter)
    said = _observations(placed, source, time_at, quantities, zone, is_comma_decimal=delimiter != ",")
    found = _once(said, most)
    if not found and first_line is None:
        raise _refusal("No line of it holds a value.")
    return found


def _rows(lines: Sequence[str], delimiter: str, before: int) -> Iterator[tuple[int, list[str]]]:
    """Each row with the line that ends it. before: lines of the file that come between its header and this part."""
    rows = csv.reader(lines, delimiter=delimiter)
    line = 0
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error:
            raise _refusal(
                f"Line {line + 1}: a cell is longer than {csv.field_size_limit()} characters. "
                "A quote in it may have none that ends it; remove it."
            ) from None
        line = rows.line_num + before
        yield line, row


def _placed(rows: Iterable[tuple[int, list[str]]], columns: int, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Each row that says anything, with its line."""
    for line, row in rows:
        if len(row) > columns:
            cause = (
                "Decimal commas need semicolons between the cells" if delimiter == "," else "Remove what is too much"
            )
            raise _refusal(f"Line {line} has {len(row)} cells, and line 1 names {columns} columns. {cause}.")
        if any(cell.strip() for cell in row):
            yield line, row


def _once(said: Iterable[tuple[int, Observation]], most: int | None) -> list[Observation]:
    """Each value, with its line until here. Two values of one moment would leave one of them out without a word."""
    found: dict[tuple[str, datetime], tuple[int, Observation]] = {}
    for line, each in said:
        first, known = found.setdefault((each.quantity, each.at), (line, each))
        if known.value != each.value:
            raise _refusal(
                f"Lines {first} and {line}: {known.value:g} and {each.value:g} as {each.quantity} at {each.at:%Y-%m-%d %H:%M:%S} UTC. "
                "Remove one of them; if a clock was set back in between, write these times with their offset."
            )
        if most is not None and len(found) > most:
            raise _refusal(f"It holds more than {most} values; split it.")
    return [each for _, each in found.values()]


def _read_header(header: Sequence[str], columns: Mapping[str, str]) -> tuple[int, dict[int, tuple[str, str]]]:
    """Where the time is, and place to (quantity, unit)."""
    time_at = next((place for place, name in enumerate(header) if name.lower() in TIMES), None)
    if time_at is None:
        raise _refusal(f"Line 1 names no column of times; call it {TIMES[0]}. It names: {', '.join(header)[:200]}.")
    for name in columns:
        if name not in header:
            raise _refusal(f"Line 1 names no column {name!r}. It names: {', '.join(header)[:200]}.")
    quantities: dict[int, tuple[str, str]] = {}
    for place, name in enumerate(header):
        said = HEADER.fullmatch(columns.get(name, name))
        if name in columns and not said:
            raise _refusal(f"{columns[name]!r} does not name a quantity: write it as in weather.rain_mm_per_h.")
        if said and place != time_at:
            other = next((at for at, (quantity, _) in quantities.items() if quantity == said[1]), None)
            if other is not None:
                raise _refusal(f"Line 1: columns {other + 1} and {place + 1} are both {said[1]}; rename one of them.")
            quantities[place] = (said[1], unit_of(said[1], said[2]))
    if not quantities:
        known = ", ".join(name for name in UNITS if name.startswith("weather."))
        raise _refusal(
            f"No column names a quantity: rename one, or say which is which (column=quantity). Known: {known}."
        )
    return time_at, quantities


def _observations(
    rows: Iterable[tuple[int, list[str]]],
    source: str,
    time_at: int,
    quantities: Mapping[int, tuple[str, str]],
    zone: str | None,
    *,
    is_comma_decimal: bool,
) -> Iterator[tuple[int, Observation]]:
    for line, row in rows:
        if len(row) <= time_at:
            raise _refusal(f"Line {line} has no time.")
        at = _moment(row[time_at].strip(), zone, line)
        for place, (quantity, unit) in quantities.items():
            cell = row[place] if place < len(row) else ""
            value = _number(cell, quantity, line, is_comma_decimal=is_comma_decimal)
            if value is not None:
                yield line, Observation(quantity, unit, source, at, value)


def _number(cell: str, quantity: str, line: int, *, is_comma_decimal: bool) -> float | None:
    text = cell.strip()
    if text.lower() in MISSING:
        return None
    value = read_number(text.replace(",", ".") if is_comma_decimal else text)
    if value is None:
        raise _refusal(f"Line {line}: {text[:40]!r} is not a number.")
    fault = fault_of(value)
    if fault:
        raise _refusal(f"Line {line}, {quantity}: {fault}")
    return value


def _moment(text: str, zone: str | None, line: int) -> datetime:
    at = read_moment(text)
    if at is None:
        raise _refusal(f"Line {line}: {text[:40]!r} is not a time; write it as 2026-11-25T06:10Z.")
    if at.tzinfo is None and zone is None:
        raise _refusal(
            f"Line {line}: {text[:40]!r} has no offset; say the time zone of the file, such as Europe/Madrid."
        )
    try:
        return in_utc(at, zone)
    except ValueError as error:
        raise _refusal(f"Line {line}: {text[:40]!r} {error}.") from None


def read_number(text: str) -> float | None:
    """A number as stations write it; None for what is none."""
    return float(text) if NUMBER.fullmatch(text) else None


def read_moment(text: str) -> datetime | None:
    """A time as stations write it, with or without an offset; None for what is none."""
    if not text.isascii():  # digits of other scripts would be read, too
        return None
    for read in (datetime.fromisoformat, *(lambda text, form=form: datetime.strptime(text, form) for form in FORMATS)):  # noqa: DTZ007 - the zone follows
        try:
            return read(text)
        except ValueError:
            continue
    return None


def _refusal(message: str) -> InvalidError:
    return InvalidError("station_unreadable", message)
