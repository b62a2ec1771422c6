import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from downlink.codec.chunk import (
    MAX_PACKED_BYTES,
    MAX_UNPACKED_BYTES,
    ChunkHeader,
    Columns,
    decode_chunk,
    encode_chunk,
    read_header,
)
from downlink.domain.errors import InvalidError
from downlink.domain.traces.point import Point

RUN_ID = "01890a5d-ac96-774b-bcce-b302099a8058"
FIELDS = ("elapsed_us", "cwnd_segments", "rtt_us")
INT64 = st.integers(-(2**63), 2**63 - 1)


def make_header(samples: int = 3, **changes: Any) -> ChunkHeader:
    values = {"run_id": RUN_ID, "attempt": 1, "flow": 1, "point": Point.SENDER, "sequence": 0}
    return ChunkHeader(**{**values, "samples": samples, "fields": FIELDS, **changes})


def make_columns(cwnd: list[int], rtt: list[int]) -> Columns:
    arrays = np.arange(len(cwnd)) * 5_000, np.array(cwnd, np.int64), np.array(rtt, np.int64)
    return dict(zip(FIELDS, arrays, strict=True))


def by_hand(header: dict[str, Any], deltas: NDArray[np.int64]) -> bytes:
    return zstandard.compress(json.dumps(header).encode() + b"\n" + deltas.astype("<i8").tobytes())


HEADER = {
    "format": "dl-chunk/2", "run_id": RUN_ID, "attempt": 1, "flow": 1, "point": "sender", "sequence": 0,
    "samples": 3, "fields": list(FIELDS),
}  # fmt: skip
DELTAS = np.array([[0, 5_000, 5_000], [10, 2, -4], [600_000, 1, 1]])
WHOLE = by_hand(HEADER, DELTAS)


def refusal(packed: bytes) -> str:
    with pytest.raises(InvalidError) as caught:
        decode_chunk(packed)
    assert caught.value.code == "chunk_invalid"
    return caught.value.message


def test_a_chunk_written_by_hand_is_read() -> None:
    header, columns = decode_chunk(WHOLE)
    assert header == make_header()
    assert columns["elapsed_us"].tolist() == [0, 5_000, 10_000]
    assert columns["cwnd_segments"].tolist() == [10, 12, 8]
    assert columns["rtt_us"].tolist() == [600_000, 600_001, 600_002]


def test_a_chunk_of_the_first_format_is_read_as_one_of_this() -> None:
    """An agent may have recorded it before it was upgraded."""
    old = {"end" if key == "point" else key: value for key, value in HEADER.items()} | {"format": "dl-chunk/1"}
    packed = by_hand(old, DELTAS)
    assert (decode_chunk(packed)[0], read_header(packed)) == (make_header(), make_header())


@given(st.lists(st.tuples(INT64, INT64), min_size=1, max_size=50))
def test_what_is_written_is_read_also_where_differences_wrap(rows: list[tuple[int, int]]) -> None:
    columns = make_columns([row[0] for row in rows], [row[1] for row in rows])
    header, read = decode_chunk(encode_chunk(make_header(len(rows)), columns))
    assert header == make_header(len(rows))
    for name, values in columns.items():
        assert read[name].tolist() == values.tolist()


@given(st.integers(0, len(WHOLE) - 1), st.integers(0, 7))
def test_a_flipped_bit_is_refused_or_changes_values_only(place: int, bit: int) -> None:
    """Integrity is the sha256's duty; the decoder must stay within its errors."""
    damaged = bytearray(WHOLE)
    damaged[place] ^= 1 << bit
    with suppress(InvalidError):
        header, columns = decode_chunk(bytes(damaged))
        assert all(len(values) == header.samples for values in columns.values())


@given(st.integers(0, len(WHOLE) - 1))
def test_a_chunk_cut_anywhere_is_refused(length: int) -> None:
    refusal(WHOLE[:length])


@given(st.binary(max_size=200))
def test_noise_is_refused(noise: bytes) -> None:
    refusal(noise)
    refusal(zstandard.compress(noise))


def test_bytes_after_the_frame_are_refused() -> None:
    refusal(WHOLE + b"x")
    refusal(WHOLE + WHOLE)


def test_a_bomb_is_refused_before_it_unfolds() -> None:
    announced = zstandard.compress(bytes(MAX_UNPACKED_BYTES + 1))
    assert len(announced) < 10_000
    assert str(MAX_UNPACKED_BYTES) in refusal(announced)
    silent = zstandard.ZstdCompressor().compressobj()
    refusal(silent.compress(bytes(MAX_UNPACKED_BYTES + 1)) + silent.flush())
    refusal(bytes(MAX_PACKED_BYTES + 1))


def test_a_frame_that_asks_for_a_huge_window_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=27, write_content_size=False)
    frame = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    refusal(frame.compress(b"x") + frame.flush())


