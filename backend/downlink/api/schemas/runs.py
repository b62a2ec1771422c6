"""Runs, their flows and their hosts: asked and actual side by side."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, BeforeValidator, Field

from downlink.api.schemas.base import Body, Moment, SamplingName, Shape, may_be_left_out, refuse_controls, with_listed
from downlink.api.schemas.triggers import Cause
from downlink.domain.results.metric import METRICS, QUANTITIES


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


class TraceFacts(Shape):
    state: Literal["expected", "open", "sealed", "incomplete", "removed"]
    samples: int
    chunks: int
    missing_chunks: list[int]
    achieved_rate_hz: float | None
    lateness_mean_us: float | None
    lateness_max_us: float | None


class Traces(Shape):
    sender: TraceFacts
    receiver: TraceFacts


class HystartCounts(Shape):
    """Slow starts that each of HyStart's detectors ended on the sender's host while the flow ran, other sockets' too."""

    train: int
    delay: int


class Proxy(Shape):
    """The verdict on a proxy that ends TCP on the path (docs/method.md, section 8), with the signs; null where one is not known."""

    path: Literal["split", "whole", "unknown"] = Field(
        description="split: a proxy ends TCP on the way; whole: one connection from end to end; unknown: the signs do not say"
    )
    near: Literal["sender", "receiver", "both"] | None = Field(
        description="The end whose handshake was answered too soon"
    )
    ack_lead_ms: float | None = Field(
        description="How long before the receiver had its bytes the sender saw them acknowledged, in the median; below zero after it"
    )
    clock_error_ms: float | None = Field(description="By how much the clocks of both ends may differ in this run")
    sender_handshake_ms: float | None
    receiver_handshake_ms: float | None
    probe_rtt_ms: float | None = Field(description="The least of a probe flow in the same run")
    base_rtt_ms: float | None = Field(description="What the link is said to have")
    sender_window_bytes: int | None = Field(description="The largest receive window that the sender got")
    receiver_window_bytes: int | None = Field(description="The largest that the receiver had")


class Carrier(Shape):
    """The transport of a flow that passes relays."""

    kind: Literal["split", "intcp"]
    relay_cc: str | None = Field(default=None, description="Of the relays of a split flow")


class Offer(Shape):
    message_bytes: int
    every_ms: int


class HopTrace(Shape):
    """A relay's record of a flow."""

    point: str = Field(description="`hop-1`, `hop-2`, …, from the sender")
    agent: str
    app_bytes: int | None
    ended: str | None
    detail: str | None
    trace: TraceFacts


class RunFlow(Shape):
    flow: int
    sender: str
    receiver: str
    asked_cc: str
    actual_cc: str | None
    cc_version: int | None = Field(
        description="BBR's version; null for other controls and where the kernel does not say"
    )
    cc_options: dict[str, Any]
    hystart_exits: HystartCounts | None
    sampling: SamplingName | None = Field(
        description="What the sender did, whatever was asked; null until it has ended"
    )
    dropped_samples: int | None = Field(description="ACKs for which the kernel's ring had no room, at the sender")
    start_s: float
    pacing_rate_bps: int | None
    carrier: Carrier | None = Field(
        default=None,
        exclude_if=lambda carrier: carrier is None,
        description="Of flows that pass relays; TCP goes without",
    )
    offer: Offer | None = Field(
        default=None,
        exclude_if=lambda offer: offer is None,
        description="Messages at a fixed rate; else as fast as it can",
    )
    relays: list[str] = Field(
        default=[],
        exclude_if=lambda relays: not relays,
        json_schema_extra=may_be_left_out,
        description="Agents, from the sender to the receiver; left out over TCP",
    )
    content: int | None = Field(
        default=None,
        exclude_if=lambda content: content is None,
        description="The flow whose content it asks for; left out for one of its own",
    )
    throughput_bps: float | None = Field(description="Mean over the whole run")
    goodput_bps: float | None
    app_bytes: int | None = Field(description="Bytes the receiver read; what the sender wrote where only that is known")
    first_byte_us: int | None
    ended: str | None
    detail: str | None
    time_to_steady_s: float | None
    traces: Traces
    proxy: Proxy | None = Field(
        default=None, description="Null of probe flows, imported runs, and until the run is analysed by this version"
    )
    hops: list[HopTrace] = Field(
        default=[],
        exclude_if=lambda hops: not hops,
        json_schema_extra=may_be_left_out,
        description="At the relays, from the sender; left out over TCP",
    )
    delivery: dict[Literal["sent", "delivered"], TraceFacts] | None = Field(
        default=None, exclude_if=lambda delivery: delivery is None, description="The halves of its delivery table"
    )
    sites: TraceFacts | None = Field(
        default=None,
        exclude_if=lambda sites: sites is None,
        description="The table of what each site of an emulated link did, where one agent speaks for all of them",
    )


class LinkLoss(Shape):
    """Packets that an emulated link lost."""

    flow: int | None = Field(description="Null for packets of no flow")
    way: Literal["down", "up"]
    cause: str
    packets: int


class LinkPath(Shape):
    """The stretch of a path trace that an emulated link flew."""

    name: str
    sha256: str = Field(description="Of the file")
    at_us: int = Field(description="Where in the trace the run's zero was: the same for all conditions of a cycle")


class LinkLog(Shape):
    """An emulated link in this run: restarted with the run's seed, and logged."""

    agent: str
    profile: str
    seed: int = Field(description="The same for all conditions and attempts of a cycle")
    phase_us: int = Field(description="Where in its course the link was at the run's zero: slots and frames lie there")
    path: LinkPath | None = Field(default=None, description="Null for a link without a path through satellites")
    samples: int
    dropped_samples: int
    drained_packets: int = Field(description="Inside at the restart; they left the link as if there had been none")
    late_samples: int = Field(description="Before which a packet left more than late_limit_us after its moment")
    late_limit_us: int
    lateness_max_us: int
    lost: list[LinkLoss]
    detail: str | None = Field(description="Why the log ends early")
    trace: TraceFacts


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


Column = list[float | None]


@with_listed(QUANTITIES, Column)
class FlowSeries(Shape):
    """One-second bins from the flow's first data byte; null where there is no value."""

    flow: int
    cc: str = Field(description="The congestion control that ran; until that is known, the one that was asked for")
    asked_cc: str
    bin_s: list[int]


class RunSeries(Shape):
    run_id: UUID
    flows: list[FlowSeries]
