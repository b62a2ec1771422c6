"""Conditions of any campaigns beside each other (docs/method.md, section 7)."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import Field

from downlink.api.schemas.base import Interval, Moment, Shape
from downlink.api.schemas.reports import PHASE, Column
from downlink.api.schemas.statistics import Offered


class ComparedSide(Shape):
    """One flow of one condition on one link of one campaign, with the asked quantity of each of its runs."""

    side: str = Field(description="What it is named by: CAMPAIGN-ID/FLOW/LINK/CONDITION")
    campaign_id: UUID
    campaign: str
    origin: Literal["measured", "recorded", "imported"]
    link: str
    condition: str
    flow: int
    cc: str = Field(description="Empty before the first complete run")
    flows: int = Field(description="How many the condition has")
    runs: int
    first_at: Moment | None = Field(description="When the first of its complete runs began")
    last_at: Moment | None = Field(description="When the last of them began")
    run_ids: list[UUID] = Field(description="Of a link's quantity those runs whose link was logged")
    cycles: list[int]
    values: Column
    not_within: list[bool] = Field(
        description="Of times: true where a run did not come to it; its value is then the time that was watched"
    )


class Unpaired(Shape):
    """A side against the baseline, run by run of neither: Welch's 95 % interval; null where a side has fewer than two runs."""

    mean: float | None
    low: float | None
    high: float | None
    degrees: float | None = Field(description="Degrees of freedom; null where all runs of each side are alike")
    n: int
    n_base: int


class Compared(Shape):
    """One quantity of all sides, in their order; null for the baseline itself."""

    phase: str = Field(description=PHASE)
    metric: str
    within_s: float | None = Field(
        description="Of times that a run did not come to: all count up to the shortest that was watched in vain"
    )
    means: list[Interval]
    differences: list[Unpaired | None]
    ratios: list[Unpaired | None] = Field(
        description="Of geometric means; null where a run is not above zero, and for the baseline"
    )


class Unlike(Shape):
    """Something besides the numbers that the sides do not have in common."""

    aspect: Literal["analysis", "link", "hosts", "condition"]
    name: str
    values: list[str] = Field(description="Of each side; several with commas where its runs differ")


class CampaignsCompared(Shape):
    baseline: str = Field(description="Which of the sides")
    phase: str = Field(description=PHASE)
    metric: str = Field(description="Whose values the sides have")
    offered: list[Offered] = Field(description="What can be asked for")
    sides: list[ComparedSide]
    compared: list[Compared] = Field(description="Every quantity of the phase")
    unlike: list[Unlike]
