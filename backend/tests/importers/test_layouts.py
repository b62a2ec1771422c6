"""Layouts in which R, databases and spreadsheets write the same numbers, cells without a value, and rows that were cut off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from downlink.codec.spreadsheet import Spreadsheet
from downlink.domain.errors import InvalidError
from downlink.importers.files import import_file
from downlink.importers.model import ImportedTrace, SourceKind
from tests.importers.test_ack_csv import csv_of, kernel_log, table
from tests.importers.test_partial import ack_log, left_out, strictly


def same(found: ImportedTrace, plain: ImportedTrace) -> bool:
    ours, theirs = found.flows[0].columns, plain.flows[0].columns
    return list(ours) == list(theirs) and all(np.array_equal(ours[name], theirs[name]) for name in theirs)


def quoted(text: str) -> str:
    return "\n".join(",".join(f'"{cell}"' for cell in row.split(",")) for row in text.splitlines()) + "\n"


LAYOUTS: list[Callable[[str], str]] = [
    lambda text: text.replace(",", ";"),
    lambda text: text.replace(",", ";").replace(".", ","),
    lambda text: text.replace(",", "\t"),
    quoted,
    str.lower,
    str.upper,
]


@pytest.mark.parametrize("form", LAYOUTS)
def test_a_kernel_log_is_read_in_any_layout(form: Callable[[str], str]) -> None:
    plain = csv_of(kernel_log())
    assert same(import_file("acks.csv", form(plain.decode()).encode()), import_file("acks.csv", plain))


def test_a_kernel_log_in_another_layout_that_lacks_a_column_is_refused_with_that_name_alone() -> None:
    rows = {name: column for name, column in kernel_log().items() if name != "total_sent_B"}
    with pytest.raises(InvalidError, match=r"lacks the column total_sent_B\."):
        import_file("acks.csv", csv_of(rows).lower().replace(b",", b";"))


def test_decimal_commas_between_commas_are_refused_with_a_way() -> None:
    rows = kernel_log() | {"cwnd_MB": ['"0,01"', '"0,011"', '"0,012"']}
    with pytest.raises(InvalidError, match="10 columns and the rows have 11; write numbers with a decimal point"):
        import_file("acks.csv", csv_of(rows).replace(b"now_us", b'"now_us"'))


@pytest.mark.parametrize("cell", ["", "nan", "NA", "NULL", "-", "inf"])
def test_an_ack_without_an_rtt_stays_and_is_counted(cell: str) -> None:
    trace = import_file("acks.csv", csv_of(table(rtt_us=[cell, 50_100, cell])))
    assert trace.flows[0].columns["ack_rtt_us"].tolist() == [-1, 50_100, -1]
    assert left_out(trace) == [
        "rtt_us (column): no number in 2 of 3 rows, which count as ACKs without an RTT sample",
    ]


@pytest.mark.parametrize("cell", ["", "nan", "NA", "NULL", "-", "inf"])
@pytest.mark.parametrize("name", ["bytes_acked", "now_us", "mss"])
def test_a_row_without_a_needed_value_is_left_out(name: str, cell: str) -> None:
    rows = ack_log(20)
    rows[name][7] = cell
    trace = import_file("acks.csv", csv_of(rows))
    assert trace.flows[0].samples == 19
    assert left_out(trace) == [f"row 9: has no usable value in column {name}"]


@pytest.mark.parametrize("cell", ["", "NA", "NULL", "-"])
@pytest.mark.parametrize("is_first", [False, True])
def test_a_further_column_without_values_is_left_out_alone(cell: str, *, is_first: bool) -> None:
    rows = {"lost_pkt": [cell] * 20} | ack_log(20) if is_first else ack_log(20) | {"lost_pkt": [cell] * 20}
    trace = import_file("acks.csv", csv_of(rows | {"lost_pkt": [cell] * 20}))
    assert (trace.flows[0].samples, left_out(trace)) == (20, ["lost_pkt (column): it has holes"])


def last(name: str, rows: dict[str, Any]) -> dict[str, Any]:
    return {key: column for key, column in rows.items() if key != name} | {name: rows[name]}


@pytest.mark.parametrize(("name", "cut"), [("rtt_us", 3), ("bytes_acked", 2), ("now_us", 2), ("bytes_acked", 1)])
def test_a_last_value_that_may_be_cut_off_is_left_out(name: str, cut: int) -> None:
    whole = csv_of(last(name, ack_log(20)))
    short = whole[: -1 - cut]
    trace = import_file("acks.csv", short)
    assert trace.flows[0].samples == 19
    value = short.rpartition(b",")[2].decode()
    assert left_out(trace) == [f"row 21: it has no line end, and its last value {value!r} seems cut off"]
    assert "seems cut off" in strictly(short)
    assert left_out(import_file("acks.csv", whole)) == left_out(import_file("acks.csv", whole[:-1])) == []


def test_a_counter_that_grew_by_a_digit_and_lost_it_is_left_out() -> None:
    rows = last("bytes_acked", table(bytes_acked=[998, 999, 1_000], snd_nxt=None, snd_una=None))
    trace = import_file("acks.csv", csv_of(rows)[:-2])
    assert (trace.flows[0].samples, len(left_out(trace))) == (2, 1)


OWN = {
    "elapsed_us": [0, 100_000, 200_000],
    "app_bytes": [0, 125_000, 250_000],
    "ssthresh_segments": [2_147_483_647, 2_147_483_647, 40],
}


@pytest.mark.parametrize("separator", ["comma", "semicolon", "tab"])
def test_our_own_table_in_its_spreadsheet_form_is_read_back(separator: str) -> None:
    plain = csv_of(OWN)
    written = Spreadsheet.of(separator, None).feed(plain.decode(), is_last=True)
    found = import_file("trace.csv", written.encode())
    assert (found.kind, left_out(found)) == (SourceKind.DOWNLINK_CSV, [])
    assert same(found, import_file("trace.csv", plain))


def test_our_own_table_may_be_quoted_and_a_column_with_holes_is_left_out() -> None:
    plain = csv_of(OWN)
    assert same(import_file("trace.csv", quoted(plain.decode()).encode()), import_file("trace.csv", plain))
    holes = import_file("trace.csv", csv_of(OWN | {"rtt_us": [1, "", 3]}))
    assert same(holes, import_file("trace.csv", plain))
    assert left_out(holes) == ["rtt_us (column): it has holes"]
    with pytest.raises(InvalidError, match="each of its columns has cells without a value: app_bytes"):
        import_file("trace.csv", b"elapsed_us,app_bytes\n0,1\n1,\n")
