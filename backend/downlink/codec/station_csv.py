"""The CSV of a weather station to observations: a column of times, and a column for each quantity."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from downlink.codec.station_time import TIME_OF_DAY, read_formatted, read_moment
from downlink.domain.errors import InvalidError
from downlink.domain.moment import in_utc
from downlink.domain.observation import MOST_IN_FILE, NAME, UNITS, Observation, fault_of, unit_of
from downlink.domain.partial import LeftOut

MAX_BYTES = 16 * 2**20
TIMES = ("time", "at", "date", "datetime", "timestamp", "date_time", "valid")
MISSING = ("", "na", "n/a", "nan", "nil", "none", "null", "-", "--", "---", "----", "m", "///", "*", "x")
"""How stations write that they have no value."""
TRACE = ("T", "t")
PRECIPITATION = ("weather.rain_mm_per_h", "weather.snow_mm_per_h")
"""Stations write T for a trace: less than they can measure."""
MOST_PREAMBLE = 60
HEADER = re.compile(rf"\s*({NAME})\s*(?:\[([^\]]{{1,20}})\])?\s*")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
"""Python's own reading takes `1_000`, and digits of other scripts."""


@dataclass(frozen=True, slots=True)
class StationForm:
    """How a file is to be read, as far as it does not say so itself.

    columns: the file's own headers to quantities, with a unit where it is not known (`weather.gust_m_per_s [m/s]`). zone: in which
    times without an offset are. missing: what stands for no value in this file, beside MISSING. time_column: the header of the
    times, where it is none of TIMES. time_format: how they are written, as in `%d/%m/%Y %H:%M`. is_strict: a part that cannot be
    read refuses the whole.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    zone: str | None = None
    missing: Collection[str] = ()
    time_column: str | None = None
    time_format: str | None = None
    is_strict: bool = False


@dataclass(frozen=True, slots=True)
class StationRead:
    """What a file says, in its order, and the parts of it that cannot be read."""

    observations: list[Observation]
    left_out: tuple[LeftOut, ...] = ()


class _PartError(InvalidError):
    """A row or a cell that cannot be read, in a file whose others can."""

    def __init__(self, line: int, reason: str, advice: str = "") -> None:
        super().__init__("station_unreadable", f"Line {line}{reason}.{advice}")
        self.left_out = LeftOut("", f"line {line}", reason.removeprefix(": ").strip())


def parse_station(
    text: str,
    source: str,
    form: StationForm | None = None,
    first_line: int | None = None,
    most: int | None = MOST_IN_FILE,
) -> StationRead:
    """What the file says. Cells that are empty, or `NA`, `-` and the like, hold nothing; nor does the same value said again.

    A row or a cell that cannot be read is left out and named, unless form.is_strict. first_line: the text is a part of a longer
    file, whose line of this number is the one behind the header; a part may hold nothing. most: values of it; None for any
    number. Lines above the header are passed over. InvalidError `station_unreadable` names the line of the file.
    """
    form = form or StationForm()
    lines = text.lstrip("\ufeff").splitlines()
    if not lines:
        raise _refusal("The file is empty.")
    above = lines_above_header(lines, form.time_column)
    lines = lines[above:]
    delimiter = _delimiter_of(lines[0])
    rows = _rows(lines, delimiter, above if first_line is None else first_line - 2)
    header = [cell.strip() for cell in next(rows)[1]]
    table = _Table(header, above + 1, delimiter, source, form)
    found = _once(table.observations(rows), most)
    is_of_another_form = first_line is None and len(table.faults) > len(found)
    if table.faults and (form.is_strict or is_of_another_form):
        raise table.faults[0]
    if not found and first_line is None:
        raise _refusal("No line of it holds a value.")
    before = f"lines 1 to {above}" if above > 1 else "line 1"
    preamble = [LeftOut("", before, "above the header")] if above else []
    return StationRead(found, (*preamble, *(each.left_out for each in table.faults)))


def lines_above_header(lines: Sequence[str], time_column: str | None = None) -> int:
    """Return how many lines of a preamble (comments, the place of the station) come before the line that names the times."""
    wanted = (time_column.lower(),) if time_column else TIMES
    for place, line in enumerate(lines[:MOST_PREAMBLE]):
        cells = next(csv.reader([line], delimiter=_delimiter_of(line)), [])
        if not line.startswith("#") and any(cell.strip().lower() in wanted for cell in cells):
            return place
    return 0


def _delimiter_of(line: str) -> str:
    return max(";\t,", key=line.count)


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


def _day_column(header: Sequence[str], time_at: int) -> int | None:
    """Where the day is, in a file that has it in a column beside that of the clock's time."""
    names = [name.lower() for name in header]
    return names.index("date") if "date" in names and names[time_at] != "date" else None


