"""The part of a campaign file that says how exactly means are to be known, where that decides how many cycles there are."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Annotated, Protocol

from pydantic import Field

from downlink.codec.campaign_parts import WHOLE, WINDOW_NAME, Part, shown
from downlink.codec.flow_shape import FlowPart
from downlink.codec.published_shape import FlowNumber
from downlink.codec.timetable_shape import MAX_RUNS
from downlink.domain.campaigns.precision import LEAST_RUNS, Until
from downlink.domain.results.blockdelay import PHASE_METRICS as DELIVERED
from downlink.domain.results.metric import METRICS

PROBED = frozenset({"rtt_ms", "probe_loss_percent", "probe_rtt_p95_ms"})
"""Metrics that probe flows have."""
PROBE_ONLY = PROBED - {"rtt_ms"}


class UntilPart(Part):
    """Instead of `timetable.cycles`: run cycles until a metric's mean is this precise for every condition on every link."""

    metric: Annotated[str, Field(strict=True, json_schema_extra={"enum": list(METRICS)})] = Field(
        description="Metric that must be precise"
    )
    phase: Annotated[str, Field(strict=True, pattern=f"^{WINDOW_NAME}$")] = Field(
        default="overall", description="Phase or window of the metric"
    )
    flow: FlowNumber = Field(default=1, description="Number of the condition's flow")
    half_width_percent: Annotated[float, Field(strict=True, ge=0.01, le=100)] = Field(
        description="Largest half-width of the interval, in percent of the mean"
    )
    most_cycles: Annotated[int, Field(strict=True, ge=LEAST_RUNS, le=MAX_RUNS), WHOLE] = Field(
        description="Maximum number of cycles; plan and budgets are computed for it"
    )

    def to_domain(self) -> Until:
        return Until(self.metric, self.phase, self.half_width_percent, self.most_cycles, self.flow)


class WithFlows(Protocol):
    """A condition, as far as its flows go."""

    name: str
    flows: list[FlowPart]


def broken_until(
    until: UntilPart, phases: Collection[str], conditions: Sequence[WithFlows], deliveries: bool
) -> Iterator[tuple[str, str]]:
    """Place and message of what runs would not have. deliveries: every flow keeps a delivery table."""
    if until.metric not in METRICS:
        yield "until.metric", f"must be one of {', '.join(METRICS)}, not {shown(until.metric)}."
    if until.phase not in phases:
        yield "until.phase", f"must be one of {', '.join(phases)}, not {shown(until.phase)}."
    for condition in conditions:
        if until.flow > len(condition.flows):
            yield "until.flow", f"must be at most {len(condition.flows)}: {condition.name} has no flow {until.flow}."
        elif fault := metric_fault(until.metric, condition.flows[until.flow - 1], deliveries):
            key, words = fault
            yield f"until.{key}", words.format(metric=until.metric, flow=f"flow {until.flow} of {condition.name}")


def metric_fault(metric: str, flow: FlowPart, deliveries: bool) -> tuple[str, str] | None:
    """Explain why a flow does not have the metric."""
    if flow.probe is not None:
        is_measured = metric in PROBED
        return (
            None if is_measured else ("flow", "{metric} is not measured of {flow}, a probe flow: choose another flow.")
        )
    if metric in PROBE_ONLY:
        return "metric", "{metric} is measured of probe flows alone, and {flow} is none."
    if metric in DELIVERED and not deliveries and not flow.offer:
        keep = "write deliveries: true, or give the flow an offer."
        return "metric", "{metric} needs a delivery table, which {flow} does not keep: " + keep
    return None
