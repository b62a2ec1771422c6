"""The CSV of a weather station to observations: a column of times, and a column for each quantity."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NoReturn

from downlink.codec.station_columns import TIMES, Columns, read_header
from downlink.codec.station_fault import unreadable
from downlink.codec.station_time import has_clock, is_day, is_hour, is_without_century, read_formatted, read_moment
from downlink.codec.station_values import Values
from downlink.codec.station_zone import Zones, settled, zones_said
from downlink.domain.errors import InvalidError
from downlink.domain.links.observation import MOST_IN_FILE, Observation
from downlink.domain.partial import LeftOut

MAX_BYTES = 16 * 2**20
MISSING = ("", "na", "n/a", "nan", "nil", "none", "null", "-", "--", "---", "----", "m", "///", "*", "x")
"""How stations write that they have no value."""
TRACE = ("T", "t")
PRECIPITATION = ("weather.rain_mm_per_h", "weather.snow_mm_per_h")
"""Stations write T for a trace: less than they can measure."""
MOST_PREAMBLE = 60
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
"""Python's own reading takes `1_000`, and digits of other scripts."""
DECIMAL_COMMA = re.compile(r"[+-]?(0,[0-9]+|[0-9]+,([0-9]{1,2}|[0-9]{4,})|[0-9]{4,},[0-9]+)")
"""In quotes between commas. `1,013` may be a thousand and thirteen."""


