"""A table of ours as spreadsheets of other languages open it: separator, decimal comma, byte-order mark, no more digits than they keep."""

from __future__ import annotations

import csv
import io
import re

BOM = "\ufeff"
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t"}
DECIMALS = {"point": ".", "comma": ","}
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
DIGITS = 15
"""A spreadsheet keeps so many of a number, and rounds the others away without a word."""
NO_THRESHOLD = {"ssthresh_segments": "2147483647"}
"""Value that a kernel writes for a slow-start threshold that was never set: an empty cell here, which no mean
counts."""


class Spreadsheet:
    """Takes a table in pieces as they come. feed(text) gives what can be written by then, feed(text, is_last=True) the rest."""

    def __init__(self, separator: str = ",", decimal: str = ".") -> None:
        self.separator = separator
        self.decimal = decimal
        self._rest = ""
        self._empty: dict[int, str] | None = None

    @classmethod
    def of(cls, separator: str, decimal: str | None) -> Spreadsheet:
        """Look up a format by its names; a semicolon implies the decimal comma. Raise KeyError for other names."""
        return cls(SEPARATORS[separator], DECIMALS[decimal or ("comma" if separator == "semicolon" else "point")])

    def feed(self, text: str, *, is_last: bool = False) -> str:
        self._rest += text
        end = len(self._rest) if is_last else _end_of_rows(self._rest)
        whole, self._rest = self._rest[:end], self._rest[end:]
        out = io.StringIO()
        writer = csv.writer(out, delimiter=self.separator)
        for row in csv.reader(io.StringIO(whole, newline="")):
            if self._empty is None:
                self._empty = {at: NO_THRESHOLD[name] for at, name in enumerate(row) if name in NO_THRESHOLD}
                out.write(BOM)
            writer.writerow([self._cell(at, cell) for at, cell in enumerate(row)])
        return out.getvalue()

    def _cell(self, at: int, cell: str) -> str:
        if self._empty and self._empty.get(at) == cell:
            return ""
        if not NUMBER.fullmatch(cell):
            return cell
        is_whole = cell.lstrip("-").isdigit()
        return cell if is_whole else f"{float(cell):.{DIGITS}g}".replace(".", self.decimal)


def _end_of_rows(text: str) -> int:
    """Behind the last row that is whole: a line break within quotes ends none."""
    end = text.rfind("\n")
    while end >= 0 and text.count('"', 0, end) % 2:
        end = text.rfind("\n", 0, end)
    return end + 1
