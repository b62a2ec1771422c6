"""How far differences can be trusted (docs/method.md, section 4)."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from downlink.api.schemas.base import Interval, Shape
from downlink.api.schemas.reports import PhaseName


class Evidence(Shape):
    """A condition against the baseline, paired by cycle. p values are adjusted over all comparisons of the campaign."""

    link: str
    flow: int
    phase: PhaseName
    metric: str
    condition: str
    baseline: str
    difference: Interval
    bootstrap_low: float | None
    bootstrap_high: float | None
    detectable_difference: float | None = Field(description="What these cycles show at 5 % with a chance of 80 %")
    cycles_needed: int | None = Field(description="For the difference seen so far; null when it is 0 or out of reach")
    cycles_missing: int | None
    ks_distance: float | None
    shape_p: float | None = Field(description="Kolmogorov-Smirnov; null below three values a side")
    location_p: float | None = Field(description="Mann-Whitney; null below three values a side")


class Outlier(Shape):
    """A value to look at. It stays in every statistic."""

    run_id: UUID
    link: str
    condition: str
    cycle: int
    flow: int
    phase: PhaseName
    metric: str
    value: float
    median: float


class CampaignStatistics(Shape):
    campaign_id: UUID
    comparisons: list[Evidence]
    outliers: list[Outlier]
