"""Tables as spreadsheets open them; the plain form is left as it is."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downlink.codec.spreadsheet import Spreadsheet
from downlink.codec.tables import csv_pieces


def written(text: str, separator: str = "semicolon", decimal: str | None = None, *, every: int = 7) -> str:
    """The table as it comes in pieces of so many characters."""
    sheet = Spreadsheet.of(separator, decimal)
    pieces = [text[at : at + every] for at in range(0, len(text), every)]
    return "".join(sheet.feed(piece) for piece in pieces) + sheet.feed("", is_last=True)


@pytest.mark.parametrize(
    ("separator", "decimal", "line"),
    [
        ("semicolon", None, "50058503,9448138;a,b;-1,5"), ("comma", None, '50058503.9448138,"a,b",-1.5'),
        ("tab", None, "50058503.9448138\ta,b\t-1.5"), ("semicolon", "point", "50058503.9448138;a,b;-1.5"),
    ],
)  # fmt: skip
def test_separator_decimal_sign_and_fifteen_digits(separator: str, decimal: str | None, line: str) -> None:
    found = written('rate,text,x\r\n50058503.94481383,"a,b",-1.5\r\n', separator, decimal)
    assert found.splitlines() == ["\ufeff" + "rate,text,x".replace(",", line[16]), line]


def test_a_threshold_that_was_never_set_is_an_empty_cell() -> None:
    text = "elapsed_us,ssthresh_segments,other\r\n1,2147483647,2147483647\r\n2,80,1\r\n"
    assert written(text, "comma").splitlines()[1:] == ["1,,2147483647", "2,80,1"]


@given(
    rows=st.lists(st.tuples(st.text(max_size=20), st.floats(-1e300, 1e300), st.integers(-(10**12), 10**12))),
    every=st.integers(1, 50),
)
def test_every_cell_comes_through_whatever_the_pieces(rows: list[tuple[str, float, int]], every: int) -> None:
    plain = "".join(csv_pieces(("text", "number", "count"), rows))
    expected = list(csv.reader(io.StringIO(plain, newline="")))
    found = list(csv.reader(io.StringIO(written(plain, every=every).removeprefix("\ufeff"), newline=""), delimiter=";"))
    assert [row[0::2] for row in found] == [row[0::2] for row in expected]
    for sheet, own in zip(found[1:], expected[1:], strict=True):
        assert float(sheet[1].replace(",", ".")) == pytest.approx(float(own[1]), rel=1e-14)
