"""The path trace `dl-path/1` (docs/paths.md section 2): one zstd frame with a line of JSON and delta-encoded columns."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from downlink.codec.path_checks import check_rows
from downlink.codec.wording import fault_of
from downlink.domain.links.pathtrace import PATH_FIELDS, PATH_FORMAT, PathHeader, wrong

MAX_PACKED_BYTES = 64 * 2**20
MAX_ROWS = 4_000_000
MAX_HEADER_BYTES = 64 * 2**10
MAX_UNPACKED_BYTES = MAX_HEADER_BYTES + MAX_ROWS * len(PATH_FIELDS) * 8
LEVEL = 19
AGAIN = "Make the path again, or copy the file again."

Columns = dict[str, NDArray[np.int64]]
HEADER: TypeAdapter[PathHeader] = TypeAdapter(PathHeader)


def decode_path(packed: bytes) -> tuple[PathHeader, Columns]:
    """The header and its columns, each a number per row.

    Raises InvalidError `path_invalid` with place, reason and remedy where the file is cut, altered, of a newer version, or where a row
    breaks what docs/paths.md section 2 says.
    """
    unpacked = _unpack(packed)
    end = unpacked.find(b"\n", 0, MAX_HEADER_BYTES)
    if end < 0:
        raise wrong(
            "header", f"no line ends within {MAX_HEADER_BYTES} bytes", "This is no path trace; name another file."
        )
    about = _json_of(unpacked[:end])
    body = memoryview(unpacked)[end + 1 :]
    rows = _rows_of(about, body)
    header = _header_of(about)
    deltas = np.frombuffer(body, dtype="<i8").reshape(len(PATH_FIELDS), rows)
    columns = dict(zip(PATH_FIELDS, np.cumsum(deltas, axis=1, dtype=np.int64), strict=True))
    check_rows(header, columns)
    return header, columns


def encode_path(header: PathHeader, columns: Mapping[str, NDArray[np.int64]]) -> bytes:
    """The file. Raises InvalidError `path_invalid` when decode_path would refuse it."""
    stacked = np.stack([np.asarray(columns[name], dtype="<i8") for name in PATH_FIELDS])
    body = np.diff(stacked, axis=1, prepend=0).tobytes()
    about = {
        "format": PATH_FORMAT,
        **header_document(header),
        "rows": stacked.shape[1],
        "fields": PATH_FIELDS,
        "columns_sha256": hashlib.sha256(body).hexdigest(),
    }
    packed = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compress(
        json.dumps(about).encode() + b"\n" + body
    )
    decode_path(packed)
    return packed


def header_document(header: PathHeader) -> dict[str, Any]:
    """The header as it is written, without what is said of rows."""
    document: dict[str, Any] = HEADER.dump_python(header, mode="json")
    return document


def _unpack(packed: bytes) -> bytes:
    if len(packed) > MAX_PACKED_BYTES:
        raise wrong("file", f"{len(packed)} bytes, at most {MAX_PACKED_BYTES} are allowed", "Make a shorter path.")
    try:
        announced = int(zstandard.frame_content_size(packed))
        if announced > MAX_UNPACKED_BYTES:
            raise wrong("file", f"it unpacks to more than {MAX_UNPACKED_BYTES} bytes", "Make a shorter path.")
        return zstandard.ZstdDecompressor().decompress(packed, MAX_UNPACKED_BYTES, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise wrong("file", f"it is not one whole zstd frame ({error})", AGAIN) from error


def _json_of(line: bytes) -> dict[str, Any]:
    try:
        about = json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        raise wrong("header", "its line is not JSON", AGAIN) from error
    written = about.get("format") if isinstance(about, dict) else None
    if not isinstance(written, str) or not written.startswith("dl-path/"):
        raise wrong(
            "header, format", f"{written!r} is not {PATH_FORMAT!r}", "This is no path trace; name another file."
        )
    if written != PATH_FORMAT:
        raise wrong(
            "header, format", f"{written!r} is not {PATH_FORMAT!r}", "Another version wrote it: upgrade this one."
        )
    return dict(about)


def _rows_of(about: dict[str, Any], body: memoryview) -> int:
    """Return the number of rows after checking the bytes; removes the keys about rows from `about`."""
    del about["format"]
    rows, fields, digest = (about.pop(key, None) for key in ("rows", "fields", "columns_sha256"))
    if not isinstance(rows, int) or isinstance(rows, bool) or not 1 <= rows <= MAX_ROWS:
        raise wrong("header, rows", f"{rows!r} is not a number from 1 to {MAX_ROWS}", AGAIN)
    if fields != list(PATH_FIELDS):
        raise wrong("header, fields", f"they are not {', '.join(PATH_FIELDS)}", AGAIN)
    if len(body) != rows * len(PATH_FIELDS) * 8:
        raise wrong("columns", f"{len(body)} bytes where {rows * len(PATH_FIELDS) * 8} are announced", AGAIN)
    if digest != hashlib.sha256(body).hexdigest():
        raise wrong("columns", "their SHA-256 is not the one in the header: the file was altered", AGAIN)
    return rows


def _header_of(about: dict[str, Any]) -> PathHeader:
    try:
        header = HEADER.validate_json(json.dumps(about), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        position = ", ".join(map(str, ("header", *first["loc"])))
        raise wrong(position, fault_of(first), AGAIN) from error
    written = header_document(header)
    if differing := sorted(_keys({**about, "asked": {}}) ^ _keys({**written, "asked": {}})):
        raise wrong(f"header, {differing[0]}", "the key is missing or unknown", AGAIN)
    return header


def _keys(value: object, above: str = "") -> set[str]:
    """The names of everything in a document, so that nothing of a header is hidden or left to a default."""
    if isinstance(value, dict):
        return {name for key, each in value.items() for name in {f"{above}{key}", *_keys(each, f"{above}{key}.")}}
    if isinstance(value, list):
        return {name for each in value for name in _keys(each, above)}
    return set()
