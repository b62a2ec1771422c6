"""Outcomes that an agent reports of a run: of each flow at each point, and of an emulated link."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, AliasChoices, Field

from downlink.protocol.base import (
    Count,
    Difference,
    LinkSeed,
    Measure,
    Message,
    PointName,
    SamplingMode,
    Sentence,
    Word,
    refuse_controls,
)


class HystartExits(Message):
    """Exits of all sockets beside the flow on its host."""

    train: Difference
    delay: Difference


class WrongAt(Message):
    """The first byte that is not the content's, and the last hop whose packets were the neighbour's own."""

    offset: Count
    hop: Annotated[int, Field(ge=1, le=999)]


class Delivery(Message):
    """A flow's delivery table as one end has it: rows and chunks of the point `sent` or `delivered`.

    dropped_rows: blocks that the host could not stamp. zero_us: the run's zero on the host's monotonic clock.
    """

    block_bytes: Annotated[int, Field(ge=1, le=2**31)]
    rows: Count
    chunks: Annotated[int, Field(ge=0, le=1_000_000)]
    dropped_rows: Count
    zero_us: Annotated[int | None, Field(ge=-(2**62), le=2**62, exclude_if=lambda zero: zero is None)] = None


class SiteTable(Message):
    """A flow's table of sites of an emulated link: rows and chunks of the point `sites`.

    dropped_rows: those for which there was no room.
    """

    rows: Count
    chunks: Annotated[int, Field(ge=0, le=1_000_000)]
    dropped_rows: Count


class Way(Message):
    """A host's own part of a flow's path: source address, interface, and first hop, empty where the peer is on the same network."""

    source: Annotated[str, Field(max_length=100), AfterValidator(refuse_controls)]
    interface: Word
    next_hop: Annotated[str, Field(max_length=100), AfterValidator(refuse_controls)] = ""


class FlowOutcome(Message):
    flow: Annotated[int, Field(ge=1, le=1000)]
    point: Annotated[PointName, Field(validation_alias=AliasChoices("point", "end"))]  # the latter in version 1
    asked_cc: Annotated[str, Field(max_length=100), AfterValidator(refuse_controls)]
    actual_cc: Annotated[str, Field(max_length=100), AfterValidator(refuse_controls)]
    cc_version: Count | None = None
    hystart_exits: HystartExits | None = None
    started_us: Count | None
    first_byte_us: Count | None
    last_byte_us: Count | None
    app_bytes: Count
    local_address: Sentence
    peer_address: Sentence
    way: Annotated[Way | None, Field(exclude_if=lambda way: way is None)] = None
    way_at_end: Annotated[Way | None, Field(exclude_if=lambda way: way is None)] = None
    handshake_rtt_us: Annotated[int | None, Field(ge=0, le=2**62)] = None
    tcp_info_bytes: Count
    samples: Count
    chunks: Annotated[int, Field(ge=0, le=1_000_000)]
    sampling: SamplingMode = "polled"
    dropped_samples: Count = 0
    achieved_rate_hz: Measure
    lateness_mean_us: Measure
    lateness_max_us: Measure
    ended: Literal[
        "stop_rule", "peer_closed", "link_lost", "aborted", "deadline", "over_budget", "content_wrong", "refused"
    ]
    detail: Sentence | None
    wrong_at: Annotated[WrongAt | None, Field(exclude_if=lambda wrong: wrong is None)] = None
    delivery: Annotated[Delivery | None, Field(exclude_if=lambda delivery: delivery is None)] = None
    sites: Annotated[SiteTable | None, Field(exclude_if=lambda sites: sites is None)] = None


class LinkLoss(Message):
    """Packets that an emulated link lost on one way for one cause; flow: None for packets of none."""

    flow: Annotated[int | None, Field(ge=1, le=1000)]
    way: Literal["down", "up"]
    cause: Word
    packets: Count


class LinkPath(Message):
    """A path trace, and where in it the run's zero was."""

    name: Word
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    at_us: Count


FlowNumber = Annotated[int, Field(ge=1, le=1000)]


class LinkOutcome(Message):
    """The outcome of an emulated link's restart for a run, and of its log (docs/agent-protocol.md section 6)."""

    profile: Word
    seed: LinkSeed
    phase_us: Count
    path: Annotated[LinkPath | None, Field(exclude_if=lambda path: path is None)] = None
    samples: Count
    chunks: Annotated[int, Field(ge=0, le=1_000_000)]
    dropped_samples: Count
    drained_packets: Count
    late_samples: Count
    late_limit_us: Count
    lateness_max_us: Count
    lost: Annotated[list[LinkLoss], Field(max_length=1000)]
    counted_flows: Annotated[
        list[FlowNumber] | None, Field(max_length=1000, exclude_if=lambda flows: flows is None)
    ] = None
    detail: Sentence | None
