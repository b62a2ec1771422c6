"""A parsed campaign, in the shape of the campaign file (docs/campaign-file.md)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from downlink.api.schemas.base import SamplingName, Shape, may_be_left_out
from downlink.domain.campaigns.precision import Until
from downlink.domain.results.metric import DEFAULT_PRIMARY


class StopRule(Shape):
    """Exactly one is set."""

    seconds: float | None = None
    bytes: int | None = None


class Phases(Shape):
    startup_s: float
    steady_s: float


class Window(Shape):
    """A further phase, by its own name."""

    name: str
    from_s: float = Field(description="Seconds after the start of the run")
    to_s: float


class Repeat(Shape):
    every: Literal["day", "week"]
    until: str = Field(description="The last day on which it may begin, such as 2026-12-31")


class Timetable(Shape):
    """Either cycles with a pause between them, or duration_h with a run on each link every every_s."""

    cycles: int | None = Field(default=None, description="Null too where `until` of the campaign says the most")
    duration_h: float | None = None
    every_s: float | None = None
    pause_s: float = 0
    order: Literal["interleaved", "shuffled"]
    seed: int
    start_at: str | None = Field(default=None, description="Local time and IANA zone: `2026-12-01 18:00 Europe/Berlin`")
    opening_hours: list[str] = Field(
        default_factory=list, description="`weekdays 18:00-06:00`, by the clock of each link's own zone; empty: always"
    )
    repeat: Repeat | None = None


class Limits(Shape):
    attempts: int
    bytes: int | None


class OfferSpec(Shape):
    message_bytes: int
    every_ms: int


FIRST_RECEIVER = Field(
    default=1,
    exclude_if=lambda number: number == 1,
    json_schema_extra=may_be_left_out,
    description="Which of the link's receivers; left out for the first",
)


class FlowSpec(Shape):
    cc: str
    sender: int = Field(description="Number of the link's sender, from 1")
    start_s: float
    options: dict[str, Any]
    pacing_rate_bps: int | None
    transport: Literal["tcp", "split"] = Field(
        default="tcp",
        exclude_if=lambda kind: kind == "tcp",
        json_schema_extra=may_be_left_out,
        description="TCP is left out",
    )
    relay_cc: str | None = Field(
        default=None, exclude_if=lambda cc: cc is None, description="Of the relays of a split flow"
    )
    offer: OfferSpec | None = Field(default=None, exclude_if=lambda offer: offer is None)
    receiver: int = FIRST_RECEIVER


class IntcpFlowSpec(Shape):
    transport: Literal["intcp"]
    sender: int = Field(description="Number of the link's sender, from 1")
    start_s: float
    options: dict[str, Any]
    offer: OfferSpec | None = Field(default=None, exclude_if=lambda offer: offer is None)
    receiver: int = FIRST_RECEIVER
    content: int | None = Field(
        default=None,
        exclude_if=lambda content: content is None,
        description="Flows of one number ask for the same bytes; left out for bytes of its own",
    )


class VariedSpec(Shape):
    """The origin of a condition that `vary` made."""

    key: str
    value: str | int | float | bool
    of: str


class ProbeSpec(Shape):
    every_ms: int


class ProbeFlowSpec(Shape):
    sender: int = Field(description="Number of the link's sender, from 1")
    start_s: float
    probe: ProbeSpec


class Condition(Shape):
    name: str
    flows: list[FlowSpec | ProbeFlowSpec | IntcpFlowSpec]
    sender: dict[str, str] = Field(description="Settings of every sending host")
    receiver: dict[str, str] = Field(description="Settings of the receiver")
    relay: dict[str, str] | None = Field(
        default=None, exclude_if=lambda relay: relay is None, description="Settings of every relay's host"
    )
    stop: StopRule
    varied: VariedSpec | None = Field(
        default=None, exclude_if=lambda varied: varied is None, description="What `vary` of the file gave it"
    )


class TriggerSlot(Shape):
    every_s: float
    at_s: float


class TriggerWhen(Shape):
    """A quantity with above or below, or a slot, or call."""

    quantity: str | None = None
    above: float | None = None
    below: float | None = None
    for_s: float | None = None
    link: str | None = None
    source: str | None = None
    slot: TriggerSlot | None = None
    call: bool | None = None


class TriggerSpec(Shape):
    when: TriggerWhen
    pause_s: float = Field(description="The least seconds from one firing to the next")
    most_per_day: int
    most: int
    until: str | None = None


class ExpectSpec(Shape):
    """A range in which numbers of runs should lie; what is not said is left out."""

    metric: str = Field(description="`phase.metric`")
    above: float | None = Field(
        default=None, exclude_if=lambda value: value is None, description="In the metric's unit"
    )
    below: float | None = Field(
        default=None, exclude_if=lambda value: value is None, description="In the metric's unit"
    )
    condition: str | None = Field(default=None, exclude_if=lambda value: value is None)
    link: str | None = Field(default=None, exclude_if=lambda value: value is None)
    flow: int | None = Field(
        default=None, exclude_if=lambda value: value is None, description="Which of a condition's flows, from 1"
    )


class CampaignSpec(Shape):
    """The parsed campaign, defaults merged in."""

    name: str
    notes: str
    links: list[str]
    phases: Phases
    windows: list[Window] = Field(default_factory=list)
    timetable: Timetable
    limits: Limits
    sampling: SamplingName = "polled"
    deliveries: bool = Field(
        default=False,
        exclude_if=lambda asked: not asked,
        json_schema_extra=may_be_left_out,
        description="Every flow keeps a delivery table",
    )
    settings: Literal["strict", "best_effort"] = Field(
        default="strict",
        exclude_if=lambda asked: asked == "strict",
        json_schema_extra=may_be_left_out,
        description="Whether a setting that a host cannot make ends a run",
    )
    primary_metrics: list[str] = Field(
        default=list(DEFAULT_PRIMARY), description="What is tested: phase.metric, or a time"
    )
    conditions: list[Condition]
    vary: dict[str, dict[str, str | int | float | bool]] | None = Field(
        default=None, exclude_if=lambda vary: vary is None, description="A key with its value on each link: an x-axis"
    )
    reproduces: list[dict[str, Any]] = Field(
        default_factory=list, description="Published figures, as the campaign file has them"
    )
    weight: int = Field(default=1, description="Its share of a link that other campaigns want at the same time")
    trigger: TriggerSpec | None = Field(
        default=None,
        exclude_if=lambda trigger: trigger is None,
        description="What starts its runs, instead of the launch",
    )
    until: Until | None = Field(
        default=None,
        exclude_if=lambda until: until is None,
        description="What ends it before its most cycles: how exactly means are to be known",
    )
    expect: list[ExpectSpec] = Field(
        default=[],
        exclude_if=lambda expect: not expect,
        json_schema_extra=may_be_left_out,
        description="Ranges in which its runs' numbers should lie",
    )
