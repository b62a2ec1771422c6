"""Campaigns, their preview and their state. The campaign itself has the shape of the campaign file (docs/campaign-file.md)."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from downlink.api.schemas.base import Body, Moment, SamplingName, Shape, may_be_left_out, refuse_controls
from downlink.codec.campaign_shape import campaign_schema
from downlink.domain.campaigns.preflight import Check, Level
from downlink.domain.campaigns.retention import Part
from downlink.domain.results.metric import DEFAULT_PRIMARY

CampaignStateName = Literal["draft", "running", "paused", "complete", "cancelled"]
CampaignSort = Literal[
    "created_at", "-created_at", "launched_at", "-launched_at", "ended_at", "-ended_at", "name", "-name", "state", "-state"
]  # fmt: skip
MAX_SOURCE_CHARS = 200_000


_FILE_SCHEMA = {key: value for key, value in campaign_schema().items() if key != "$schema"}


class CampaignBody(Body):
    """Either the text of a campaign file or the same thing as an object."""

    source: Annotated[str, Field(max_length=MAX_SOURCE_CHARS, description="YAML or JSON text")] | None = None
    campaign: Annotated[dict[str, Any], WithJsonSchema(_FILE_SCHEMA)] | None = Field(
        default=None, description="The campaign file as an object; `GET /campaigns/schema` is the same as JSON Schema"
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> CampaignBody:
        if (self.source is None) == (self.campaign is None):
            raise ValueError("give either source (text) or campaign (object)")
        return self


class LaunchBody(Body):
    even_if_offline: bool = Field(
        default=False, description="Launch although agents are away now: they will be back when their runs are due"
    )


class DuplicateBody(Body):
    name: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        default=None, description="Of the new draft; by default the campaign's own with (copy) after it"
    )


_SPLITS = (
    "Whether runs of a link are counted by the address under which their senders saw the receivers. A carrier's NAT changes it "
    "within one path, so that it tells none apart unless a person wants it"
)


class DescribeBody(Body):
    """A change of a campaign's description: only the given keys are changed."""

    notes: Annotated[str, Field(max_length=10_000), AfterValidator(refuse_controls)] | None = None
    tags: Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=100)] | None = Field(
        default=None, description="All of them; at most 20 of 40 characters each, without commas"
    )
    splits_by_address: bool | None = Field(default=None, description=_SPLITS)


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


