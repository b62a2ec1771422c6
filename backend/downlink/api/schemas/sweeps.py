"""Sweeps of a detector's parameters (docs/api.md, section Sweeps). Answers with cells are encoded once and sent as they are."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from downlink.api.schemas.base import Body, Moment, Name, Shape
from downlink.api.schemas.exits import TimingShares

Number = Annotated[float, Field(ge=-1e15, le=1e15, allow_inf_nan=False)]
SweepStateName = Literal["queued", "running", "complete", "failed"]
Values = Annotated[list[Number], Field(min_length=1, max_length=1_000)]


class SweepBody(Body):
    detector: Name = Field(examples=["search"])
    version: Name = Field(examples=["3.1"])
    grid: dict[Name, Values] = Field(
        min_length=1,
        max_length=20,
        description="Values per parameter, in the units of /sweeps/parameters; every combination is tried, 1,000 at most",
        examples=[{"window_factor": [2.5, 3.5], "threshold_percent": [30, 35]}],
    )


class SweepCell(Shape):
    """One parameter set over all traces."""

    parameters: dict[str, float]
    n: int = Field(description="Traces on which this set could decide")
    shares: TimingShares | None = Field(
        description="Of these traces; good: from capacity on and before the first loss; null for none"
    )
    headroom_s: float | None = Field(description="Median time from a good exit to the first loss")


class Sweep(Shape):
    id: UUID
    campaign_id: UUID
    detector: str
    version: str
    grid: dict[str, list[float]]
    state: SweepStateName
    reason: str | None = Field(description="Why it failed")
    done: int
    total: int = Field(description="Traces")
    created_at: Moment
    ended_at: Moment | None
    cells: list[SweepCell] | None = Field(description="null until complete")


class SweepList(Shape):
    items: list[Sweep]
    total: int


class SweptParameter(Shape):
    name: str
    default: float
    low: float
    high: float
    unit: str
    meaning: str


class SweptDetector(Shape):
    detector: str
    version: str
    parameters: list[SweptParameter]
