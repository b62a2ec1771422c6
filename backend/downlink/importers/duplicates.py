"""Tests that are already taken: the same bytes are one test."""

from __future__ import annotations

from collections.abc import Mapping

from downlink.importers.model import ImportedTrace, refused


class TakenTests:
    """The name of each test that was taken, by its SHA-256."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self._names = dict(known)
        self._before = dict(known)

    def begin_file(self) -> None:
        """Note that the tests taken so far belong to other files than those that follow."""
        self._before = dict(self._names)

    def check(self, trace: ImportedTrace) -> None:
        """Raise InvalidError `import_refused` for a test that was taken.

        In a log, tests that failed at once have the same text and are still several.
        """
        names = self._before if trace.failure else self._names
        if trace.sha256 in names:
            raise refused(trace.name, f"it is the same file as {names[trace.sha256]}")

    def take(self, trace: ImportedTrace) -> None:
        self._names[trace.sha256] = trace.name
