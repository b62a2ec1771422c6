"""Tables of ACK logs: reading of rows, and repair of those that were cut or damaged."""

from __future__ import annotations

import io
import math
import warnings
from array import array

import numpy as np
from numpy.typing import NDArray

from downlink.domain.partial import LeftOut
from downlink.domain.traces.sample import FieldKind, fields
from downlink.importers.model import UnreadableError
from downlink.importers.value_checks import MAX_SAMPLES

RISING = {"now_us", "bytes_acked", "total_delv_B", "total_sent_B"}
NO_VALUE = {b"", b"NA", b"N/A", b"NULL", b"NONE", b"-"}
"""Texts of a cell without a value as R, databases and spreadsheets write them, in capitals."""
MOST_BAD = 0.01
"""Share of rows that may be bad: a file with more of them is of another form, or damaged throughout."""
MAX_ROW_BYTES = 65_536
MAX_CELLS = 50_000_000
"""Eight bytes each once they are read, and a row of very many takes several times that meanwhile."""

Table = dict[str, NDArray[np.float64]]


def read_table(content: bytes, header: list[str], in_every_row: set[str]) -> tuple[Table, tuple[LeftOut, ...]]:
    if len(set(header)) < len(header):
        raise UnreadableError("a column name appears twice")
    if content.count(b"\n") > MAX_SAMPLES:
        raise UnreadableError(f"it has more than {MAX_SAMPLES} rows")
    if content.count(b",") > MAX_CELLS:
        raise UnreadableError(f"it has more than {MAX_CELLS} cells")
    rows = io.BytesIO(content)
    if any(len(row) > MAX_ROW_BYTES for row in iter(lambda: rows.readline(MAX_ROW_BYTES + 1), b"")):
        raise UnreadableError(f"a row is longer than {MAX_ROW_BYTES} bytes")
    return _numbers(content, header, in_every_row)


def _numbers(content: bytes, header: list[str], in_every_row: set[str]) -> tuple[Table, tuple[LeftOut, ...]]:
    """The table, and rows that cannot be read: a row more or less of counters is a longer step between two others."""
    body, cut = _without_cut_row(_filled(content.partition(b"\n")[2]), header)
    if not body.strip():
        raise UnreadableError("it has a header and no rows")
    left_out: tuple[LeftOut, ...] = ()
    needed = [column for column, name in enumerate(header) if name in in_every_row]
    try:
        rows = _loaded(body)
        is_whole = rows.shape[1] != len(header) or bool(np.isfinite(rows[:, needed]).all())
    except ValueError:  # of a row, or of what a comment holds
        is_whole = False
    if not is_whole:
        rows, left_out = _without_bad_rows(body, header, needed)
    if rows.shape[0] == 0:
        reason = f"{left_out[0].place} {left_out[0].reason}" if left_out else "it has a header and no rows"
        raise UnreadableError(reason)
    _refuse_width(rows.shape[1], len(header))
    return dict(zip(header, rows.T, strict=True)), (*left_out, *cut)


def _refuse_width(of_rows: int, of_header: int) -> None:
    if of_rows != of_header:
        way = "; write numbers with a decimal point, without signs between thousands" if of_rows > of_header else ""
        raise UnreadableError(f"the header names {of_header} columns and the rows have {of_rows}{way}")


def _without_cut_row(body: bytes, header: list[str]) -> tuple[bytes, tuple[LeftOut, ...]]:
    """The rows without a last one that may end within a number: nothing ends its line, and the number is short or falls."""
    start = body.rfind(b"\n") + 1
    last, before = body[start:], body[:start]
    cell = _last_cell(last)
    is_ended = cell != cell.rstrip() or b"#" in last
    if not before.strip() or not last or is_ended or last.count(b",") != len(header) - 1:
        return body, ()
    longest, previous = 0, b""
    for row in io.BytesIO(before):
        if row.strip() and b"#" not in row:
            previous = _last_cell(row).strip()
            longest = max(longest, len(previous))
    if len(cell) >= longest and not (_rises(header[-1]) and _is_less(cell, previous)):
        return body, ()
    row_number = before.count(b"\n") + 2
    fault = f"it has no line end, and its last value {_text(cell)!r} seems cut off"
    return before, (LeftOut("", f"row {row_number}", fault),)


def _last_cell(row: bytes) -> bytes:
    return row[row.rfind(b",") + 1 :]


def _rises(name: str) -> bool:
    return name in RISING or (name in fields() and fields()[name].kind is not FieldKind.GAUGE)


def _is_less(cell: bytes, before: bytes) -> bool:
    return _is_number(cell) and _is_number(before) and _value(cell) < _value(before)


def _loaded(body: bytes) -> NDArray[np.float64]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # no rows: said by the caller
        return np.loadtxt(io.BytesIO(body), delimiter=",", ndmin=2, encoding="utf-8", comments="#")


def _without_bad_rows(
    body: bytes, header: list[str], needed: list[int]
) -> tuple[NDArray[np.float64], tuple[LeftOut, ...]]:
    """The other rows; the header is row 1. UnreadableError where those left out are more than MOST_BAD of them.

    needed: places of the columns that hold a number in each row.
    """
    numbers = array("d")
    left_out: list[LeftOut] = []
    for row, line in enumerate(body.split(b"\n"), start=2):
        cells = line.partition(b"#")[0].strip()
        if not cells:
            continue
        values = cells.split(b",")
        if fault := _fault_of_row(values, header, needed):
            left_out.append(LeftOut("", f"row {row}", fault))
        else:
            numbers.extend(map(_value, values))
    rows = np.frombuffer(numbers, dtype=np.float64).reshape(-1, len(header))
    if left_out and len(left_out) > max(1, MOST_BAD * len(rows)):
        raise UnreadableError(f"{left_out[0].place} {left_out[0].reason}")
    return rows, tuple(left_out)


def _fault_of_row(values: list[bytes], header: list[str], needed: list[int]) -> str | None:
    if len(values) != len(header):
        return f"has {len(values)} values, and the header names {len(header)} columns"
    if (odd := next((value for value in values if not _is_number(value)), None)) is not None:
        return f"holds {_text(odd)!r}, which is not a number"
    absent = next((column for column in needed if not math.isfinite(_value(values[column]))), None)
    return None if absent is None else f"has no usable value in column {header[absent]}"


def _is_number(value: bytes) -> bool:
    try:
        _value(value)
    except ValueError:
        return False
    return b"_" not in value


def _value(cell: bytes) -> float:
    """The number of a cell, NaN where it has none. Raises ValueError for any other text."""
    return math.nan if cell.strip().upper() in NO_VALUE else float(cell)


def _text(value: bytes) -> str:
    return value.strip().decode("utf-8", errors="replace")[:40]


def _filled(body: bytes) -> bytes:
    """Empty cells as `nan`, which the number reader knows."""
    body = body.replace(b"\r\n", b"\n")
    if b",," in body:
        body = body.replace(b",,", b",nan,").replace(b",,", b",nan,")
    return body.replace(b",\n", b",nan\n") if b",\n" in body else body
