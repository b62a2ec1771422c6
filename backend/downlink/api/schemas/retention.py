"""Retention of a campaign's data, its size, and the removals by date."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field

from downlink.api.schemas.base import Body, Moment, Shape
from downlink.domain.campaigns.retention import MOST_DAYS, Part

Days = Annotated[int, Field(ge=1, le=MOST_DAYS)]
_PART = (
    "`traces`: the raw samples. `series`: those and the one-second series. `all`: the campaign with everything it has"
)


class RetentionBody(Body):
    """Days after the campaign's end; null, or left out: for good. Each part goes with the next one at the latest."""

    traces_days: Days | None = None
    series_days: Days | None = None
    all_days: Days | None = None
    is_pinned: bool = Field(default=False, description="Nothing is removed, by rule or by hand, until it is unpinned")


class RemovalBody(Body):
    part: Part = Field(description=_PART)


class DataSize(Shape):
    traces_bytes: int = Field(description="Raw traces as they are stored")
    traces_runs: int
    unsized_parts: int = Field(description="Parts in a trace store whose size is not on record: not in traces_bytes")
    series_bytes: int
    series_runs: int


class DataPart(Shape):
    """What would go with this part."""

    part: Part = Field(description=_PART)
    runs: int = Field(description="That have something of it")
    bytes: int = Field(description="That it takes now, parts of unknown size left out")
    due_at: Moment | None = Field(description="When the rule removes it; null: not by rule, or not yet known")


class Removed(Shape):
    """Numbers of these runs were computed before, stay, and cannot be computed again."""

    traces_runs: int
    traces_at: Moment | None
    series_runs: int
    series_at: Moment | None


class Retention(Shape):
    campaign_id: UUID
    is_pinned: bool
    traces_days: int | None
    series_days: int | None
    all_days: int | None
    size: DataSize
    parts: list[DataPart] = Field(description="`traces`, `series`, `all`: each with what comes before it")
    going: Part | None = Field(description="What is being removed now")
    ordered_by: str | None
    removed: Removed


class CampaignData(Shape):
    """A campaign in the list of what takes room."""

    campaign_id: UUID
    name: str
    state: str
    owner_id: UUID | None
    ended_at: Moment | None
    is_pinned: bool
    size: DataSize
    next: DataPart | None = Field(description="What its rule removes next")
    going: Part | None


class DataList(Shape):
    items: list[CampaignData]
    total: int
    traces_bytes: int = Field(description="Of all campaigns")
    series_bytes: int
    database_bytes: int = Field(
        description="The database as a whole. What was removed from it is used again by what comes next"
    )
