import csv
import io
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from downlink.codec.tables import Cell, cell_text, columns_to_csv, csv_pieces, safe_text
from downlink.domain.moment import moment_text

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_a_text_that_looks_like_a_formula_is_made_safe(start: str) -> None:
    assert safe_text(f"{start}1+1") == f"'{start}1+1"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_never_prefixed_and_keep_every_digit(value: float) -> None:
    assert float(cell_text(value)) == value
    assert not cell_text(value).startswith("'")


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, ""),
        (float("nan"), ""),
        (float("inf"), ""),
        (-1.5, "-1.5"),
        (-3, "-3"),
        (True, "true"),
        (np.float64(0.1), "0.1"),
        (np.int64(-7), "-7"),
        ("plain", "plain"),
    ],
)
def test_cells(cell: Cell, text: str) -> None:
    assert cell_text(cell) == text


def test_moments_are_utc_in_milliseconds() -> None:
    east = timezone(timedelta(hours=5, minutes=30))
    assert moment_text(datetime(2026, 1, 2, 8, 34, 5, 678_900, east)) == "2026-01-02T03:04:05.678Z"
    assert cell_text(datetime(2026, 1, 2, tzinfo=UTC)) == "2026-01-02T00:00:00.000Z"
    with pytest.raises(ValueError, match="offset"):
        moment_text(datetime(2026, 1, 2))  # noqa: DTZ001 - the case that is refused


@given(st.lists(st.lists(TEXTS, min_size=2, max_size=2), max_size=20))
def test_any_text_survives_a_reader_of_rfc_4180(rows: list[list[str]]) -> None:
    read = list(csv.reader(io.StringIO("".join(csv_pieces(["a", "b"], rows)), newline="")))
    assert read == [["a", "b"], *[[safe_text(cell) for cell in row] for row in rows]]


def test_lines_end_as_rfc_4180_says_and_the_header_stands_once() -> None:
    pieces = list(csv_pieces(["n"], ([index] for index in range(2_500))))
    assert len(pieces) == 3
    lines = "".join(pieces).split("\r\n")
    assert lines[0] == "n"
    assert lines[1:-1] == [str(index) for index in range(2_500)]
    assert lines[-1] == ""


def test_a_piece_holds_a_thousand_lines() -> None:
    pieces = list(csv_pieces(["n"], ([index] for index in range(1_000))))
    assert [piece.count("\r\n") for piece in pieces] == [1_001, 0]


def test_a_table_without_rows_has_its_header() -> None:
    assert "".join(csv_pieces(["a", "b"], [])) == "a,b\r\n"


def test_a_trace_as_csv() -> None:
    data = columns_to_csv({"elapsed_us": np.array([0, 5]), "pacing_rate_bps": np.array([-1, 2**62])})
    assert data == b"elapsed_us,pacing_rate_bps\r\n0,-1\r\n5,4611686018427387904\r\n"


@pytest.mark.parametrize("row", [["1"], ["1", "2", "3"]])
def test_a_row_is_as_long_as_the_header(row: list[Cell]) -> None:
    with pytest.raises(ValueError, match=f"a row has {len(row)} cells, and the header 2"):
        list(csv_pieces(["a", "b"], [row]))
