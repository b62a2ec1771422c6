"""The rows of a weather station's table: times, values, and the parts that are left out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NoReturn

from downlink.codec.station_columns import TIMES, Columns
from downlink.codec.station_fault import unreadable
from downlink.codec.station_time import has_clock, is_day, is_hour, is_without_century, read_formatted, read_moment
from downlink.codec.station_values import Values
from downlink.codec.station_zone import Zones, settled
from downlink.domain.errors import InvalidError
from downlink.domain.links.observation import Observation
from downlink.domain.partial import LeftOut

MISSING = ("", "na", "n/a", "nan", "nil", "none", "null", "-", "--", "---", "----", "m", "///", "*", "x")
"""Texts that stations write for a missing value."""
TRACE = ("T", "t")
PRECIPITATION = ("weather.rain_mm_per_h", "weather.snow_mm_per_h")
"""Stations write T for a trace: less than they can measure."""
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
"""Python's own reading takes `1_000`, and digits of other scripts."""
DECIMAL_COMMA = re.compile(r"[+-]?(0,[0-9]+|[0-9]+,([0-9]{1,2}|[0-9]{4,})|[0-9]{4,},[0-9]+)")
"""Numbers with a decimal comma, in quotes between commas. `1,013` may be a thousand and thirteen."""


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


class _PartError(InvalidError):
    """A row or a cell that cannot be read, in a file whose others can."""

    def __init__(self, line: int, reason: str, advice: str = "") -> None:
        super().__init__("station_unreadable", f"Line {line}{reason}.{advice}")
        self.line = line
        self.left_out = LeftOut("", f"line {line}", reason.removeprefix(": ").strip())


@dataclass(frozen=True, slots=True)
class _Row:
    """A row whose time is read. at: as it is written, with an offset or by the clock of a zone."""

    line: int
    cells: list[str]
    text: str
    at: datetime


class StationTable:
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
            for column, (quantity, unit) in self._columns.quantities.items():
                value = self._value(row.cells[column] if column < len(row.cells) else "", quantity, row.line)
                if value is not None:
                    yield row.line, Observation(quantity, unit, self._source, at, value)

    def faults_beside(self, observations: Sequence[Observation]) -> list[_PartError]:
        """Return the parts that are left out, in the order of the file. Raise InvalidError if they make the whole file unusable."""
        if refusal := self.values.refusal():
            raise refusal
        faults = sorted([*self.faults, *self.unsettled], key=lambda each: each.line)
        is_of_another_form = self._is_whole and (len(self.faults) > len(observations) or not observations)
        if faults and (self._form.is_strict or is_of_another_form):
            raise faults[0]
        if not observations and self._is_whole:
            raise unreadable("No line of it holds a value.")
        return faults

    def without_cut(self, rows: Iterable[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
        """The rows of a file without a line end, whose last cell is left out where it is shorter than the others of its column."""
        every = list(rows)
        line, last = every[-1] if every else (0, [])
        index = len(last) - 1
        others = [row[index].strip().replace(",", ".") for _, row in every[:-1] if 0 <= index < len(row)]
        numbers = [each for each in others if read_number(each) is not None]
        yield from every[:-1]
        if index in self._columns.quantities and is_cut(last[index].strip().replace(",", "."), numbers):
            reason = f": {last[index].strip()[:40]!r} is shorter than the others of its column, and no line end follows"
            self.faults.append(_PartError(line, reason, " The file may be cut off; complete it."))
            last = last[:index]
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
        column = self._columns.station_at
        name = cells[column].strip() if column is not None and column < len(cells) else ""
        if column is None or not name:
            return known
        if known and known[1] != name:
            raise unreadable(
                f"Lines {known[0]} and {line} are of two stations, {known[1][:40]!r} and {name[:40]!r} "
                f"({self._columns.names[column]}): keep the rows of one."
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
    texts = [cell.strip().lower() for cell in cells if cell.strip()]
    wanted = {*TIMES} - {"at", "valid"} | {columns.names[columns.time_at].lower()}
    is_data = any(read_number(each) is not None or each in MISSING for each in texts)
    return len(texts) > 1 and not is_data and not wanted.isdisjoint(texts)


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
        for column, (one, other) in enumerate(zip(known.cells, row.cells, strict=False)):
            if one != other and column not in columns.quantities and column != columns.time_at:
                raise unreadable(
                    f"Lines {known.line} and {row.line} have the same time {row.text[:40]!r}, and differ in column "
                    f"{columns.names[column][:40]!r}. Write day and time of day into one column, and name it (--time-column)."
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
