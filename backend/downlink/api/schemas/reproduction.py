"""Published values beside a campaign's own (docs/method.md, section 6)."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import Field

from downlink.api.schemas.base import Shape


class FlowOfCondition(Shape):
    condition: str
    flow: int


class ReproducedValue(Shape):
    """Numbers are in `unit`, which is empty for ratios."""

    name: str
    metric: str
    title: str = Field(description="Of the metric")
    unit: str
    phase: str
    link: str
    condition: str
    flow: int
    over: FlowOfCondition | None = Field(description="The value is a ratio to this flow, pair by pair")
    minus: FlowOfCondition | None = Field(description="The value is a difference to this flow, pair by pair")
    object_mb: int | None
    than_link: str | None = Field(
        description="The value is a multiple of the same ratio over this link, cycle by cycle"
    )
    share: float | None = Field(
        default=None,
        description="The value is what this share of all blocks, pairs of seconds or seconds do not exceed",
    )
    least: float | None = Field(description="What was published; least and most are equal for one number")
    most: float | None
    tolerance: float | None
    source: str = Field(description="Where in the paper it is")
    why: str = Field(description="The cause where ours is off")
    statistic: Literal["mean", "median", "share", "ratio", "difference", "quantile"]
    estimate: float | None
    low: float | None
    high: float | None
    n: int = Field(description="Runs, or pairs of them")
    not_within: int | None = Field(description="Of a time, the runs that did not reach it")
    reading: Literal["not_run", "too_few", "inside", "near", "outside"] = Field(
        description="inside: our interval holds what was published. near: it does not, but the estimate is within the tolerance"
    )
    equivalence_p: float | None = Field(description="Two one-sided tests that ours lies within the tolerance")


class ReproducedFigure(Shape):
    paper: str
    figure: str
    values: list[ReproducedValue]


class CampaignReproduction(Shape):
    campaign_id: UUID
    name: str
    origin: Literal["measured", "recorded", "imported"]
    runs: int = Field(description="Complete ones")
    figures: list[ReproducedFigure]


class Reproductions(Shape):
    """Every campaign whose file names a published figure, the oldest first."""

    items: list[CampaignReproduction]
