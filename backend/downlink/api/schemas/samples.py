"""Samples of a trace for a plot, and the moments of a run."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import Field

from downlink.api.schemas.base import Shape


class SampledField(Shape):
    name: str
    unit: str
    kind: Literal["counter", "gauge"]
    description: str


class SampledColumn(Shape):
    """Single samples as they were taken, each with its own time."""

    time_us: list[int] = Field(description="From the run's zero")
    values: list[int | None] = Field(
        description="Null where the kernel had no value, as an ssthresh that was never set"
    )


class Samples(Shape):
    run_id: UUID
    flow: int
    point: str
    samples: int = Field(description="Of the whole trace")
    missing_chunks: int = Field(description="Chunks of the trace that never came; time goes on without their samples")
    first_us: int = Field(description="The trace's first sample, from the run's zero")
    last_us: int
    from_us: int = Field(description="What is shown, within the trace")
    to_us: int
    in_span: int = Field(description="Samples between from_us and to_us")
    is_thinned: bool = Field(
        description="True: of each of equal steps of time a column has its least and its greatest sample. False: it has every sample"
    )
    fields: list[SampledField] = Field(description="Every column that the trace has, time left out")
    columns: dict[str, SampledColumn] = Field(description="Those that were asked for and that the trace has")


class RunMoment(Shape):
    kind: Literal["first_byte", "slow_start_exit", "first_loss", "end", "outage", "handover", "annotation"]
    flow: int | None = Field(description="Null for what the link did, and for an annotation")
    way: Literal["down", "up"] | None = Field(description="Of the link; null for all else")
    at_us: int = Field(description="From the run's zero")
    until_us: int | None = Field(description="The end of an outage, a handover gap or an annotation, within the run")
    text: str | None = Field(description="Of an annotation")


class RunMoments(Shape):
    run_id: UUID
    moments: list[RunMoment]
    left_out: int = Field(description="How many more there are, after these")
