"""The part of a campaign file that says what is reproduced, declared once; and what is wrong with it beyond single keys."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from pydantic import Field, model_validator

from downlink.codec.campaign_parts import STORABLE, WHOLE, WINDOW_NAME, Name, Part, at
from downlink.domain.results.blockdelay import DISTRIBUTED
from downlink.domain.results.metric import LEADS, LINKED, LOST, METRICS, OBJECTS, SHARED, SLOW_STARTS, STEADY_TIMES
from downlink.domain.results.reproduction import PublishedFigure, PublishedValue, Side

MAX_FIGURES = 40
MAX_VALUES = 200
MAX_PUBLISHED = 10**12
MAX_OBJECT_MB = 100_000
REPRODUCED = (*METRICS, *STEADY_TIMES, *OBJECTS, *SHARED, *LEADS, *SLOW_STARTS, *LINKED, *LOST)
"""Metrics that published values may be compared to."""
Number = Annotated[float, Field(strict=True, ge=-MAX_PUBLISHED, le=MAX_PUBLISHED)]
Text = Annotated[str, Field(strict=True, max_length=2000), STORABLE]
FlowNumber = Annotated[int, Field(strict=True, ge=1, le=16), WHOLE]


class OtherPart(Part):
    """Another flow, of the same condition unless it names one."""

    condition: Name | None = Field(default=None, description="Condition; the value's own by default")
    flow: FlowNumber = Field(default=1, description="Which of the condition's flows")

    def to_domain(self, condition: str) -> Side:
        return Side(self.condition or condition, self.flow)


class ValuePart(Part):
    """One published value."""

    name: Name = Field(description="Name, the same in every campaign that reproduces it")
    metric: Annotated[str, Field(strict=True, json_schema_extra={"enum": list(REPRODUCED)})] = Field(
        description="Measured metric to compare with"
    )
    phase: Annotated[str, Field(strict=True, pattern=f"^{WINDOW_NAME}$")] = Field(
        default="overall", description="Phase or window of the metric"
    )
    condition: Name = Field(description="Condition of the value")
    flow: FlowNumber = Field(default=1, description="Which of the condition's flows")
    over: OtherPart | None = Field(default=None, description="Compare the ratio to this flow, pair by pair")
    minus: OtherPart | None = Field(default=None, description="Compare the difference to this flow, pair by pair")
    object_mb: Annotated[int, Field(strict=True, ge=1, le=MAX_OBJECT_MB), WHOLE] | None = Field(
        default=None, description="Object size, for object times"
    )
    link: Name | None = Field(default=None, description="Link; the campaign's first by default")
    than_link: Name | None = Field(
        default=None,
        description="For a ratio over a condition: its multiple of the same ratio over this link, cycle by cycle",
    )
    share: Annotated[float, Field(strict=True, ge=0.001, le=0.999)] | None = Field(
        default=None,
        description="For a delay, jitter or rate: the quantile at this share",
    )
    published: Number | None = Field(default=None, description="Published number, in the unit of pages")
    least: Number | None = Field(default=None, description="Instead of a number: lower end of a range, or lower bound")
    most: Number | None = Field(default=None, description="Instead of a number: upper end of a range, or upper bound")
    tolerance: Annotated[float, Field(strict=True, ge=0, le=MAX_PUBLISHED)] | None = Field(
        default=None, description="Accepted deviation, in the same unit"
    )
    source: Text = Field(default="", description="Location in the paper")
    why: Text = Field(default="", description="Cause of a deviation, established by experiment")

    @model_validator(mode="after")
    def _is_one_value(self) -> ValuePart:
        if self.metric not in REPRODUCED:
            raise at("metric", f"must be one of {', '.join(REPRODUCED)}, not {self.metric!r}.")
        if (self.published is None) == (self.least is None and self.most is None):
            raise ValueError("needs published, or one or both of least and most, and not both kinds.")
        if self.least is not None and self.most is not None and self.least >= self.most:
            raise at("most", "must be above least.")
        if self.over and self.minus:
            raise at("minus", "does not go with over: a value is a ratio or a difference.")
        if self.than_link is not None and (self.over is None or self.over.condition in (None, self.condition)):
            raise at("than_link", "goes with a ratio over another condition.")
        if (self.over or self.minus) and self.metric in LEADS:
            raise at("metric", "of a lead needs no other flow: it is that of a condition's flow over its other ones.")
        if (self.object_mb is None) == (self.metric in OBJECTS):
            needed = "is required with an object time" if self.object_mb is None else "goes with object times alone"
            raise at("object_mb", f"{needed}.")
        if self.share is not None:
            self._is_of_a_distribution()
        return self

    def _is_of_a_distribution(self) -> None:
        if self.metric not in DISTRIBUTED:
            raise at("share", f"goes with {', '.join(DISTRIBUTED)} alone, not with {self.metric!r}.")
        if self.phase != "overall":
            raise at("phase", "must be overall where share is given: distributions are of whole runs.")
        if self.over or self.minus:
            raise at("share", "does not go with over and minus: it is of one flow's own values.")

    def to_domain(self) -> PublishedValue:
        ends = (self.least, self.most) if self.published is None else (self.published, self.published)
        return PublishedValue(
            name=self.name,
            metric=self.metric,
            side=Side(self.condition, self.flow),
            least=-math.inf if ends[0] is None else ends[0],
            most=math.inf if ends[1] is None else ends[1],
            phase=self.phase,
            over=self.over.to_domain(self.condition) if self.over else None,
            minus=self.minus.to_domain(self.condition) if self.minus else None,
            object_mb=self.object_mb,
            link=self.link,
            than_link=self.than_link,
            share=self.share,
            tolerance=self.tolerance,
            source=self.source,
            why=self.why,
        )


class FigurePart(Part):
    """A figure or table of a paper, with its published values."""

    paper: Name = Field(description="Paper, as cited in docs/papers.md, or another")
    figure: Name = Field(description="Figure or table, or the statement in the text")
    values: Annotated[list[ValuePart], Field(min_length=1, max_length=MAX_VALUES)] = Field(
        description="Published values, with what to compare them with"
    )

    def to_domain(self) -> PublishedFigure:
        return PublishedFigure(self.paper, self.figure, tuple(value.to_domain() for value in self.values))


def broken_values(
    figures: Sequence[FigurePart], flows: Mapping[str, int], phases: Sequence[str], links: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Place and sentence of what a value names and the campaign does not have. flows: how many each condition has."""
    seen: set[tuple[str, str, str]] = set()
    for number, figure in enumerate(figures):
        for index, value in enumerate(figure.values):
            position = f"reproduces[{number}].values[{index}]"
            key = (figure.paper, figure.figure, value.name)
            if key in seen:
                yield (
                    f"{position}.name",
                    f"{value.name!r} is the name of an earlier value of this figure; each needs its own.",
                )
            seen.add(key)
            if value.phase not in phases:
                yield f"{position}.phase", f"must be one of {', '.join(phases)}, not {value.phase!r}."
            for at_link, link in (("link", value.link), ("than_link", value.than_link)):
                if link is not None and link not in links:
                    yield (
                        f"{position}.{at_link}",
                        f"must be one of the campaign's links, {', '.join(links)}, not {link!r}.",
                    )
            for own, side in (("", value), (".over", value.over), (".minus", value.minus)):
                if side is not None:
                    yield from _unknown_side(position + own, side.condition or value.condition, side.flow, flows)


def _unknown_side(position: str, condition: str, flow: int, flows: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    if condition not in flows:
        yield (
            f"{position}.condition",
            f"must be one of the campaign's conditions, {', '.join(flows)}, not {condition!r}.",
        )
    elif flow > flows[condition]:
        yield f"{position}.flow", f"must be at most {flows[condition]}, the flows of {condition!r}, not {flow}."
