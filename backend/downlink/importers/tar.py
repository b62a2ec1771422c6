"""The files of a tar archive (POSIX.1-2008, pax, "ustar Interchange Format"; GNU's long names). Sizes are checked before anything is used,
and nothing but regular files comes out: links, devices and folders are passed over.

Python's `tarfile` has hung on hostile archives (CVE-2025-8194, CVE-2024-6232)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from downlink.importers.model import UnreadableError

BLOCK_BYTES = 512
MAGIC_AT, CHECKSUM, SIZE, KIND, PREFIX = 257, slice(148, 156), slice(124, 136), slice(156, 157), slice(345, 500)
REGULAR, GNU_LONG_NAME, PAX, SPARSE = (b"0", b"\0", b"7"), b"L", b"x", b"S"
PAX_PATH = re.compile(rb"\d+ path=([^\n]*)\n")
MAX_NAME_BYTES = 4096


def is_tar(content: bytes) -> bool:
    return content[MAGIC_AT : MAGIC_AT + 5] == b"ustar"


def tar_files(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Path and content of each regular file."""
    at, long_name = 0, None
    while at + BLOCK_BYTES <= len(content):
        header = content[at : at + BLOCK_BYTES]
        if not any(header):
            return
        size = _size(header, at)
        start = at + BLOCK_BYTES
        if start + size > len(content):
            raise UnreadableError("the tar archive ends too early")
        kind = header[KIND]
        if kind == SPARSE:
            raise UnreadableError("the tar archive holds a sparse file; unpack it first")
        if kind in (GNU_LONG_NAME, PAX):
            long_name = _long_name(content[start : start + min(size, MAX_NAME_BYTES)], kind)
        elif kind in REGULAR:
            yield _text(long_name or _name(header)), content[start : start + size]
        if kind not in (GNU_LONG_NAME, PAX):
            long_name = None
        at = start + -(-size // BLOCK_BYTES) * BLOCK_BYTES
    raise UnreadableError("the tar archive ends too early")


def _size(header: bytes, at: int) -> int:
    """The size of a header whose checksum is right; GNU writes large ones in binary, the first bit set."""
    blank = header[: CHECKSUM.start] + b" " * 8 + header[CHECKSUM.stop :]
    if _octal(header[CHECKSUM]) != sum(blank):
        raise UnreadableError(f"the tar archive is broken at byte {at}")
    field = header[SIZE]
    size = int.from_bytes(field[1:], "big") if field[0] & 0x80 else _octal(field)
    if size is None:
        raise UnreadableError(f"the tar archive is broken at byte {at}")
    return size


def _octal(field: bytes) -> int | None:
    digits = field.strip(b" \0")
    return int(digits, 8) if re.fullmatch(rb"[0-7]{1,12}", digits) else None


def _name(header: bytes) -> bytes:
    name = header[:100].split(b"\0", 1)[0]
    prefix = header[PREFIX].split(b"\0", 1)[0] if header[MAGIC_AT : MAGIC_AT + 6] == b"ustar\0" else b""
    return prefix + b"/" + name if prefix else name


def _long_name(body: bytes, kind: bytes) -> bytes | None:
    if kind == GNU_LONG_NAME:
        return body.split(b"\0", 1)[0]
    match = PAX_PATH.search(body)
    return match[1] if match else None


def _text(name: bytes) -> str:
    return name.decode("utf-8", errors="replace")
