"""CSV as `docs/data-format.md` section 3 describes it: RFC 4180, UTF-8, texts that no spreadsheet takes for a formula."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from downlink.codec.arrow import load_arrow
from downlink.domain.moment import moment_text

Cell = str | int | float | bool | datetime | None
# By OWASP's "CSV Injection": full-width forms (U+FF1D, FF0B, FF0D, FF20) are taken for their plain ones.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_LINES_PER_PIECE = 1_000


def csv_pieces(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """Yield the table in pieces of up to 1,000 lines, the header once in the first; for streamed answers.

    ValueError for a row that is not as long as the header.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(header)
    for count, row in enumerate(rows, start=1):
        if len(row) != len(header):
            raise ValueError(f"a row has {len(row)} cells, and the header {len(header)}")
        writer.writerow([cell_text(cell) for cell in row])
        if count % _LINES_PER_PIECE == 0:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def columns_to_csv(columns: Mapping[str, NDArray[np.int64]]) -> bytes:
    """Integer columns of equal length as CSV: a trace to hand out."""
    arrow = load_arrow()
    sink = arrow.BufferOutputStream()
    table = arrow.table({name: arrow.array(values) for name, values in columns.items()})
    arrow.csv.write_csv(table, sink, arrow.csv.WriteOptions(include_header=False))
    header = ",".join(columns) + "\n"
    # pyarrow ends lines with LF; cells are digits alone, so that every LF is the end of a line.
    return (header.encode() + bytes(sink.getvalue())).replace(b"\n", b"\r\n")


def cell_text(cell: Cell) -> str:
    """One cell: empty for a missing value (None, NaN, infinity), numbers exact, moments in UTC, texts made safe."""
    if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, datetime):
        return moment_text(cell)
    if isinstance(cell, str):
        return safe_text(cell)
    # numpy's scalars print their type with repr.
    return repr(cell.item() if isinstance(cell, np.generic) else cell)


def safe_text(text: str) -> str:
    """The text, with a leading apostrophe when a spreadsheet would take it for a formula."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
