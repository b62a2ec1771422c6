"""Files of other tools, read one at a time: what can be kept of them, and why the rest cannot."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from downlink.domain.errors import InvalidError
from downlink.importers.duplicates import TakenTests
from downlink.importers.files import traces_in
from downlink.importers.model import ImportedTrace, refused
from downlink.importers.packed_test import SealedFile, seal_file

MAX_DURATION_S = 86_400.0
MAX_NAME_CHARS = 200
MAX_TESTS = 1_000


@dataclass(frozen=True, slots=True)
class Refusal:
    """A test that is not taken. message: a sentence with both."""

    file: str
    reason: str
    message: str


@dataclass
class CheckedFiles:
    """Tests that can be kept, and refusals."""

    sealed: list[SealedFile] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)

    def reasons(self) -> list[dict[str, str]]:
        return [{"file": each.file, "reason": each.reason} for each in self.refusals]


def check_opened(
    opened: Sequence[tuple[str, int]], known: Mapping[str, str], now: datetime, *, is_strict: bool = False
) -> CheckedFiles:
    """Check files by their names and open descriptors, which are read from their beginning. known: files by SHA-256."""
    return check_files(((name, _content_of(number)) for name, number in opened), known, now, is_strict=is_strict)


def _content_of(number: int) -> bytes:
    with os.fdopen(os.dup(number), "rb") as file:
        file.seek(0)
        return file.read()


def check_files(
    files: Iterable[tuple[str, bytes]], known: Mapping[str, str], now: datetime, *, is_strict: bool = False
) -> CheckedFiles:
    """Check all tests of all files."""
    checked, taken = CheckedFiles(), TakenTests(known)
    for name, content in files:
        taken.begin_file()
        for result in traces_in(_shown(name), content, now, is_strict=is_strict):
            try:
                _take(checked, taken, result)
            except InvalidError as error:
                checked.refusals.append(Refusal(error.details["file"], error.details["reason"], error.message))
    return checked


def _take(checked: CheckedFiles, taken: TakenTests, result: ImportedTrace | InvalidError) -> None:
    if isinstance(result, InvalidError):
        raise result
    taken.check(result)
    if len(checked.sealed) == MAX_TESTS:
        raise refused(result.name, f"more than {MAX_TESTS} tests are too many for one import; import it afterwards")
    file = seal_file(result)
    if file.duration_s > MAX_DURATION_S:
        raise refused(result.name, "it lasts longer than a day")
    taken.take(result)
    checked.sealed.append(file)


def _shown(name: str) -> str:
    """A file's own name, without folders and without what cannot be shown or stored."""
    base = name.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(c for c in base if unicodedata.category(c)[0] != "C")[-MAX_NAME_CHARS:] or "a file without a name"
