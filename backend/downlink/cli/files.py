"""Files that the client writes: whole, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from downlink.cli.client import Client
from downlink.domain.errors import InvalidError


def download(client: Client, path: str, file: Path) -> int:
    """Fetch what lies at a path of the API into a file; answer its size in bytes. What fails leaves the file as it was."""
    with _whole(file) as out:
        return client.download(path, out)


def write_text(file: Path, text: str) -> None:
    """Write a whole file or none. InvalidError where it cannot be written."""
    write_bytes(file, text.encode())


def write_bytes(file: Path, content: bytes) -> None:
    """Write bytes in the way of write_text."""
    with _whole(file) as out:
        out.write(content)


def make_folder(folder: Path) -> None:
    with _refusals(folder):
        folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def _whole(file: Path) -> Iterator[BinaryIO]:
    """A file that gets its name when it is complete. Devices and pipes (`/dev/stdout`) are written as they are."""
    is_plain = file.is_file() or not file.exists()
    part = file.with_name(f"{file.name}.part") if is_plain else file
    with _refusals(file):
        out = part.open("wb")
    try:
        with out:
            yield out
        if is_plain:
            part.replace(file)
    except BaseException:
        if is_plain:
            part.unlink(missing_ok=True)
        raise


@contextmanager
def _refusals(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InvalidError("file_unwritable", f"Cannot write {file}: {error.strerror}.") from error
