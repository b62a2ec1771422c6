"""Unpacking with a limit: a small file must not become an endless one."""

from __future__ import annotations

import zlib

import zstandard

from downlink.domain.errors import InvalidError

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
MAX_WINDOW_BYTES = 128 * 2**20
PIECE_BYTES = 2**20


def unpack(packed: bytes, limit_bytes: int) -> bytes:
    """The content of gzip or zstd bytes, and anything else as it is.

    Raises InvalidError `unpack_failed` when the content is broken, cut off, or longer than limit_bytes.
    """
    if packed.startswith(GZIP_MAGIC):
        return _gunzip(packed, limit_bytes)
    if packed.startswith(ZSTD_MAGIC):
        return _unzstd(packed, limit_bytes)
    if len(packed) > limit_bytes:
        raise _too_long(limit_bytes)
    return packed


def _gunzip(packed: bytes, limit_bytes: int) -> bytes:
    """All members of a gzip file, one after the other."""
    content, rest = bytearray(), packed
    try:
        while rest:
            member = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
            content += member.decompress(rest, limit_bytes - len(content) + 1)
            if len(content) > limit_bytes:
                raise _too_long(limit_bytes)
            if not member.eof:
                raise InvalidError("unpack_failed", "the gzip content ends too early")
            rest = member.unused_data
    except zlib.error as error:
        raise InvalidError("unpack_failed", f"the gzip content is broken ({error})") from error
    return bytes(content)


def _unzstd(packed: bytes, limit_bytes: int) -> bytes:
    """All frames of a zstd file; read by pieces, since a frame may announce any size."""
    content = bytearray()
    rest = packed
    try:
        while rest:
            frame = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES).decompressobj()
            for start in range(0, len(rest), PIECE_BYTES):
                content += frame.decompress(rest[start : start + PIECE_BYTES])
                if len(content) > limit_bytes:
                    raise _too_long(limit_bytes)
                if frame.eof:
                    rest = frame.unused_data + rest[start + PIECE_BYTES :]
                    break
            else:
                raise InvalidError("unpack_failed", "the zstd content ends too early")
    except zstandard.ZstdError as error:
        raise InvalidError("unpack_failed", f"the zstd content is broken ({error})") from error
    return bytes(content)


def _too_long(limit_bytes: int) -> InvalidError:
    return InvalidError("unpack_failed", f"it unpacks to more than {limit_bytes // 2**20} MiB")
