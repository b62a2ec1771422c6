"""Runs, their flows and their hosts: asked and actual side by side."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, BeforeValidator, Field

from downlink.api.schemas.base import Body, Shape, may_be_left_out, refuse_controls, with_listed
from downlink.api.schemas.run_flows import LinkLog, RunFlow
from downlink.api.schemas.triggers import Cause
from downlink.domain.moment import Moment
from downlink.domain.results.metric import METRICS


def listed(flows: Any) -> Any:
    """Stored by number."""
    return list(flows.values()) if isinstance(flows, dict) else flows


RunStateName = Literal[
    "planned", "leased", "preparing", "running", "restoring", "uploading",
    "complete", "incomplete", "failed", "cancelled", "missed",
]  # fmt: skip


class LiveFlow(Shape):
    """A flow by its sender's last look at it, a second old at most; for people who watch, never a result."""

    flow: int
    elapsed_s: float
    heard_s: float | None = Field(default=None, description="How long the run had lasted when its sender spoke last")
    has_ended: bool = Field(
        default=False, description="By what its own sender says; another that is silent ends nothing"
    )
    throughput_bps: float | None = Field(description="Acknowledged since the look before; null after the first look")
    rtt_ms: float
    cwnd_bytes: int


class Live(Shape):
    elapsed_s: float
    bytes: int
    flows: Annotated[list[LiveFlow], BeforeValidator(listed)] = Field(
        default_factory=list, description="Empty while the senders' agents do not say it"
    )


class MissingChunks(Shape):
    """Chunks of one flow at one point, from first to last, that their agent cannot deliver."""

    flow: int = Field(description="0: the log of an emulated link")
    point: str
    first: int
    last: int
    why: str = Field(description="damaged, refused, gone, too_old or too_much (docs/agent-protocol.md, section 5)")


class RunHost(Shape):
    agent: str
    roles: list[str]
    phase: str
    settings_asked: dict[str, str]
    settings_before: dict[str, str] | None
    settings_during: dict[str, str] | None
    settings_after: dict[str, str] | None
    is_restored: bool | None
    differences: list[Any]
    fingerprint: dict[str, Any] | None
    missing: list[MissingChunks] = Field(description="What its agent says it cannot deliver of its samples")


class RunEvent(Shape):
    at: Moment
    kind: str
    detail: str | None


class ToolSummary(Shape):
    """The tool's own summary of all flows of one direction, without the seconds that it was asked to omit."""

    direction: Literal["upload", "download"]
    sent_bps: float | None
    received_bps: float | None = Field(description="What the receiver got: the tool's goodput")
    retransmitted_segments: int | None
    duration_s: float | None
    omitted_s: float | None


class ImportSource(Shape):
    """The file that an imported run was made of."""

    file: str
    source: str = Field(description="iperf3, ndt7, tcp-info, flent, ack-csv or downlink-csv")
    sha256: str
    test: str | None = Field(default=None, description="The test's name and title, where the file has them")
    summaries: list[ToolSummary] = Field(default=[], description="The tool's own totals, to compare with")
    partial: list[str] = Field(
        default=[],
        description="Parts of the file that cannot be used and are in no number: the first ten, and how many more",
    )


class Unexpected(Shape):
    """A number of a run outside the range that its campaign expects."""

    expectation: int = Field(description="Its place in the campaign's list, from 1")
    metric: str = Field(description="`phase.metric`")
    flow: int | None = Field(description="Null for what is of the link")
    value: float = Field(description="In the metric's unit, as above and below")
    above: float | None
    below: float | None
    detail: str = Field(description="In a sentence, with the unit that people read")


class WayTaken(Shape):
    """The network path of a run's flows, by the routes of its hosts."""

    receiver: str = Field(
        description="Interface and first hop of the receiver's packets: `lan via 10.0.0.1`; empty: not known"
    )
    sender: str
    addresses: list[str] = Field(
        description="Under which senders saw their receivers; shortened where the owner wants it"
    )


