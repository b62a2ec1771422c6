"""Moments that somebody wrote are taken to UTC, and how a moment is written in sentences and tables."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any
from zoneinfo import ZoneInfo


def in_utc(moment: datetime, zone: str | None = None) -> datetime:
    """The same moment in UTC. zone: an IANA name, whose clock showed a time that has no offset.

    ValueError for a time with neither, and for one whose moment lies outside of the years 1 to 9999 in UTC.
    """
    if moment.tzinfo is None:
        if zone is None:
            raise ValueError("must have an offset, such as Z")
        moment = moment.replace(tzinfo=ZoneInfo(zone))
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("must lie within the years 1 to 9999 in UTC") from None


def moment_text(moment: datetime) -> str:
    """ISO 8601 UTC in milliseconds, `2026-01-02T03:04:05.678Z`. The moment must know its offset."""
    if moment.tzinfo is None:
        raise ValueError("a moment without an offset has no place in a table")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _Written:
    """The hooks that tell pydantic how to document and write moments in the API's answers."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> dict[str, Any]:
        written = {"type": "function-plain", "function": moment_text, "when_used": "json"}
        return {**handler(source), "serialization": written}

    def __get_pydantic_json_schema__(self, _: Any, __: Any) -> dict[str, str]:
        return {"type": "string", "format": "date-time"}


Moment = Annotated[datetime, _Written()]
"""A moment of an answer."""
