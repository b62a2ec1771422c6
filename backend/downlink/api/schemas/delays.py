"""Delays of blocks (docs/api.md, section Delays). For documentation and types: the answer is encoded once and sent as it is."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import Field

from downlink.api.schemas.base import Shape

Kind = Literal["one_way_delay", "in_order_delay", "jitter", "in_order_jitter"]
Why = Literal[
    "no_table",
    "half_missing",
    "no_common_blocks",
    "order_only",
    "clock_unknown",
    "clock_unsure",
    "below_zero",
    "too_short",
]


class LeftOut(Shape):
    """Complete runs without a value."""

    why: Why
    sentence: str
    runs: int


class PooledDelay(Shape):
    """One kind of delay over all blocks of the runs that have it. Quantiles are within 0.5 % of the blocks' own, the mean is theirs."""

    kind: Kind
    runs: int = Field(description="Those that have it")
    n: int = Field(description="Their blocks of which both ends have a row; of jitter, pairs of seconds in a row")
    mean_ms: float | None
    p5_ms: float | None
    median_ms: float | None
    p95_ms: float | None
    quantiles_ms: list[float] = Field(description="At each of shares; empty where no run has a value")
    clock_error_ms: float | None = Field(
        description="By how much the clocks of both ends may differ, in the worst of these runs; 0 on one host"
    )
    left_out: list[LeftOut]


class DelayGroup(Shape):
    """One flow of one condition on one link, over its complete runs."""

    link: str
    condition: str
    flow: int
    cc: str
    runs: int
    delays: list[PooledDelay]


class CampaignDelays(Shape):
    campaign_id: UUID
    shares: list[float] = Field(description="Of all blocks, 0 to 1: where quantiles are given")
    groups: list[DelayGroup] = Field(description="Empty where no run kept a delivery table")
