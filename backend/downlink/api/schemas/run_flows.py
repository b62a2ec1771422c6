"""Flows of a run and the log of its emulated link: asked and actual side by side."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from downlink.api.schemas.base import SamplingName, Shape, may_be_left_out


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


class FlowOffer(Shape):
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
    offer: FlowOffer | None = Field(
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
