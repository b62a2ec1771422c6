"""The day strip."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from downlink.api.schemas.annotations import Annotation
from downlink.api.schemas.base import Moment, Shape
from downlink.api.schemas.runs import RunStateName


class Night(Shape):
    from_at: Moment
    to_at: Moment


class DayLink(Shape):
    link: str
    time_zone: str | None = Field(description="The link's, where it says one")
    nights: list[Night] = Field(description="22:00 to 06:00 by its clock, within the strip")


class DayValue(Shape):
    flow: int = Field(description="0: the emulated link itself")
    cc: str = Field(description="The control that ran; until that is known, the one that was asked for")
    value: float


class DayRun(Shape):
    id: UUID
    link: str
    condition: str
    cycle: int
    attempt: int
    state: RunStateName
    reason: str | None
    detail: str | None
    at: Moment = Field(description="When it began; until then, or where it never did, when it is due")
    ended_at: Moment | None
    values: list[DayValue] = Field(description="Empty where it has no such value")


class CampaignDay(Shape):
    """A campaign's runs over clock time."""

    campaign_id: UUID
    phase: str
    metric: str
    from_at: Moment | None
    to_at: Moment | None
    total: int = Field(description="Runs of the campaign; the first 5,000 are in the answer")
    links: list[DayLink]
    annotations: list[Annotation] = Field(description="Of the campaign and of its links, within the strip; at most 100")
    runs: list[DayRun] = Field(description="Every attempt, in the order of the plan")
