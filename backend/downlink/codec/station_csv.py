"""The CSV of a weather station to observations: a column of times, and a column for each quantity."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from downlink.codec.station_columns import TIMES, read_header
from downlink.codec.station_fault import unreadable
from downlink.codec.station_table import StationForm, StationTable
from downlink.codec.station_zone import Zones, zones_said
from downlink.domain.links.observation import MOST_IN_FILE, Observation
from downlink.domain.partial import LeftOut

MAX_BYTES = 16 * 2**20
MOST_PREAMBLE = 60


@dataclass(frozen=True, slots=True)
class StationRead:
    """The observations of a file, in its order, and the parts that cannot be read."""

    observations: list[Observation]
    left_out: tuple[LeftOut, ...] = ()


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
    stated = zones_said(lines[:above], [_cells(line, ",") for line in lines[:above]], columns.time_names)
    zones = Zones.of(form.zone, stated, form.link_zone)
    is_open = is_whole and not text.endswith(("\n", "\r"))
    table = StationTable(columns, above + 1, delimiter, source, form, zones, is_whole)
    observations = _once(table.observations(table.without_cut(rows) if is_open else rows), most)
    faults = table.faults_beside(observations)
    before = f"lines 1 to {above}" if above > 1 else "line 1"
    preamble = [LeftOut("", before, "above the header")] if above else []
    return StationRead(observations, (*preamble, *(each.left_out for each in faults)))


def lines_above_header(lines: Sequence[str], time_column: str | None = None) -> int:
    """Return how many lines of a preamble (comments, the place of the station) come before the line that names the times."""
    wanted = (time_column.lower(),) if time_column else TIMES
    for index, line in enumerate(lines[:MOST_PREAMBLE]):
        cells = _cells(line, _delimiter_of(line))
        if not line.startswith("#") and any(cell.strip().lower() in wanted for cell in cells):
            return index
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


def _once(read: Iterable[tuple[int, Observation]], most: int | None) -> list[Observation]:
    """Each value, with its line until here. Two values of one moment would leave one of them out without a word."""
    kept: dict[tuple[str, datetime], tuple[int, Observation]] = {}
    for line, each in read:
        first, known = kept.setdefault((each.quantity, each.at), (line, each))
        if known.value != each.value:
            raise unreadable(
                f"Lines {first} and {line}: {known.value:g} and {each.value:g} as {each.quantity} at {each.at:%Y-%m-%d %H:%M:%S} UTC. "
                "Remove one of them."
            )
        if most is not None and len(kept) > most:
            raise unreadable(f"It holds more than {most} values; split it.")
    return [each for _, each in kept.values()]
