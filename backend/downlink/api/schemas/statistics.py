"""How far differences can be trusted (docs/method.md, section 4)."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from downlink.api.schemas.base import Shape
from downlink.api.schemas.reports import PHASE, Column, Comparison, Outlier


class CampaignStatistics(Shape):
    campaign_id: UUID
    primary_metrics: list[str]
    comparisons: list[Comparison]
    outliers: list[Outlier]


class Offered(Shape):
    """A quantity of which any run has a value."""

    phase: str = Field(description=PHASE)
    metric: str


class ValuesOfRuns(Shape):
    """One flow of one condition on one link: a value of each run."""

    link: str
    condition: str
    flow: int = Field(description="0: of the emulated link itself")
    cc: str = Field(description="Empty for a link itself")
    run_ids: list[UUID]
    cycles: list[int]
    values: Column
    not_within: list[bool] = Field(
        description="Of times: true where a run did not come to it; its value is then the time that was watched"
    )


class CampaignValues(Shape):
    campaign_id: UUID
    phase: str = Field(description=PHASE)
    metric: str
    offered: list[Offered] = Field(description="What can be asked for")
    sides: list[ValuesOfRuns]
