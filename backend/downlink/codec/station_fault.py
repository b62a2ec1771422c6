"""Refusals of a weather station's file."""

from __future__ import annotations

from downlink.domain.errors import InvalidError


def unreadable(message: str) -> InvalidError:
    """Return the error of a file that is not taken; the message names the line and says what to do."""
    return InvalidError("station_unreadable", message)
