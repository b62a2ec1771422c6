"""Several chunks as one body (`docs/agent-protocol.md` section 6): before each one a line of JSON that says which it is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from downlink.codec.chunk import MAX_FLOW, MAX_PACKED_BYTES, MAX_SEQUENCE
from downlink.domain.errors import InvalidError
from downlink.domain.traces.point import NO_FLOW, POINT, Point

MAX_BYTES = 8 * 2**20
MAX_CHUNKS = 64
MAX_LINE_BYTES = 512
_KEYS = {"flow", "point", "sequence", "sha256", "size"}


@dataclass(frozen=True, slots=True)
class Bundled:
    """One chunk of a bundle, with what its line says of it. sha256: hex digits."""

    flow: int
    point: Point
    sequence: int
    sha256: str
    content: bytes


def split_bundle(body: bytes) -> list[Bundled]:
    """The chunks in their order. InvalidError `bundle_invalid` says what is wrong with the whole; no chunk is looked into."""
    chunks: list[Bundled] = []
    start = 0
    while start < len(body):
        if len(chunks) == MAX_CHUNKS:
            raise _invalid(f"it holds more than {MAX_CHUNKS} chunks")
        end = body.find(b"\n", start, start + MAX_LINE_BYTES)
        if end < 0:
            raise _invalid(f"no line of at most {MAX_LINE_BYTES} bytes at byte {start}")
        line, size = _line(body[start:end], start)
        start = end + 1 + size
        if start > len(body):
            raise _invalid(f"it ends within the chunk that is announced before byte {end + 1}")
        chunks.append(Bundled(content=body[end + 1 : start], **line))
    if not chunks:
        raise _invalid("it holds no chunk")
    return chunks


def _line(line: bytes, at: int) -> tuple[dict[str, Any], int]:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _invalid(f"the line at byte {at} is not JSON") from error
    if not isinstance(data, dict) or set(data) != _KEYS:
        raise _invalid(f"the line at byte {at} must hold exactly {', '.join(sorted(_KEYS))}")
    if not re.fullmatch(POINT, str(data["point"])) or not re.fullmatch(r"[0-9a-fA-F]{64}", str(data["sha256"])):
        raise _invalid(f"point or sha256 in the line at byte {at}")
    size = _integer(data, "size", 1, MAX_PACKED_BYTES, at)
    flow = _integer(data, "flow", NO_FLOW, MAX_FLOW, at)
    sequence = _integer(data, "sequence", 0, MAX_SEQUENCE, at)
    return {"flow": flow, "point": Point(data["point"]), "sequence": sequence, "sha256": data["sha256"]}, size


def _integer(data: Mapping[str, Any], key: str, least: int, most: int, at: int) -> int:
    value = data[key]
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return value
    raise _invalid(f"{key} in the line at byte {at} must be a whole number from {least} to {most}")


def _invalid(what: str) -> InvalidError:
    return InvalidError("bundle_invalid", f"These chunks cannot be separated: {what}.")
