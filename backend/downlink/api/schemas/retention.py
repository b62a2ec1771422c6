"""Retention of a campaign's data, its size, and the removals by date."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from downlink.api.schemas.base import Body
from downlink.domain.campaigns.retention import MOST_DAYS, Part
from downlink.views.campaigns.retention import PART_HELP

Days = Annotated[int, Field(ge=1, le=MOST_DAYS)]


class RetentionBody(Body):
    """Days after the campaign's end; null, or left out: for good. Each part goes with the next one at the latest."""

    traces_days: Days | None = None
    series_days: Days | None = None
    all_days: Days | None = None
    is_pinned: bool = Field(default=False, description="Nothing is removed, by rule or by hand, until it is unpinned")


class RemovalBody(Body):
    part: Part = Field(description=PART_HELP)
