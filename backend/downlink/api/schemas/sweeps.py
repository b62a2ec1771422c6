"""Sweeps of a detector's parameters (docs/api.md, section Sweeps). Answers with cells are encoded once and sent as they are."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from downlink.api.schemas.base import Body, Name

Number = Annotated[float, Field(ge=-1e15, le=1e15, allow_inf_nan=False)]
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
