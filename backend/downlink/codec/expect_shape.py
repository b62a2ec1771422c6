"""The part of a campaign file that says in which range its runs' numbers should lie."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Annotated

from pydantic import Field, model_validator

from downlink.codec.campaign_parts import STORABLE, WINDOW_NAME, Part, at, shown
from downlink.codec.published_shape import FlowNumber
from downlink.codec.until_shape import WithFlows, metric_fault
from downlink.domain.campaigns.expectation import Expectation
from downlink.domain.results.metric import LINKED, METRICS, MOST, NAMED, phase_metric_of

MAX_EXPECTED = 32
MAX_VALUE = 1e15
Bound = Annotated[float, Field(strict=True, ge=0, le=MAX_VALUE)]
Named = Annotated[str, Field(strict=True, min_length=1, max_length=200), STORABLE]


class ExpectPart(Part):
    """A metric of a phase above a value, below one, or between two. A run whose number lies outside is marked."""

    metric: Annotated[str, Field(strict=True, pattern=rf"^{WINDOW_NAME}\.[a-z0-9_]{{1,40}}$")] = Field(
        description="Phase or window and metric, such as overall.goodput_bps"
    )
    above: Bound | None = Field(default=None, description="Lower limit, in the metric's unit (bit/s, ms, B)")
    below: Bound | None = Field(default=None, description="Upper limit, in the metric's unit")
    condition: Named | None = Field(default=None, description="Only runs of this condition")
    link: Named | None = Field(default=None, description="Only runs on this link")
    flow: FlowNumber | None = Field(default=None, description="Only this flow; by default each flow with the metric")

    @model_validator(mode="after")
    def _is_a_range(self) -> ExpectPart:
        if self.above is None and self.below is None:
            raise ValueError("needs one of above and below, or both.")
        if self.above is not None and self.below is not None and self.above >= self.below:
            raise at("below", f"must be above the value of above, {self.above:.12g}: no value lies between.")
        return self

    def to_domain(self) -> Expectation:
        return Expectation(self.metric, self.above, self.below, self.condition, self.link, self.flow)


def broken_expectations(
    expected: Sequence[ExpectPart],
    phases: Collection[str],
    conditions: Sequence[WithFlows],
    links: Collection[str],
    deliveries: bool,
) -> Iterator[tuple[str, str]]:
    """Place and message of what no run would have. deliveries: every flow keeps a delivery table."""
    for index, part in enumerate(expected):
        position = f"expect[{index}]"
        for key, message in _broken(part, phases, conditions, links, deliveries):
            yield f"{position}.{key}", message


def _broken(
    part: ExpectPart, phases: Collection[str], conditions: Sequence[WithFlows], links: Collection[str], deliveries: bool
) -> Iterator[tuple[str, str]]:
    phase, metric = phase_metric_of(part.metric)
    names = [condition.name for condition in conditions]
    if part.link is not None and part.link not in links:
        yield "link", f"must be one of {', '.join(links)}, not {shown(part.link)}."
    if part.condition is not None and part.condition not in names:
        yield "condition", f"must be one of {', '.join(names)}, not {shown(part.condition)}."
    elif phase not in phases:
        yield "metric", f"must begin with one of {', '.join(phases)}, not with {shown(phase)}."
    elif metric not in (*METRICS, *LINKED):
        yield "metric", f"must end with one of {', '.join((*METRICS, *LINKED))}, not with {shown(metric)}."
    else:
        concerned = [each for each in conditions if part.condition in (None, each.name)]
        yield from _beyond(part, metric)
        yield from _unmeasured(part, metric, concerned, deliveries)


def _beyond(part: ExpectPart, metric: str) -> Iterator[tuple[str, str]]:
    """Bounds that every number, or none, is beyond."""
    most, unit = MOST.get(metric), NAMED[metric].unit
    if part.below == 0:
        yield "below", f"must be above 0: {metric} is never below it."
    if most is not None:
        for key in ("above", "below"):
            bound = getattr(part, key)
            if bound is not None and (bound > most or (key == "above" and bound == most)):
                yield (
                    key,
                    f"must be {'below' if key == 'above' else 'at most'} {most:g}, the most that {metric} can be ({unit}).",
                )


def _unmeasured(
    part: ExpectPart, metric: str, conditions: Sequence[WithFlows], deliveries: bool
) -> Iterator[tuple[str, str]]:
    """A metric that no flow has which is meant."""
    if metric in LINKED:
        if part.flow is not None:
            yield "flow", f"does not go with {metric}, which is of the link and of no flow: leave it out."
        return
    for condition in conditions:
        if part.flow is not None and part.flow > len(condition.flows):
            yield "flow", f"must be at most {len(condition.flows)}: {condition.name} has no flow {part.flow}."
            return
    meant = [
        (f"flow {number} of {condition.name}", flow)
        for condition in conditions
        for number, flow in enumerate(condition.flows, 1)
        if part.flow in (None, number)
    ]
    faults = [(metric_fault(metric, flow, deliveries), name) for name, flow in meant]
    if faults and all(fault for fault, _ in faults):
        (fault, name), *_ = faults
        key, words = fault or ("", "")
        yield key, words.format(metric=metric, flow=name)
