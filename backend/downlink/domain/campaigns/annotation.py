"""Notes of people about a period: of a campaign, or of a link whatever campaigns run over it."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from downlink.domain.errors import InvalidError

MOST_WORDS = 500
"""Characters of a text: it stands in a list beside a chart."""
MOST_OF_CAMPAIGN = 200
MOST_OF_LINK = 2_000
"""Weather of years."""
MOST_DRAWN = 100
"""Numbers in a strip at most: more could not be read."""
LONGEST = timedelta(days=366)
FIRST_YEAR, LAST_YEAR = 1971, 2199


class AnnotationKind(StrEnum):
    WEATHER = "weather"
    MAINTENANCE = "maintenance"
    NOTE = "note"


def check_times(from_at: datetime, to_at: datetime | None) -> None:
    """InvalidError for a beginning in no usual year, an end before the beginning, or a year later. None is a moment."""
    if not FIRST_YEAR <= from_at.year <= LAST_YEAR:
        raise InvalidError("annotation_times", f"An annotation lies between the years {FIRST_YEAR} and {LAST_YEAR}.")
    if to_at is not None and not timedelta() <= to_at - from_at <= LONGEST:
        raise InvalidError(
            "annotation_times",
            "An annotation ends when it begins or later, and within 366 days; without an end it is a moment.",
        )
