"""Contents of a file: itself, unpacked, or the files of an archive. All in memory and within bounds; nothing is written to disk."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from downlink.codec.unpack_limit import TooLongError, is_packed, unpack
from downlink.domain.errors import InvalidError
from downlink.importers.model import UnreadableError
from downlink.importers.tar import is_tar, tar_files

MAX_MEMBERS = 500
MAX_LAYERS = 2
"""`.tar.gz` has one; a file in it may be packed itself."""
MEBIBYTE = 2**20
ZIP_MAGIC, ZIP_ENTRY = b"PK\x03\x04", b"PK\x01\x02"
ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ZIP_FAULTS = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, RuntimeError)
LEFT_BY_SYSTEMS = ("__MACOSX/", "._", ".DS_Store")


@dataclass(frozen=True)
class Member:
    """A file as it lies in the given one. path: inside an archive, only to be shown; None for the given file itself."""

    path: str | None
    packed: bytes
    content: bytes


class Budget:
    """The bytes to which one given file may still unpack, over all its members."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = self.left_bytes = limit_bytes

    def spend(self, content: bytes) -> bytes:
        if len(content) > self.left_bytes:
            raise self.exceeded()
        self.left_bytes -= len(content)
        return content

    def exceeded(self) -> UnreadableError:
        return UnreadableError(f"it unpacks to more than {self._limit_bytes // MEBIBYTE} MiB")


def members(packed: bytes, limit_bytes: int) -> Iterator[Member]:
    """The files in a file. UnreadableError or InvalidError `unpack_failed` when it is broken or beyond the bounds."""
    budget = Budget(limit_bytes)
    content = _peeled(packed, budget)
    if not is_archive(content):
        yield Member(None, packed, content)
        return
    many = 0
    for path, inner in _files(content, budget):
        if path.startswith(LEFT_BY_SYSTEMS) or path.rsplit("/", 1)[-1].startswith(LEFT_BY_SYSTEMS):
            continue
        many += 1
        if many > MAX_MEMBERS:
            raise UnreadableError(f"it holds more than {MAX_MEMBERS} files; unpack it and import some at a time")
        yield _member(path, inner, budget)
    if many == 0:
        raise UnreadableError("it is an archive without files")


def is_archive(content: bytes) -> bool:
    return content.startswith(ZIP_MAGIC) or is_tar(content)


def _member(path: str, packed: bytes, budget: Budget) -> Member:
    content = _peeled(packed, budget)
    if is_archive(content):
        raise UnreadableError(f"{path} is an archive inside an archive; unpack it first")
    return Member(path, packed, content)


def _peeled(packed: bytes, budget: Budget) -> bytes:
    """The content under at most two layers of compression."""
    content = packed
    for _ in range(MAX_LAYERS):
        inner = _unpacked(content, budget)
        if inner is None:
            break
        content = inner
    return content


def _unpacked(packed: bytes, budget: Budget) -> bytes | None:
    """One layer less; None where there is none."""
    if not is_packed(packed):
        return None
    try:
        return budget.spend(unpack(packed, budget.left_bytes))
    except TooLongError as error:
        raise budget.exceeded() from error
    except InvalidError as error:
        raise UnreadableError(error.message) from error


def _files(content: bytes, budget: Budget) -> Iterator[tuple[str, bytes]]:
    """Path and content; a tar's files are parts of what was unpacked already."""
    return _zip_files(content, budget) if content.startswith(ZIP_MAGIC) else tar_files(content)


def _zip_files(content: bytes, budget: Budget) -> Iterator[tuple[str, bytes]]:
    if content.count(ZIP_ENTRY) > 2 * MAX_MEMBERS:  # folders are entries too
        raise UnreadableError(f"it holds more than {MAX_MEMBERS} files; unpack it and import some at a time")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for info in archive.infolist():
                if not info.is_dir():
                    yield info.filename, _zip_file(archive, info, budget)
    except ZIP_FAULTS as error:
        raise UnreadableError(f"the zip archive is broken ({error})") from error


def _zip_file(archive: zipfile.ZipFile, info: zipfile.ZipInfo, budget: Budget) -> bytes:
    if info.flag_bits & 1:
        raise UnreadableError(f"{info.filename} is encrypted; unpack it first")
    if info.compress_type not in ZIP_METHODS:
        raise UnreadableError(f"{info.filename} is packed by a method that is not read; make the zip with deflate")
    with archive.open(info) as file:
        return budget.spend(file.read(budget.left_bytes + 1))