@dataclass(frozen=True, slots=True)
class StationForm:
    """Instructions for reading a file, where it does not describe itself.

    columns: the file's own headers to quantities, with a unit where it is not known (`weather.gust_m_per_s [m/s]`). zone: in which
    times without an offset are, whatever the file says. link_zone: the same where neither zone nor the file says it. missing: what
    stands for no value in this file, beside MISSING. time_column: the header of the times, where it is none of TIMES. time_format:
    how they are written, as in `%d/%m/%Y %H:%M`. is_strict: a part that cannot be read refuses the whole.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    zone: str | None = None
    missing: Collection[str] = ()
    time_column: str | None = None
    time_format: str | None = None
    is_strict: bool = False
    link_zone: str | None = None


@dataclass(frozen=True, slots=True)
class StationRead:
    """The observations of a file, in its order, and the parts that cannot be read."""

    observations: list[Observation]
    left_out: tuple[LeftOut, ...] = ()


class _PartError(InvalidError):
    """A row or a cell that cannot be read, in a file whose others can."""

    def __init__(self, line: int, reason: str, advice: str = "") -> None:
        super().__init__("station_unreadable", f"Line {line}{reason}.{advice}")
        self.line = line
        self.left_out = LeftOut("", f"line {line}", reason.removeprefix(": ").strip())


def parse_station(
    text: str,
    source: str,
    form: StationForm | None = None,
    first_line: int | None = None,
    most: int | None = MOST_IN_FILE,
) -> StationRead:
    """Read a station's file. Empty cells, `NA`, `-` and the like are no values; a repeated value is taken once.

    A row or a cell that cannot be read is left out and named, unless form.is_strict. first_line: the text is a part of a longer
    file, whose line of this number is the one behind the header; a part may hold nothing. most: values of it; None for any
    number. Lines above the header are passed over. InvalidError `station_unreadable` names the line of the file.
    """
    form = form or StationForm()
    lines = text.lstrip("\ufeff").splitlines()
    if not lines:
        raise unreadable("The file is empty.")
    above = lines_above_header(lines, form.time_column)
    is_whole = first_line is None
    delimiter = _delimiter_of(lines[above])
    rows = _rows(lines[above:], delimiter, above if first_line is None else first_line - 2)
    columns = read_header([cell.strip() for cell in next(rows)[1]], above + 1, form.columns, form.time_column)
    said = zones_said(lines[:above], [_cells(line, ",") for line in lines[:above]], columns.time_names)
    zones = Zones.of(form.zone, said, form.link_zone)
    is_open = is_whole and not text.endswith(("\n", "\r"))
    table = _Table(columns, above + 1, delimiter, source, form, zones, is_whole)
    found = _once(table.observations(table.without_cut(rows) if is_open else rows), most)
    faults = table.faults_beside(found)
    before = f"lines 1 to {above}" if above > 1 else "line 1"
    preamble = [LeftOut("", before, "above the header")] if above else []
    return StationRead(found, (*preamble, *(each.left_out for each in faults)))


def lines_above_header(lines: Sequence[str], time_column: str | None = None) -> int:
    """Return how many lines of a preamble (comments, the place of the station) come before the line that names the times."""
    wanted = (time_column.lower(),) if time_column else TIMES
    for place, line in enumerate(lines[:MOST_PREAMBLE]):
        cells = _cells(line, _delimiter_of(line))
        if not line.startswith("#") and any(cell.strip().lower() in wanted for cell in cells):
            return place
    return 0


def _cells(line: str, delimiter: str) -> list[str]:
    """Return the cells of one line; none if one of them is too long."""
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error:
        return []


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
            raise unreadable(
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
            raise unreadable(
                f"Lines {first} and {line}: {known.value:g} and {each.value:g} as {each.quantity} at {each.at:%Y-%m-%d %H:%M:%S} UTC. "
                "Remove one of them."
            )
        if most is not None and len(found) > most:
            raise unreadable(f"It holds more than {most} values; split it.")
    return [each for _, each in found.values()]


@dataclass(frozen=True, slots=True)
class _Row:
    """A row whose time is read. at: as it is written, with an offset or by the clock of a zone."""

    line: int
    cells: list[str]
    text: str
    at: datetime


class _Table:
    """The rows below a header. faults: what could not be read of them until now. unsettled: times that are no certain moment."""

    def __init__(
        self, columns: Columns, line: int, delimiter: str, source: str, form: StationForm, zones: Zones, is_whole: bool
    ) -> None:
        self._header_line, self._columns, self._delimiter, self._source, self._form, self._zones = (
            line, columns, delimiter, source, form, zones,
        )  # fmt: skip
        self._absent = frozenset(MISSING) | {each.strip().lower() for each in form.missing}
        self._numbers = frozenset(value for each in form.missing if (value := read_number(each.strip())) is not None)
        self._is_whole = is_whole
        self.values = Values(is_whole)
        self.faults: list[_PartError] = []
        self.unsettled: list[_PartError] = []

    def observations(self, rows: Iterable[tuple[int, list[str]]]) -> Iterator[tuple[int, Observation]]:
        """Each value with its line."""
        read = list(self._rows(rows))
        if self._is_whole and self._form.time_format is None:
            _check_centuries(read)
        _check_days(read, self._columns, self._form.time_format)
        for row, at in self._settled(read):
            for place, (quantity, unit) in self._columns.quantities.items():
                value = self._value(row.cells[place] if place < len(row.cells) else "", quantity, row.line)
                if value is not None:
                    yield row.line, Observation(quantity, unit, self._source, at, value)

    def faults_beside(self, found: Sequence[Observation]) -> list[_PartError]:
        """Return the parts that are left out, in the order of the file. Raise InvalidError if they make the whole file unusable."""
        if refusal := self.values.refusal():
            raise refusal
        faults = sorted([*self.faults, *self.unsettled], key=lambda each: each.line)
        is_of_another_form = self._is_whole and (len(self.faults) > len(found) or not found)
        if faults and (self._form.is_strict or is_of_another_form):
            raise faults[0]
        if not found and self._is_whole:
            raise unreadable("No line of it holds a value.")
        return faults

    def without_cut(self, rows: Iterable[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
        """The rows of a file without a line end, whose last cell is left out where it is shorter than the others of its column."""
        every = list(rows)
        line, last = every[-1] if every else (0, [])
        place = len(last) - 1
        others = [row[place].strip().replace(",", ".") for _, row in every[:-1] if 0 <= place < len(row)]
        numbers = [each for each in others if read_number(each) is not None]
        yield from every[:-1]
        if place in self._columns.quantities and is_cut(last[place].strip().replace(",", "."), numbers):
            reason = f": {last[place].strip()[:40]!r} is shorter than the others of its column, and no line end follows"
            self.faults.append(_PartError(line, reason, " The file may be cut off; complete it."))
            last = last[:place]
        if every:
            yield line, last

    def _rows(self, rows: Iterable[tuple[int, list[str]]]) -> Iterator[_Row]:
        """Yield the rows that have a time, up to the end of the table."""
        station: tuple[int, str] | None = None
        names = [name.lower() for name in self._columns.names]
        for line, cells in rows:
            if not any(cell.strip() for cell in cells):
                continue
            try:
                text, at = self._written(line, cells)
            except _PartError as fault:
                if _is_header(cells, self._columns) and [cell.strip().lower() for cell in cells] != names:
                    self.faults.append(_rest(line, cells, rows))
                    return
                self.faults.append(fault)
                continue
            station = self._same_station(station, line, cells)
            yield _Row(line, cells, text, at)

    def _same_station(self, known: tuple[int, str] | None, line: int, cells: Sequence[str]) -> tuple[int, str] | None:
        place = self._columns.station_at
        name = cells[place].strip() if place is not None and place < len(cells) else ""
        if place is None or not name:
            return known
        if known and known[1] != name:
            raise unreadable(
                f"Lines {known[0]} and {line} are of two stations, {known[1][:40]!r} and {name[:40]!r} "
                f"({self._columns.names[place]}): keep the rows of one."
            )
        return known or (line, name)

    def _written(self, line: int, row: Sequence[str]) -> tuple[str, datetime]:
        if len(row) > len(self._columns.names):
            cause = (
                "Decimal commas need semicolons between the cells"
                if self._delimiter == ","
                else "Remove what is too much"
            )
            reason = f" has {len(row)} cells, and line {self._header_line} names {len(self._columns.names)} columns"
            raise _PartError(line, reason, f" {cause}.")
        texts = [] if len(row) < self._columns.least_cells else self._columns.written_moments(row, self._is_formatted)
        if not texts:
            raise _PartError(line, " has no time")
        return next(((text, at) for text in texts if (at := self._read(text)) is not None), None) or _no_time(
            texts[0], self._form, line
        )

    @property
    def _is_formatted(self) -> bool:
        return self._form.time_format is not None

    def _read(self, text: str) -> datetime | None:
        form = self._form.time_format
        return read_moment(text) if form is None else read_formatted(text, form)

    def _settled(self, rows: Sequence[_Row]) -> Iterator[tuple[_Row, datetime]]:
        """Each row whose moment is certain."""
        choices = [self._zones.moments_of(row.at, row.text, row.line) for row in rows]
        for row, of_it, at in zip(rows, choices, settled(choices), strict=True):
            if at is not None:
                yield row, at
                continue
            why = "comes twice: clocks are set back" if of_it else "is left out: clocks are set forward"
            reason = f": {row.text[:40]!r} {why} in {self._zones.name}"
            self.unsettled.append(
                _PartError(row.line, reason, " Write it with its offset, or say another --time-zone.")
            )

    def _value(self, cell: str, quantity: str, line: int) -> float | None:
        """None where the cell holds none, or what cannot be read."""
        text = cell.strip()
        if self._delimiter != "," or DECIMAL_COMMA.fullmatch(text):
            text = text.replace(",", ".")
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
        return value if self.values.take(value, text, quantity, line) else None


def _no_time(text: str, form: StationForm, line: int) -> NoReturn:
    way = "as 2026-11-25T06:10Z" if form.time_format is None else f"as {form.time_format}"
    advice = "" if form.time_format else " Or say how the times are written: --time-format '%d/%m/%Y %H:%M'."
    raise _PartError(line, f": {text[:40]!r} is not a time; write it {way}", advice)


def _is_header(cells: Sequence[str], columns: Columns) -> bool:
    """Return whether a row without a time is a header, with a column of times. Words such as `valid` may be a cell as well."""
    said = [cell.strip().lower() for cell in cells if cell.strip()]
    wanted = {*TIMES} - {"at", "valid"} | {columns.names[columns.time_at].lower()}
    is_data = any(read_number(each) is not None or each in MISSING for each in said)
    return len(said) > 1 and not is_data and not wanted.isdisjoint(said)


def _rest(line: int, cells: Sequence[str], rows: Iterable[tuple[int, list[str]]]) -> _PartError:
    """Refuse everything from a further header on: it is another table, whose columns may be other quantities."""
    last = max((line, *(each for each, row in rows if any(cell.strip() for cell in row))))
    names = ", ".join(cell.strip() for cell in cells)[:100]
    fault = _PartError(line, f" begins another table ({names})", " Keep one table in a file.")
    if last > line:
        fault.left_out = LeftOut("", f"lines {line} to {last}", f"another table ({names})")
    return fault


def _check_centuries(rows: Sequence[_Row]) -> None:
    """Refuse times that are seconds since 1970 and YYMMDDhhmm as well, all of them."""
    if rows and all(is_without_century(row.text) and row.at.tzinfo for row in rows):
        raise unreadable(
            f"Line {rows[0].line}: {rows[0].text!r} may be seconds since 1970 or YYMMDDhhmm, and so may all others. "
            "Say --time-format %y%m%d%H%M for the latter, or write the times as 2026-11-25T06:10Z."
        )


def _check_days(rows: Sequence[_Row], columns: Columns, time_format: str | None) -> None:
    """Refuse days and hours that come more than once where the rows differ: the rest of the time is in a column that is not read."""
    first: dict[str, _Row] = {}
    for row in rows:
        if has_clock(time_format) if time_format else not (is_day(row.text) or is_hour(row.text)):
            continue
        known = first.setdefault(row.text, row)
        for place, (one, other) in enumerate(zip(known.cells, row.cells, strict=False)):
            if one != other and place not in columns.quantities and place != columns.time_at:
                raise unreadable(
                    f"Lines {known.line} and {row.line} have the same time {row.text[:40]!r}, and differ in column "
                    f"{columns.names[place][:40]!r}. Write day and time of day into one column, and name it (--time-column)."
                )


def read_number(text: str) -> float | None:
    """A number as stations write it; None for what is none."""
    return float(text) if NUMBER.fullmatch(text) else None


def is_cut(text: str, others: Sequence[str]) -> bool:
    """Return whether a number lacks digits that all others of its column have: decimals, or else any."""
    if len(others) < 2 or read_number(text) is None:
        return False
    decimals = {len(each.partition(".")[2]) for each in others}
    if len(decimals) == 1 and decimals != {0}:
        return len(text.partition(".")[2]) < decimals.pop()
    return len(text) < min(map(len, others))