def test_a_frame_without_its_size_is_read() -> None:
    """Streaming writers do not know the size when they begin."""
    frame = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    content = zstandard.decompress(WHOLE)
    header, _ = decode_chunk(frame.compress(content) + frame.flush())
    assert header == make_header()


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"format": "dl-chunk/3"}, "format"),
        ({"run_id": "../../etc"}, "run_id"),
        ({"run_id": 5}, "run_id"),
        ({"attempt": 0}, "attempt"),
        ({"attempt": True}, "attempt"),
        ({"flow": "1"}, "flow"),
        ({"point": "middle"}, "point"),
        ({"point": "hop-0"}, "point"),
        ({"point": "sent"}, "no field of the sent"),
        ({"format": "dl-chunk/1"}, "exactly attempt, end"),
        ({"end": "sender"}, "exactly"),
        ({"point": ["sender"]}, "point"),
        ({"sequence": -1}, "sequence"),
        ({"samples": 0}, "samples"),
        ({"samples": 5_001}, "samples"),
        ({"samples": 2}, "bytes of columns"),
        ({"fields": []}, "elapsed_us"),
        ({"fields": ["rtt_us", "cwnd_segments", "elapsed_us"]}, "elapsed_us"),
        ({"fields": ["elapsed_us", "rtt_us", "rtt_us"]}, "once"),
        ({"fields": ["elapsed_us", "rtt_us", "price"]}, "price"),
        ({"fields": ["elapsed_us", "rtt_us", "received_bytes"]}, "received_bytes"),
        ({"fields": "elapsed_us"}, "fields"),
        ({"extra": 1}, "exactly"),
    ],
)
def test_a_wrong_header_is_refused_by_name(changes: dict[str, Any], word: str) -> None:
    assert word in refusal(by_hand({**HEADER, **changes}, DELTAS))


@pytest.mark.parametrize(
    ("name", "most"), [("attempt", 1_000), ("flow", 1_000), ("sequence", 1_000_000), ("samples", 5_000)]
)
def test_a_header_counts_up_to_its_bounds(name: str, most: int) -> None:
    count = most if name == "samples" else 3
    deltas = np.ones((3, count), np.int64)
    header, columns = decode_chunk(by_hand({**HEADER, "samples": count, name: most}, deltas))
    assert (getattr(header, name), len(columns["rtt_us"])) == (most, count)
    assert name in refusal(by_hand({**HEADER, name: most + 1}, deltas))


def test_a_header_line_ends_within_64_kib() -> None:
    line = json.dumps(HEADER).encode()
    for length, is_read in ((64 * 1024 - 1, True), (64 * 1024, False)):
        packed = zstandard.compress(line.ljust(length) + b"\n" + DELTAS.astype("<i8").tobytes())
        if is_read:
            assert decode_chunk(packed)[0] == make_header()
        else:
            assert "no header line within the first 65536 bytes" in refusal(packed)


def test_32_mib_unpacked_and_4_mib_packed_are_the_most() -> None:
    assert (MAX_UNPACKED_BYTES, MAX_PACKED_BYTES) == (32 * 1024**2, 4 * 1024**2)
    assert "header line" in refusal(zstandard.compress(bytes(MAX_UNPACKED_BYTES)))
    assert "bytes packed" not in refusal(bytes(MAX_PACKED_BYTES))
    assert "bytes packed" in refusal(bytes(MAX_PACKED_BYTES + 1))


def test_a_trace_may_begin_at_time_zero() -> None:
    assert decode_chunk(by_hand(HEADER, np.array([[0, 1, 1], [0] * 3, [0] * 3])))[1]["elapsed_us"].tolist() == [0, 1, 2]


def test_time_must_rise_from_sample_to_sample() -> None:
    for deltas in ([[0, 0, 1], [0] * 3, [0] * 3], [[-1, 5, 5], [0] * 3, [0] * 3], [[5, -9, 9], [0] * 3, [0] * 3]):
        assert "elapsed_us" in refusal(by_hand(HEADER, np.array(deltas)))


def test_a_header_that_is_no_object_is_refused() -> None:
    for line in (b"[]\n", b"\n", b"{", b"\xff\n", b"[" * 60_000 + b"\n"):
        refusal(zstandard.compress(line))


def test_the_golden_header_is_the_one_that_is_read() -> None:
    golden = json.loads((Path(__file__).resolve().parents[3] / "docs/protocol/chunk_header.json").read_text())
    header, _ = decode_chunk(by_hand(golden, DELTAS))
    assert header.run_id == golden["run_id"]


def test_nothing_is_written_that_could_not_be_read() -> None:
    with pytest.raises(InvalidError):
        encode_chunk(make_header(run_id="x"), make_columns([1, 2, 3], [1, 2, 3]))
