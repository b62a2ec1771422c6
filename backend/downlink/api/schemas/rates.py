"""Rates of seconds (docs/api.md, section Rates). For documentation and types: the answer is encoded once and sent as it is."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import Field

from downlink.api.schemas.base import Shape

Rate = Literal["throughput_bps", "goodput_bps"]


class RateSeconds(Shape):
    """One rate over all whole seconds of the runs that have it. Quantiles are the seconds' own."""

    metric: Rate
    runs: int = Field(description="Those that have it")
    n: int = Field(description="Their whole seconds; one in which nothing came counts as 0")
    unknown: int = Field(
        description="Seconds of which it is not known (gaps in the telemetry, files of other tools), which are left out"
    )
    mean_bps: float | None
    p5_bps: float | None
    median_bps: float | None
    p95_bps: float | None
    quantiles_bps: list[float] = Field(description="At each of shares; empty where no second is known")


class RateGroup(Shape):
    """One flow of one condition on one link, over its complete runs."""

    link: str
    condition: str
    flow: int
    cc: str
    runs: int
    rates: list[RateSeconds]


class CampaignRates(Shape):
    campaign_id: UUID
    shares: list[float] = Field(description="Of all seconds, 0 to 1: where quantiles are given")
    groups: list[RateGroup] = Field(description="Empty where no run is complete")
