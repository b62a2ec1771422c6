"""Slow-start exits (docs/api.md, section Exits). For documentation and types: answers are encoded once and sent as they are."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from downlink.api.schemas.base import Shape
from downlink.api.schemas.runs import RunStateName

Column = list[float | None]
TimingName = Literal["early", "good", "late", "open"]


class ExitTimes(Shape):
    """Paper 002's times of one flow, microseconds since the trace's first row; null when it never happened."""

    cg_us: int | None = Field(description="Capacity reached: norm above 0.10")
    ex_us: int | None = Field(description="SEARCH 1.0 leaves slow start")
    dp_us: int | None = Field(description="First loss")
    hr_us: int | None = Field(description="Headroom: dp - ex")
    is_success: bool = Field(description="cg <= ex < dp; without a loss dp is endless")


class Verdict(Shape):
    """What one detector says about one flow."""

    detector: str
    version: str
    exit_us: int | None = Field(description="Microseconds since the trace's first row; null when it never fired")
    cwnd_segments: int | None
    parameters: dict[str, Any]
    reason: str
    quantities: dict[str, Any]
    is_decidable: bool = Field(description="False where the samples are too coarse for this detector")
    timing: TimingName | None = Field(description="Against cg and dp; null where it cannot be said")


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
    """One flow. Every time counts from the trace's first row, which lies at origin_us on the clock of its samples."""

    flow: int
    cc: str | None
    first_byte_us: int = Field(description="First data byte on the samples' clock: where the series' second 0 begins")
    origin_us: int | None
    refusal: str | None = Field(description="Why the trace could not be judged")
    analysis_version: str
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


class TableOne(Shape):
    """Paper 002's Table I: means over runs, seconds. A time that no run has is null; hr counts the successful runs."""

    runs: int
    success_percent: Estimate
    cg_s: Estimate | None
    ex_s: Estimate | None
    dp_s: Estimate | None
    hr_s: Estimate | None


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
    table: TableOne | None
    detectors: list[DetectorExits]


class CampaignExits(Shape):
    campaign_id: UUID
    groups: list[ExitGroup]