class RunDecision(Shape):
    """A person's, about whether the run counts."""

    keeps: bool
    why: str
    by: str
    at: Moment


class DecisionBody(Body):
    keeps: bool = Field(description="false: the run is left out of all numbers over several runs")
    why: Annotated[str, Field(min_length=1, max_length=500), AfterValidator(refuse_controls)]


class RunSummary(Shape):
    """A run as a row of a table."""

    id: UUID
    campaign_id: UUID
    link: str
    condition: str
    cycle: int
    position: int
    attempt: int
    state: RunStateName
    reason: str | None
    detail: str | None
    due_at: Moment
    started_at: Moment | None
    ended_at: Moment | None
    throughput_bps: float | None = Field(description="Sum over the flows of the mean throughput")
    goodput_bps: float | None
    live: Live | None
    import_source: ImportSource | None = Field(default=None, description="Of an imported run alone")
    trigger: Cause | None = Field(
        default=None,
        exclude_if=lambda cause: cause is None,
        description="What started it, of a campaign with a trigger",
    )
    unexpected: list[Unexpected] = Field(
        default=[],
        exclude_if=lambda found: not found,
        json_schema_extra=may_be_left_out,
        description="Its numbers outside of what its campaign expects; left out where there are none",
    )
    way: WayTaken | None = Field(default=None, description="Null where neither agent said it")
    implausible: list[str] | None = Field(
        default=None, description="What it says and its link cannot give; null for nothing"
    )
    decision: RunDecision | None = Field(default=None, description="Null while nobody has decided: it counts then")


class RunList(Shape):
    items: list[RunSummary]
    total: int


class RunWait(Shape):
    run_id: UUID
    waits_for: str = Field(
        description="In sentences: who holds its link or an agent, an agent that is away, its timetable"
    )


class CampaignNow(Shape):
    active: list[RunSummary] = Field(description="Under way, with what their senders say while they run; at most 100")
    next: list[RunSummary] = Field(description="The first planned run on each link")
    waits: list[RunWait] = Field(
        default_factory=list,
        description="Those of `next` whose time has come and which cannot start, with what they wait for",
    )
    ends_at: Moment | None = Field(
        description="When its last run should have ended: by the plan, or later where the plan is behind; null unless it is running"
    )
    used_bytes: int = Field(description="Carried so far; failed runs and those under way are counted")
    limit_bytes: int | None = Field(description="The campaign's own limit")


@with_listed(METRICS, float | None)
class PhaseValues(Shape):
    """A flow's means over a phase; null where the trace does not give one."""


class FlowMetrics(Shape):
    flow: int
    startup: PhaseValues | None
    steady: PhaseValues | None
    overall: PhaseValues | None


class Run(RunSummary):
    campaign_name: str
    waits_for: str | None = Field(
        default=None, description="Of a planned run whose time has come: what keeps it from starting"
    )
    owner_id: UUID | None = Field(description="The account whose campaign it is; null where nobody owns it")
    runs_in_cycle: int = Field(description="Positions in its cycle on its link, further attempts not counted")
    previous_run_id: UUID | None = Field(description="In the order of the plan; further attempts after the first")
    next_run_id: UUID | None
    later_attempt_id: UUID | None = Field(description="The latest attempt at its place; null where it is that itself")
    is_repeatable: bool = Field(description="Whether `rerun` is possible now")
    flows: list[RunFlow]
    hosts: list[RunHost]
    events: list[RunEvent]
    metrics: list[FlowMetrics]
    analysis_version: str | None
    traces_removed_at: Moment | None = Field(
        description="When its raw traces were removed: its numbers cannot be computed again; null while they are kept"
    )
    series_removed_at: Moment | None = Field(description="When its one-second series were removed")
    link_seed: int | None = Field(description="What an emulated link was to be restarted with; null for real links")
    link_log: LinkLog | None = Field(description="Null where no agent sits beside an emulated link")