def _read_header(
    header: Sequence[str], line: int, columns: Mapping[str, str], time_column: str | None
) -> tuple[int, dict[int, tuple[str, str]]]:
    """Where the time is, and place to (quantity, unit)."""
    wanted = (time_column.lower(),) if time_column else TIMES
    places = [place for place, name in enumerate(header) if name.lower() in wanted]
    # Date and Time in two columns: the clock's time comes first, its day is looked for beside it.
    time_at = next((place for place in places if header[place].lower() != "date"), next(iter(places), None))
    if time_at is None:
        ways = f"say which one it is, or call it {TIMES[0]}"
        raise _refusal(f"Line {line} names no column of times; {ways}. It names: {', '.join(header)[:200]}.")
    for name in columns:
        if name not in header:
            raise _refusal(f"Line {line} names no column {name!r}. It names: {', '.join(header)[:200]}.")
    quantities: dict[int, tuple[str, str]] = {}
    for place, name in enumerate(header):
        said = HEADER.fullmatch(columns.get(name, name))
        if name in columns and not said:
            raise _refusal(f"{columns[name]!r} does not name a quantity: write it as in weather.rain_mm_per_h.")
        if said and place != time_at:
            other = next((at for at, (quantity, _) in quantities.items() if quantity == said[1]), None)
            if other is not None:
                raise _refusal(
                    f"Line {line}: columns {other + 1} and {place + 1} are both {said[1]}; rename one of them."
                )
            quantities[place] = (said[1], unit_of(said[1], said[2]))
    if not quantities:
        known = ", ".join(name for name in UNITS if name.startswith("weather."))
        raise _refusal(
            f"No column names a quantity: rename one, or say which is which (column=quantity). Known: {known}."
        )
    return time_at, quantities


class _Table:
    """The rows below a header. faults: what could not be read of them until now."""

    def __init__(self, header: Sequence[str], line: int, delimiter: str, source: str, form: StationForm) -> None:
        self._header_line, self._columns, self._delimiter, self._source, self._form = (
            line, len(header), delimiter, source, form,
        )  # fmt: skip
        self._time_at, self._quantities = _read_header(header, line, form.columns, form.time_column)
        self._day_at = _day_column(header, self._time_at)
        self._absent = frozenset(MISSING) | {each.strip().lower() for each in form.missing}
        self._numbers = frozenset(value for each in form.missing if (value := read_number(each.strip())) is not None)
        self.faults: list[_PartError] = []

    def observations(self, rows: Iterable[tuple[int, list[str]]]) -> Iterator[tuple[int, Observation]]:
        """Each value with its line."""
        for line, row in rows:
            if not any(cell.strip() for cell in row):
                continue
            try:
                at = self._moment(line, row)
            except _PartError as fault:
                self.faults.append(fault)
                continue
            for place, (quantity, unit) in self._quantities.items():
                value = self._value(row[place] if place < len(row) else "", quantity, line)
                if value is not None:
                    yield line, Observation(quantity, unit, self._source, at, value)

    def _moment(self, line: int, row: Sequence[str]) -> datetime:
        if len(row) > self._columns:
            cause = (
                "Decimal commas need semicolons between the cells"
                if self._delimiter == ","
                else "Remove what is too much"
            )
            reason = f" has {len(row)} cells, and line {self._header_line} names {self._columns} columns"
            raise _PartError(line, reason, f" {cause}.")
        if len(row) <= max(self._time_at, self._day_at or 0):
            raise _PartError(line, " has no time")
        text = row[self._time_at].strip()
        if self._day_at is not None and TIME_OF_DAY.fullmatch(text):
            text = f"{row[self._day_at].strip()} {text}"
        return _moment(text, self._form, line)

    def _value(self, cell: str, quantity: str, line: int) -> float | None:
        """None where the cell holds none, or what cannot be read."""
        text = cell.strip() if self._delimiter == "," else cell.strip().replace(",", ".")
        if text.lower() in self._absent:
            return None
        if text in TRACE and quantity in PRECIPITATION:
            return 0.0
        value = read_number(text)
        if value is None:
            self.faults.append(_PartError(line, f": {text[:40]!r} is not a number"))
            return None
        if value in self._numbers:
            return None
        if fault := fault_of(value, quantity):
            raise _refusal(f"Line {line}, {quantity}: {fault}")
        return value


def _moment(text: str, form: StationForm, line: int) -> datetime:
    at = read_moment(text) if form.time_format is None else read_formatted(text, form.time_format)
    if at is None:
        way = "as 2026-11-25T06:10Z" if form.time_format is None else f"as {form.time_format}"
        raise _PartError(line, f": {text[:40]!r} is not a time; write it {way}")
    if at.tzinfo is None and form.zone is None:
        raise _refusal(
            f"Line {line}: {text[:40]!r} has no offset; say the time zone of the file, such as Europe/Madrid."
        )
    try:
        return in_utc(at, form.zone)
    except ValueError as error:
        raise _refusal(f"Line {line}: {text[:40]!r} {error}.") from None


def read_number(text: str) -> float | None:
    """A number as stations write it; None for what is none."""
    return float(text) if NUMBER.fullmatch(text) else None


def _refusal(message: str) -> InvalidError:
    return InvalidError("station_unreadable", message)
