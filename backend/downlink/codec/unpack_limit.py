"""Unpacking with a limit: a small file must not become an endless one."""

from __future__ import annotations

import bz2
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import zstandard

from downlink.domain.errors import InvalidError

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
BZIP2_MAGIC = b"BZh"
XZ_MAGIC = b"\xfd7zXZ\x00"
MAX_WINDOW_BYTES = 128 * 2**20  # what `zstd --long` and `--ultra -22` ask for
XZ_MEMORY_BYTES = 160 * 2**20
MAX_PARTS = 100_000  # members, streams or frames; bgzip makes one of each 64 KiB, 8,192 of 512 MiB
# What is handed to the unpacker at once. zstandard alone does not limit its output: a block of 4 bytes may become
# 128 KiB (RFC 8878, 3.1.1.2), these bytes 8 MiB. What is left of them after a member or frame is copied, so they are few.
PIECE_BYTES = 16 * 2**10
ZSTD_PIECE_BYTES = 256
OUTPUT_BYTES = 2**20

Pieces = Callable[[bytes], Iterator[bytes]]


class TooLongError(InvalidError):
    """The content is longer than what the caller takes."""


def is_packed(content: bytes) -> bool:
    return _unpacker(content) is not None


def unpack(packed: bytes, limit_bytes: int) -> bytes:
    """The content of gzip, zstd, bzip2 or xz bytes, and anything else as it is.

    Raises InvalidError `unpack_failed` when the content is broken or cut off, and TooLongError when it is longer than
    limit_bytes. It is unpacked twice, first to count: what is too long or broken takes no memory.
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
    return next((pieces for magic, pieces in UNPACKERS.items() if packed.startswith(magic)), None)


def _check_length(length: int, limit_bytes: int) -> None:
    if length > limit_bytes:
        raise TooLongError("unpack_failed", f"it unpacks to more than {limit_bytes // 2**20} MiB")


def _gzip_pieces(packed: bytes) -> Iterator[bytes]:
    """The content of all members of a gzip file, one after the other."""

    def inflate(member: Any, given: bytes) -> Iterator[bytes]:
        yield member.decompress(given, OUTPUT_BYTES)
        while member.unconsumed_tail:
            yield member.decompress(member.unconsumed_tail, OUTPUT_BYTES)

    def start() -> Any:
        return zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)

    return _parts("gzip", packed, PIECE_BYTES, start, inflate)


def _zstd_pieces(packed: bytes) -> Iterator[bytes]:
    """The content of all frames of a zstd file, one after the other."""
    unpacker = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES)

    def inflate(frame: Any, given: bytes) -> Iterator[bytes]:
        yield frame.decompress(given)

    return _parts("zstd", packed, ZSTD_PIECE_BYTES, unpacker.decompressobj, inflate)


def _bzip2_pieces(packed: bytes) -> Iterator[bytes]:
    return _parts("bzip2", packed, PIECE_BYTES, bz2.BZ2Decompressor, _inflate_stream)


def _xz_pieces(packed: bytes) -> Iterator[bytes]:
    def start() -> Any:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY_BYTES)

    return _parts("xz", packed, PIECE_BYTES, start, _inflate_stream, padding=b"\0")


def _inflate_stream(stream: Any, given: bytes) -> Iterator[bytes]:
    yield stream.decompress(given, OUTPUT_BYTES)
    while not stream.eof and not stream.needs_input:
        yield stream.decompress(b"", OUTPUT_BYTES)


UNPACKERS: dict[bytes, Pieces] = {
    GZIP_MAGIC: _gzip_pieces,
    ZSTD_MAGIC: _zstd_pieces,
    BZIP2_MAGIC: _bzip2_pieces,
    XZ_MAGIC: _xz_pieces,
}
FAULTS = (zlib.error, zstandard.ZstdError, lzma.LZMAError, OSError, EOFError)


def _parts(
    kind: str,
    packed: bytes,
    step: int,
    start: Callable[[], Any],
    inflate: Callable[[Any, bytes], Iterator[bytes]],
    padding: bytes = b"",
) -> Iterator[bytes]:
    """Hand the packed bytes on by steps, to one unpacker for each member, stream or frame. Padding may follow each."""
    position = parts = 0
    while position < len(packed):
        parts += 1
        if parts > MAX_PARTS:
            raise _failed(f"the {kind} content has more than {MAX_PARTS} parts")
        part = start()
        while not part.eof:
            given = packed[position : position + step]
            if not given:
                raise _failed(f"the {kind} content ends too early")
            try:
                yield from inflate(part, given)
            except FAULTS as error:
                raise _failed(f"the {kind} content is broken ({error})") from error
            position += len(given) - len(part.unused_data)
        while padding and packed.startswith(padding, position):
            position += len(padding)


def _failed(why: str) -> InvalidError:
    return InvalidError("unpack_failed", why)
