"""The chunk `dl-chunk/2` (`docs/data-format.md` section 1): one zstd frame with a line of JSON and delta-encoded columns."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from downlink.domain.errors import InvalidError
from downlink.domain.traces.point import NO_FLOW, Point
from downlink.domain.traces.sample import TIME_FIELD, fields_of

FORMAT = "dl-chunk/2"
POINT_KEYS = {FORMAT: "point", "dl-chunk/1": "end"}
"""Formats that are read, with their word for the point."""
MAX_PACKED_BYTES = 4 * 2**20
MAX_UNPACKED_BYTES = 32 * 2**20
MAX_SAMPLES = 5_000
PART_CHUNKS = 16
"""Chunks of a sealed trace in one part, at most."""
MAX_HEADER_BYTES = 64 * 2**10
HEAD_BYTES = 4 * 2**10  # most headers are shorter
MAX_ATTEMPT = 1_000
MAX_FLOW = 1_000
MAX_SEQUENCE = 1_000_000

Columns = dict[str, NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class ChunkHeader:
    """The header of a chunk. fields: the columns in their order, `elapsed_us` first."""

    run_id: str
    attempt: int
    flow: int
    point: Point
    sequence: int
    samples: int
    fields: tuple[str, ...]


def decode_chunk(packed: bytes) -> tuple[ChunkHeader, Columns]:
    """The header and its columns, each `samples` 64-bit integers.

    Never unpacks more than MAX_UNPACKED_BYTES. Raises InvalidError `chunk_invalid` that names what is wrong.
    """
    unpacked = _unpack(packed)
    header, end = _header_of(unpacked)
    return header, _columns(header, memoryview(unpacked)[end + 1 :])


def read_header(packed: bytes) -> ChunkHeader:
    """Read the header of a packed chunk, and unpack no more of it than that.

    Raises InvalidError `chunk_invalid` where header or announced size are wrong; the columns are decode_chunk's to check.
    """
    announced = _announced_bytes(packed)
    try:
        reader = _decompressor().stream_reader(packed)
        head = b""
        while b"\n" not in head and len(head) < MAX_HEADER_BYTES and (piece := reader.read(HEAD_BYTES)):
            head += piece
    except zstandard.ZstdError as error:
        raise _invalid(f"not a zstd frame ({error})") from error
    header, end = _header_of(head)
    if announced > 0:
        _check_size(header, announced - end - 1)
    return header


def encode_chunk(header: ChunkHeader, columns: Mapping[str, NDArray[np.int64]]) -> bytes:
    """The chunk as an agent would write it. Raises InvalidError when decode_chunk would refuse it."""
    line = json.dumps({"format": FORMAT, **asdict(header)}).encode() + b"\n"
    stacked = np.stack([np.asarray(columns[name], dtype="<i8") for name in header.fields])
    packed = zstandard.compress(line + np.diff(stacked, axis=1, prepend=0).tobytes())
    decode_chunk(packed)
    return packed


def _invalid(what: str) -> InvalidError:
    return InvalidError("chunk_invalid", f"This chunk cannot be read: {what}.")


def _unpack(packed: bytes) -> bytes:
    _announced_bytes(packed)
    try:
        return _decompressor().decompress(packed, max_output_size=MAX_UNPACKED_BYTES, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise _invalid(f"not one whole zstd frame of at most {MAX_UNPACKED_BYTES} bytes ({error})") from error


def _announced_bytes(packed: bytes) -> int:
    """The size that the frame announces, not above 0 when it announces none: it would overrule max_output_size."""
    if len(packed) > MAX_PACKED_BYTES:
        raise _invalid(f"{len(packed)} bytes packed, at most {MAX_PACKED_BYTES} are allowed")
    try:
        announced = int(zstandard.frame_content_size(packed))
    except zstandard.ZstdError as error:
        raise _invalid(f"not one whole zstd frame of at most {MAX_UNPACKED_BYTES} bytes ({error})") from error
    if announced > MAX_UNPACKED_BYTES:
        raise _invalid(f"{announced} bytes unpacked, at most {MAX_UNPACKED_BYTES} are allowed")
    return announced


def _decompressor() -> zstandard.ZstdDecompressor:
    return zstandard.ZstdDecompressor(max_window_size=MAX_UNPACKED_BYTES)


def _header_of(unpacked: bytes) -> tuple[ChunkHeader, int]:
    """The header, and where its line ends."""
    end = unpacked.find(b"\n", 0, MAX_HEADER_BYTES)
    if end < 0:
        raise _invalid(f"no header line within the first {MAX_HEADER_BYTES} bytes")
    return _header(unpacked[:end]), end


def _header(line: bytes) -> ChunkHeader:
    try:
        data = json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        raise _invalid("the header line is not JSON") from error
    if not isinstance(data, dict) or data.get("format") not in list(POINT_KEYS):
        raise _invalid(f"the header must be an object with format {FORMAT!r}")
    key = POINT_KEYS[data["format"]]
    expected = {"format", key, *ChunkHeader.__dataclass_fields__} - ({"point"} - {key})
    if set(data) != expected:
        raise _invalid(f"the header must hold exactly {', '.join(sorted(expected))}")
    if not isinstance(data["run_id"], str) or not re.fullmatch(r"[0-9a-f-]{36}", data["run_id"]):
        raise _invalid("run_id must be a UUID")
    point = _point(data[key])
    return ChunkHeader(
        run_id=data["run_id"],
        attempt=_integer(data, "attempt", 1, MAX_ATTEMPT),
        flow=_flow(data, point),
        point=point,
        sequence=_integer(data, "sequence", 0, MAX_SEQUENCE),
        samples=_integer(data, "samples", 1, MAX_SAMPLES),
        fields=_fields(data["fields"], point),
    )


def _flow(data: Mapping[str, Any], point: Point) -> int:
    return _integer(data, "flow", *((NO_FLOW, NO_FLOW) if point == Point.LINK else (1, MAX_FLOW)))


def _point(value: Any) -> Point:
    try:
        return Point(value)
    except (TypeError, ValueError) as error:
        raise _invalid("the point must be sender, receiver, link, sent, delivered, sites, hop-1, hop-2, …") from error


def _integer(data: Mapping[str, Any], key: str, least: int, most: int) -> int:
    value = data[key]
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return value
    raise _invalid(f"{key} must be a whole number from {least} to {most}")


def _fields(names: Any, point: Point) -> tuple[str, ...]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _invalid("fields must be a list of names")
    known = {field.name for field in fields_of(point)}
    strange = sorted(set(names) - known)
    if strange:
        raise _invalid(f"no field of the {point}: {', '.join(strange)[:200]}")
    if names[:1] != [TIME_FIELD] or len(set(names)) != len(names):
        raise _invalid(f"fields must begin with {TIME_FIELD} and name each field once")
    return tuple(names)


def _columns(header: ChunkHeader, body: memoryview) -> Columns:
    _check_size(header, len(body))
    deltas = np.frombuffer(body, dtype="<i8").reshape(len(header.fields), header.samples)
    # numpy adds int64 with wrap-around: the inverse of the writer's wrapping differences.
    values = np.cumsum(deltas, axis=1, dtype=np.int64)
    elapsed_us = values[0]
    if elapsed_us[0] < 0 or not np.all(elapsed_us[1:] > elapsed_us[:-1]):
        raise _invalid(f"{TIME_FIELD} must not be negative and must rise from sample to sample")
    return dict(zip(header.fields, values, strict=True))


def _check_size(header: ChunkHeader, size: int) -> None:
    expected = len(header.fields) * header.samples * 8
    if size != expected:
        raise _invalid(f"{size} bytes of columns where {expected} are announced")
