"""Slow-start exits (docs/api.md, section Exits). For documentation and types: answers are encoded once and sent as they are."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from downlink.api.schemas.base import Shape
from downlink.api.schemas.runs import RunStateName

Column = list[float | None]
TimingName = Literal["early", "good", "late", "open"]
BasisName = Literal["link_log", "emulated_rate", "nominal_rate", "plateau"]


class Capacity(Shape):
    """When slow start had nothing more to gain: what exits are judged by (docs/exits.md, section 2)."""

    capacity_us: int | None = Field(
        description="Microseconds since the flow's first data byte; null when never reached"
    )
    capacity_basis: BasisName = Field(
        description="Rate x least RTT in flight, by the link's emulated or nominal rate; or 90 % of the delivery plateau"
    )
    capacity_rate_bps: float | None = Field(description="The link's rate, or the plateau's; null without a plateau")
    least_rtt_us: int


class ExitTimes(Shape):
    """One flow's times as in Kachooei 2023 (SEARCH), microseconds since its first data byte; null when it never happened
    out of slow start."""

    cg_us: int | None = Field(description="The capacity point of Kachooei 2023 (SEARCH): norm above 0.10")
    ex_us: int | None = Field(description="SEARCH 1.0 leaves slow start")
    dp_us: int | None = Field(description="First loss")
    hr_us: int | None = Field(description="Headroom: dp - ex")
    is_success: bool = Field(description="cg <= ex < dp; without a loss dp is endless")


class Verdict(Shape):
    """What one detector says about one flow."""

    detector: str
    version: str
    detect: int | None = Field(description="HyStart's mask: 1 ACK train, 2 delay, 3 both")
    exit_us: int | None = Field(description="Microseconds since the flow's first data byte; null when it never fired")
    cwnd_segments: int | None
    cwnd_source: Literal["recorded", "modelled"] | None = Field(
        description="modelled: the flow itself was no longer in slow start; what slow start would have grown on these ACKs"
    )
    parameters: dict[str, Any]
    reason: str
    quantities: dict[str, Any]
    is_decidable: bool = Field(description="False where the samples are too coarse for this detector")
    is_too_late: bool = Field(description="The exit came at or after the first loss")
    timing: TimingName | None = Field(description="Against capacity and first loss; null where it cannot be said")


class ExitCurves(Shape):
    """SEARCH 1.0's curves, one value per closed bin; null where a window does not fit yet."""

    bin_us: int
    window_us: int = Field(description="Length of the sliding window, for its shading")
    threshold_ratio: float
    capacity_ratio: float
    time_us: list[int]
    sent_bytes: Column = Field(description="Sent in the window that ended one RTT ago, out of bins")
    delivered_bytes: Column = Field(description="Delivered in the window that ends now")
    norm_ratio: Column
    best_sent_bytes: Column = Field(description="The same out of single rows: the best case")
    best_norm_ratio: Column
    error_ratio: Column = Field(description="|norm - best norm|")


class SenderWindow(Shape):
    """What the sender saw; a quantity that the trace lacks is null as a whole."""

    time_us: list[int]
    cwnd_segments: list[int] | None
    ssthresh_segments: Column | None = Field(description="null while it was never set")
    rtt_us: Column | None
    acked_bytes: list[int]
    new_sent_bytes: list[int] | None
    lost_segments: list[int] | None


class PacketPairs(Shape):
    """BEST's estimates of one round in arrival order."""

    round: int
    opened_us: int
    estimates_mbps: list[float]


class FlowExits(Shape):
    """One flow. Every time counts from its first data byte, which lies at origin_us on the clock of its samples."""

    flow: int
    cc: str | None
    first_byte_us: int = Field(description="First data byte on the samples' clock: where the series' second 0 begins")
    origin_us: int | None
    refusal: str | None = Field(description="Why the trace could not be judged")
    analysis_version: str
    is_current: bool = Field(description="False when an older analysis judged the flow")
    stayed_in_slow_start: bool | None = Field(
        description="Until the first loss, or the end; null where it is not on record"
    )
    capacity: Capacity | None = Field(description="null without an RTT")
    times: ExitTimes | None
    verdicts: list[Verdict]
    curves: ExitCurves | None
    window: SenderWindow | None
    packet_pairs: list[PacketPairs] | None = Field(description="Rounds 1 to 5; null where rows are not ACKs")


class RunExits(Shape):
    run_id: UUID
    link: str
    condition: str
    state: RunStateName
    flows: list[FlowExits] = Field(description="Those that have been judged")


class Estimate(Shape):
    """A mean or a share with its 95 % interval; null where n does not allow one."""

    value: float
    low: float | None
    high: float | None
    n: int


class CommonMeans(Shape):
    """All columns over the runs that have cg, ex and dp: here hr is dp - ex of the means too."""

    cg_s: Estimate
    ex_s: Estimate
    dp_s: Estimate
    hr_s: Estimate


class TableOne(Shape):
    """Table I of Kachooei 2023 (SEARCH) over the flows in slow start until their loss: means, seconds, each over the runs that have it."""

    runs: int
    success_percent: Estimate
    capacity_s: Estimate | None = Field(description="The capacity point that exits are judged by")
    cg_s: Estimate | None
    ex_s: Estimate | None
    dp_s: Estimate | None
    hr_s: Estimate | None = Field(description="Over the runs with ex and dp")
    success_hr_s: Estimate | None = Field(description="Over the successful runs")
    error_percent: Estimate | None = Field(
        description="How far the curve is off for being made of bins: mean of Figure 6b"
    )
    common: CommonMeans | None = Field(description="As in Kachooei 2023 (SEARCH); null when no run has all three times")


class TimingShares(Shape):
    early: Estimate
    good: Estimate
    late: Estimate
    open: Estimate


class DetectorExits(Shape):
    """One detector over the runs of a group. exits_s holds the exits alone: those decidable that are missing never fired."""

    detector: str
    version: str
    detect: int | None = Field(description="HyStart's mask: 1 ACK train, 2 delay, 3 both")
    decidable: int
    undecidable: int
    exits_s: list[float] = Field(description="Rising")
    shares: TimingShares | None


class ExitGroup(Shape):
    link: str
    condition: str
    flow: int
    cc: str | None
    runs: int
    outdated: int = Field(description="Runs that an older analysis judged")
    left_early: int = Field(description="Runs whose flow left slow start before a loss: not in the table")
    bases: dict[BasisName, int] = Field(description="Runs by what their capacity point was judged by")
    table: TableOne | None
    detectors: list[DetectorExits]


class CampaignExits(Shape):
    campaign_id: UUID
    groups: list[ExitGroup]
