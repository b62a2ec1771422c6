"""Unpacking with a limit: a small file must not become an endless one."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import zstandard

from downlink.domain.errors import InvalidError

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
MAX_WINDOW_BYTES = 128 * 2**20  # what `zstd --long` and `--ultra -22` ask for
MAX_PARTS = 100_000  # members or frames; bgzip makes one of each 64 KiB, 8,192 of 512 MiB
# What is handed to the unpacker at once. zlib limits its output itself. zstandard does not: a block of 4 bytes may become
# 128 KiB (RFC 8878, 3.1.1.2), these bytes 8 MiB. What is left of them after a member or frame is copied, so they are few.
GZIP_PIECE_BYTES = 16 * 2**10
ZSTD_PIECE_BYTES = 256
OUTPUT_BYTES = 2**20

Pieces = Callable[[bytes], Iterator[bytes]]


def unpack(packed: bytes, limit_bytes: int) -> bytes:
    """The content of gzip or zstd bytes, and anything else as it is.

    Raises InvalidError `unpack_failed` when the content is broken, cut off, or longer than limit_bytes. It is unpacked
    twice, first to count: what is too long or broken takes no memory.
    """
    pieces = _unpacker(packed)
    if pieces is None:
        _check_length(len(packed), limit_bytes)
        return packed
    length = 0
    for piece in pieces(packed):
        length += len(piece)
        _check_length(length, limit_bytes)
    content = io.BytesIO()  # hands out its buffer without a copy
    for piece in pieces(packed):
        content.write(piece)
    return content.getvalue()


def _unpacker(packed: bytes) -> Pieces | None:
    if packed.startswith(GZIP_MAGIC):
        return _gzip_pieces
    return _zstd_pieces if packed.startswith(ZSTD_MAGIC) else None


def _check_length(length: int, limit_bytes: int) -> None:
    if length > limit_bytes:
        raise _failed(f"it unpacks to more than {limit_bytes // 2**20} MiB")


def _gzip_pieces(packed: bytes) -> Iterator[bytes]:
    """The content of all members of a gzip file, one after the other."""

    def inflate(member: Any, given: bytes) -> Iterator[bytes]:
        yield member.decompress(given, OUTPUT_BYTES)
        while member.unconsumed_tail:
            yield member.decompress(member.unconsumed_tail, OUTPUT_BYTES)

    try:
        yield from _parts(
            "gzip", packed, GZIP_PIECE_BYTES, lambda: zlib.decompressobj(wbits=16 + zlib.MAX_WBITS), inflate
        )
    except zlib.error as error:
        raise _failed(f"the gzip content is broken ({error})") from error


def _zstd_pieces(packed: bytes) -> Iterator[bytes]:
    """The content of all frames of a zstd file, one after the other."""
    unpacker = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES)

    def inflate(frame: Any, given: bytes) -> Iterator[bytes]:
        yield frame.decompress(given)

    try:
        yield from _parts("zstd", packed, ZSTD_PIECE_BYTES, unpacker.decompressobj, inflate)
    except zstandard.ZstdError as error:
        raise _failed(f"the zstd content is broken ({error})") from error


def _parts(
    kind: str, packed: bytes, step: int, start: Callable[[], Any], inflate: Callable[[Any, bytes], Iterator[bytes]]
) -> Iterator[bytes]:
    """Hand the packed bytes on by steps, to one unpacker for each member or frame."""
    place = parts = 0
    while place < len(packed):
        parts += 1
        if parts > MAX_PARTS:
            raise _failed(f"the {kind} content has more than {MAX_PARTS} parts")
        part = start()
        while not part.eof:
            given = packed[place : place + step]
            if not given:
                raise _failed(f"the {kind} content ends too early")
            yield from inflate(part, given)
            place += len(given) - len(part.unused_data)


def _failed(why: str) -> InvalidError:
    return InvalidError("unpack_failed", why)
