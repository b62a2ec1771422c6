"""The file `dl-path/1`: the golden one in docs, what is written comes back, and each way to be wrong is named."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from downlink.codec.path import Columns, decode_path, encode_path, header_document
from downlink.domain.errors import InvalidError
from downlink.domain.links.pathtrace import PATH_FIELDS, Gap, LossCurve, PathHeader, Station

GOLDEN = Path(__file__).resolve().parents[3] / "docs" / "examples" / "paths"
PACKED = (GOLDEN / "golden.dlpath").read_bytes()
SAID = json.loads((GOLDEN / "golden.json").read_text())


def golden() -> tuple[PathHeader, Columns]:
    return decode_path(PACKED)


def unpacked() -> tuple[dict[str, Any], bytes]:
    line, _, body = zstandard.decompress(PACKED).partition(b"\n")
    return json.loads(line), body


def by_hand(about: dict[str, Any], body: bytes) -> bytes:
    return zstandard.compress(json.dumps(about).encode() + b"\n" + body)


def refusal(packed: bytes) -> str:
    with pytest.raises(InvalidError) as caught:
        decode_path(packed)
    assert caught.value.code == "path_invalid"
    return caught.value.message


def test_the_golden_file_decodes_to_what_stands_beside_it() -> None:
    header, columns = golden()
    assert header_document(header) == SAID["header"]
    assert list(columns) == SAID["fields"] == list(PATH_FIELDS)
    assert np.stack(list(columns.values()), axis=1).tolist() == SAID["rows"]


def test_moments_of_a_header_are_in_utc() -> None:
    about, body = unpacked()
    start = datetime.fromisoformat(about["start"])
    header, _ = decode_path(
        by_hand({**about, "start": start.astimezone(timezone(timedelta(hours=5))).isoformat()}, body)
    )
    assert header.start == start
    assert header.start.utcoffset() == timedelta()


@pytest.mark.parametrize("key", ["start", "epoch"])
@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+05:00", "9999-12-31T23:59:00-05:00"])
def test_a_moment_that_utc_does_not_hold_is_refused(key: str, at: str) -> None:
    about, body = unpacked()
    assert "1 to 9999 in UTC" in refusal(by_hand({**about, key: at}, body))


def test_what_is_written_comes_back() -> None:
    header, columns = golden()
    again, back = decode_path(encode_path(header, columns))
    assert again == header
    assert all(np.array_equal(columns[name], back[name]) for name in PATH_FIELDS)


@given(st.integers(0, len(PACKED) - 1), st.integers(1, 255))
def test_an_altered_byte_is_noticed_or_changes_nothing(at: int, change: int) -> None:
    altered = PACKED[:at] + bytes([PACKED[at] ^ change]) + PACKED[at + 1 :]
    try:
        _, columns = decode_path(altered)
    except InvalidError:
        return
    assert np.stack(list(columns.values()), axis=1).tolist() == SAID["rows"]


@given(st.integers(0, len(PACKED) - 1))
def test_a_cut_file_is_refused(length: int) -> None:
    assert refusal(PACKED[:length])


def test_more_bytes_behind_are_refused() -> None:
    assert "one whole zstd frame" in refusal(PACKED + b"\0")


def test_altered_columns_a_newer_version_and_other_files_are_named() -> None:
    about, body = unpacked()
    assert "altered" in refusal(by_hand(about, body[:-1] + b"\7"))
    assert "upgrade" in refusal(by_hand({**about, "format": "dl-path/2"}, body))
    assert "no path trace" in refusal(by_hand({**about, "format": "dl-chunk/2"}, body))
    assert "announced" in refusal(by_hand(about, body[:-8]))
    assert "announced" in refusal(by_hand({**about, "rows": 18}, body))


def test_a_header_hides_nothing() -> None:
    about, body = unpacked()
    assert "header, extra" in refusal(by_hand({**about, "extra": 1}, body))
    for key in set(about) - {"format", "rows", "fields", "columns_sha256"}:
        assert f"header, {key}" in refusal(by_hand({name: about[name] for name in about if name != key}, body))
    radio = {name: value for name, value in about["links"]["radio"].items() if name != "frequency_ghz"}
    assert "links.radio.frequency_ghz" in refusal(by_hand({**about, "links": {**about["links"], "radio": radio}}, body))
    assert "header, seed: must be a whole number" in refusal(by_hand({**about, "seed": "7"}, body))
    assert "least elevation" in refusal(by_hand({**about, "least_elevation_deg": 95}, body))


Change = tuple[str, int, int]
CHANGES: dict[str, Change] = {
    "row 3, at_us: times do not rise": ("at_us", 2, 2_999_999),
    "row 4, at_us: the hop does not reach": ("at_us", 4, 4_999_999),
    "row 2, node: it changes within": ("node", 1, 416),
    "row 4, node: the path comes to 417 twice": ("node", slice(3, 5), 417),  # type: ignore[dict-item]
    "row 6, node: the path ends at 5": ("node", slice(5, 8), 5),  # type: ignore[dict-item]
    "row 4, hop: 4 does not follow": ("hop", slice(3, 5), 4),  # type: ignore[dict-item]
    "row 1, node: 1600 is out of range": ("node", slice(0, 3), 1_600),  # type: ignore[dict-item]
    "row 1, delay_ns: 0 is out of range": ("delay_ns", 0, 0),
    "row 9, rate_bps: 5 is out of range": ("rate_bps", 8, 5),
    "row 9, node: a row without a path": ("node", 8, 4),
    "row 1, rate_bps: 999 is out of range": ("rate_bps", 0, 999),
    "row 1, loss_ppb: -1 is out of range": ("loss_ppb", 0, -1),
    "row 2, gap_us: only the first row": ("gap_us", 1, 1),
    "below the least elevation": ("delay_ns", 0, 9_000_000),
    "that near to the ground": ("delay_ns", 0, 3_700_000),
    "less than 80 km above ground": ("delay_ns", 3, 27_000_000),
    "faster than light along the ground": ("delay_ns", slice(3, 5), 5_000_000),  # type: ignore[dict-item]
    "row 11, path: 4 follows 1": ("path", slice(10, 19), 4),  # type: ignore[dict-item]
}


@pytest.mark.parametrize("reason", CHANGES)
def test_each_broken_row_is_named_on_writing_and_on_reading(reason: str) -> None:
    column, rows, value = CHANGES[reason]
    header, columns = golden()
    columns[column] = columns[column].copy()
    columns[column][rows] = value
    with pytest.raises(InvalidError, match=reason):
        encode_path(header, columns)
    about, _ = unpacked()
    body = np.diff(np.stack(list(columns.values())), axis=1, prepend=0).tobytes()
    digest = hashlib.sha256(body).hexdigest()
    assert reason in refusal(by_hand({**about, "columns_sha256": digest}, body))


def test_a_trace_reaches_to_its_end() -> None:
    header, columns = golden()
    with pytest.raises(InvalidError, match="ends at 12000000 us and not at 13000000"):
        encode_path(replace(header, duration_us=13_000_000), columns)


WRONG: list[Callable[[], object]] = [
    lambda: Station("New York", 0, 0),
    lambda: Station("a", 91, 0),
    lambda: Station("a", 0, float("nan")),
    lambda: LossCurve(low_snr_db=10, high_snr_db=0),
    lambda: LossCurve(low_snr_ratio=0, high_snr_ratio=0.1),
    lambda: Gap(5, 4),
    lambda: replace(golden()[0], isl="ring"),
    lambda: replace(golden()[0], stations=golden()[0].stations[:1]),
]


@pytest.mark.parametrize("make", WRONG)
def test_numbers_are_checked_when_they_are_made(make: Callable[[], object]) -> None:
    with pytest.raises(InvalidError, match=r"Take|Name"):
        make()
