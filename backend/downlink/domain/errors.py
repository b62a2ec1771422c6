"""The errors that reach people: a stable code, a sentence that says what to do, and details."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class DownlinkError(Exception):
    """Base of every expected failure.

    code: snake_case, stable, for programs. message: a sentence for people. details: JSON-able facts.
    """

    def __init__(self, code: str, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = dict(details or {})

    def __reduce__(self) -> tuple[type[DownlinkError], tuple[str, str, dict[str, Any]]]:
        """Return the parts that rebuild the error in another process."""
        return type(self), (self.code, self.message, self.details)


class InvalidError(DownlinkError):
    """The input is wrong; the message says what is allowed."""


class NotFoundError(DownlinkError):
    """The thing does not exist, or this caller may not see it."""


class ConflictError(DownlinkError):
    """The thing is in a state that does not allow this."""


class DeniedError(DownlinkError):
    """The caller is not known, or may not do this."""


class UnavailableError(DownlinkError):
    """A part is away or full; the same call may work later."""
