"""The part of a campaign file that says how exactly means are to be known, where that decides how many cycles there are."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from downlink.codec.campaign_parts import WHOLE, WINDOW_NAME, Part
from downlink.codec.published_shape import FlowNumber
from downlink.codec.timetable_shape import MAX_RUNS
from downlink.domain.metric import METRICS
from downlink.domain.precision import LEAST_RUNS, Until


class UntilPart(Part):
    """Instead of `timetable.cycles`: cycles go on until the mean of a metric is known this exactly for every condition on every link."""

    metric: Annotated[str, Field(strict=True, json_schema_extra={"enum": list(METRICS)})] = Field(
        description="Whose mean must be known"
    )
    phase: Annotated[str, Field(strict=True, pattern=f"^{WINDOW_NAME}$")] = Field(
        default="overall", description="Phase or window of the metric"
    )
    flow: FlowNumber = Field(default=1, description="Which of a condition's flows")
    half_width_percent: Annotated[float, Field(strict=True, ge=0.01, le=100)] = Field(
        description="Half the width of the interval at most, in percent of the mean"
    )
    most_cycles: Annotated[int, Field(strict=True, ge=LEAST_RUNS, le=MAX_RUNS), WHOLE] = Field(
        description="The most cycles; so many are planned, and budgets are checked for them"
    )

    def to_domain(self) -> Until:
        return Until(self.metric, self.phase, self.half_width_percent, self.most_cycles, self.flow)