class UntilSpec(Shape):
    """Cycles go on until each condition's mean is known so exactly on each link, or most_cycles have run."""

    metric: str
    phase: str
    flow: int = Field(description="Which of a condition's flows, from 1")
    half_width_percent: float = Field(description="Half the width of the interval at most, in percent of the mean")
    most_cycles: int


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
    until: UntilSpec | None = Field(
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


class PlannedRun(Shape):
    link: str
    condition: str
    cycle: int
    position: int
    due_s: float = Field(description="Seconds from launch")
    due_at: Moment = Field(description="The moment, if it were launched now")
    duration_s: float = Field(description="How long the link is expected to be held")


class Estimate(Shape):
    runs: int
    bytes: int
    duration_s: float


class Conflict(Shape):
    code: str
    message: str
    is_blocking: bool = Field(description="The campaign cannot be launched; otherwise its runs wait or may fail")
    is_waivable: bool = Field(description="It blocks, unless the launch says `even_if_offline`")
    place: str = Field(default="", description="The key of the campaign file that it is about; empty for none")


class PlannedQuickTest(Shape):
    """A quick test to order: `POST /links/{link_id}/quick-test`."""

    link: str
    sender: int = Field(description="Its number in the link, from 1")


class HostAnswer(Shape):
    check: Check
    level: Level = Field(description="`bad`: runs fail. `note`: worth knowing. `unknown`: nobody has said yet")
    sentence: str
    todo: str = Field(description="What to do about it; empty for nothing")
    at: Moment | None = Field(description="When it was found; null: what the agent said last")
    run_id: UUID | None = Field(description="The run in which it was found")
    quick_test: PlannedQuickTest | None = Field(description="The quick test that answers it; null where none does")


class HostAnswers(Shape):
    agent: str
    parts: list[str] = Field(description="What it is in the campaign: `receiver of geo`")
    answers: list[HostAnswer]


class Rival(Shape):
    name: str
    weight: int


class Sharing(Shape):
    link: str
    share: float = Field(description="Of the link's time while all of them want it, from 0 to 1")
    others: list[Rival] = Field(description="Campaigns that have planned runs on the link")


class Forecast(Shape):
    """How many cycles a campaign with `until` should take, by the campaign that was complete last with its conditions and links."""

    most_cycles: int
    cycles: int | None = Field(description="Expected; null without a pilot")
    half_width_percent: float | None = Field(description="Of the widest condition after so many; null where unknown")
    pilot_id: UUID | None
    pilot: str | None = Field(description="The name of the campaign that this is concluded from")
    pilot_ended_at: Moment | None


class CampaignPreview(Shape):
    campaign: CampaignSpec
    runs: list[PlannedRun] = Field(description="The first 500; `estimate.runs` is the number of all")
    time_zones: dict[str, str] = Field(description="Link to its IANA time zone, of links that say theirs")
    estimate: Estimate
    conflicts: list[Conflict] = Field(description="What prevents a launch, or will make runs wait")
    hosts: list[HostAnswers] = Field(description="What is known of each host that takes part, before anything is sent")
    sharing: list[Sharing] = Field(description="Of each link that other campaigns want too, what this one gets")
    forecast: Forecast | None = Field(description="Of a file with `until`; the estimate is for its most cycles")


class RunCounts(Shape):
    planned: int = 0
    leased: int = 0
    preparing: int = 0
    running: int = 0
    restoring: int = 0
    uploading: int = 0
    complete: int = 0
    incomplete: int = 0
    failed: int = 0
    cancelled: int = 0
    missed: int = 0


class Campaign(Shape):
    id: UUID
    name: str
    notes: str
    tags: list[str]
    state: CampaignStateName
    origin: Literal["measured", "recorded", "imported"] = Field(
        description="Measured here, loaded from an archive, or made of files of other tools"
    )
    quick_link: str | None = Field(
        description="The link whose quick tests it keeps; null for one with a file of its own"
    )
    owner_id: UUID | None = Field(description="The account whose own it is; null where nobody owns it")
    is_recorded: bool = Field(description="Loaded from an archive, not measured here: its origin is `recorded`")
    links: list[str]
    conditions: list[str]
    runs_total: int = Field(
        description="Planned runs: cycles x conditions x links; further attempts, and cycles that `until` made needless, "
        "are not counted"
    )
    runs_ended: int = Field(description="Positions of the plan whose last attempt has ended")
    counts: RunCounts = Field(description="Runs by state, every attempt counted; not those that `until` made needless")
    created_at: Moment
    launched_at: Moment | None
    ended_at: Moment | None
    next_due_at: Moment | None
    report_at: Moment | None = Field(description="When the report was last computed")
    splits_by_address: bool = Field(default=False, description=_SPLITS)
    being_removed: Part | None = Field(
        default=None,
        description="What of its data workers are removing; `all`: it is being deleted, some runs at a time",
    )


class Deletion(Shape):
    campaign_id: UUID
    runs_left: int = Field(description="That workers delete, some at a time; then the campaign is gone")


class Width(Shape):
    """The confidence sequence of one condition on one link (docs/method.md, section 10)."""

    link: str
    condition: str
    runs: int = Field(description="Complete ones that have the metric")
    mean: float | None = Field(description="In the metric's unit")
    half_width: float | None = Field(description="Mean ± this; null while it is without end, below five runs")
    half_width_percent: float | None = Field(description="Of the mean; null too where that is not above zero")
    is_narrow: bool = Field(description="At most as wide as asked for")


class Precision(Shape):
    asked: UntilSpec
    cycles: int = Field(description="Those of which a run has begun")
    widths: list[Width]
    ended: Literal["precise_enough", "most_cycles"] | None = Field(
        description="Why no more cycles come; null while some may, and of a cancelled campaign"
    )


class CampaignDetail(Campaign):
    spec: CampaignSpec
    precision: Precision | None = Field(
        description="How exactly means are known, of a launched campaign with `until`; null of others"
    )
    source: str = Field(description="The campaign file as it was given")
    estimate: Estimate


class Rerun(Shape):
    campaign: Campaign
    runs: int = Field(description="How many new attempts are planned")


class CampaignChoices(Shape):
    """Each value that some campaign has, with the number of campaigns that have it."""

    states: dict[str, int]
    tags: dict[str, int]
    links: dict[str, int]


class CampaignList(Shape):
    items: list[Campaign]
    total: int
