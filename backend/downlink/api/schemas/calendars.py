"""The calendar of all links."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from downlink.api.schemas.base import Moment, Shape
from downlink.api.schemas.campaigns import CampaignStateName
from downlink.api.schemas.days import Night
from downlink.api.schemas.links import MonthUse
from downlink.api.schemas.runs import RunStateName


class CalendarCell(Shape):
    at: Moment = Field(description="Where it begins")
    counts: dict[RunStateName, int] = Field(
        description="Runs that began in it, or never began and were or are due in it; states that some run has"
    )


class CalendarLane(Shape):
    """One campaign on one link."""

    campaign_id: UUID
    name: str
    state: CampaignStateName
    runs: int = Field(description="In these days, every attempt counted")
    carried_bytes: int = Field(description="By those runs, failed ones included")
    used_bytes: int | None = Field(description="By the whole campaign on all links; null where it has no limit")
    limit_bytes: int | None = Field(description="The campaign's own")
    cells: list[CalendarCell]


class CalendarLink(Shape):
    link: str
    time_zone: str | None
    nights: list[Night] = Field(description="22:00 to 06:00 by its clock")
    allowance_bytes: int | None = Field(description="A month")
    month: MonthUse | None = Field(description="What is used of the allowance now, whichever days are shown")
    carried_bytes: int = Field(description="By all runs over it in these days")
    lanes: list[CalendarLane] = Field(description="In the order of their first runs")


class Calendar(Shape):
    from_at: Moment
    to_at: Moment
    cell_s: int
    total: int = Field(description="Campaigns by link with runs in these days; the first 100 are in the answer")
    before_at: Moment | None = Field(description="The last run before these days")
    after_at: Moment | None = Field(description="The first run after them")
    links: list[CalendarLink] = Field(description="Every link, at most 200, and those that runs here name, by name")
