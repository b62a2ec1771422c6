"""How a moment is written in sentences and tables."""

from __future__ import annotations

from datetime import UTC, datetime


def moment_text(moment: datetime) -> str:
    """ISO 8601 UTC in milliseconds, `2026-01-02T03:04:05.678Z`. The moment must know its offset."""
    if moment.tzinfo is None:
        raise ValueError("a moment without an offset has no place in a table")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
