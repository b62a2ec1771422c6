"""Results of the analysis. All of them can be computed again from traces."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from downlink.storage.tables.base import Json, Table


class StoredSeries(Table):
    """One-second bins of one flow.

    packed: a row for each of `quantities`, each of `bins` big-endian doubles (PostgreSQL's own float8send), NaN where missing.
    """

    __tablename__ = "flow_series"
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    flow: Mapped[int] = mapped_column(primary_key=True)
    bins: Mapped[int]
    quantities: Mapped[list[str]]
    packed: Mapped[bytes]


class Metric(Table):
    """A flow's means over one phase."""

    __tablename__ = "metrics"
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    flow: Mapped[int] = mapped_column(primary_key=True)
    phase: Mapped[str] = mapped_column(primary_key=True)
    utilisation_ratio: Mapped[float | None]
    throughput_bps: Mapped[float | None]
    goodput_bps: Mapped[float | None]
    rtt_ms: Mapped[float | None]
    rwnd_bytes: Mapped[float | None]
    cwnd_bytes: Mapped[float | None]
    retransmission_percent: Mapped[float | None]
    in_flight_bytes: Mapped[float | None]
    probe_loss_percent: Mapped[float | None]
    probe_rtt_p95_ms: Mapped[float | None]
    one_way_delay_ms: Mapped[float | None]
    in_order_delay_ms: Mapped[float | None]
    jitter_ms: Mapped[float | None]


class FlowLimit(Table):
    """The limits of one flow, as shares of its time, and the buffers advised for its path; NULL where its kernel does not report them.

    seconds: the same shares of each second, packed as a series, in the order of the columns.
    """

    __tablename__ = "limits"
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    flow: Mapped[int] = mapped_column(primary_key=True)
    congestion_window: Mapped[float | None]
    receive_window: Mapped[float | None]
    send_buffer: Mapped[float | None]
    application: Mapped[float | None]
    bdp_bytes: Mapped[int | None]
    is_lower_bound: Mapped[bool | None]
    max_bytes: Mapped[int | None]
    seconds: Mapped[bytes]


class FlowDelay(Table):
    """One kind of delay of a flow that kept a delivery table (domain/results/blockdelay.py); NULL where there is a reason against it.

    n: blocks, or pairs of seconds. clock_error_ms: by how much the clocks of both ends may differ; NULL where one did not say. why:
    there is no value. sketch: how the values are distributed (codec/sketches.py, analysis/sketch.py).
    """

    __tablename__ = "flow_delays"
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    flow: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    mean_ms: Mapped[float | None]
    median_ms: Mapped[float | None]
    p5_ms: Mapped[float | None]
    p95_ms: Mapped[float | None]
    n: Mapped[int]
    clock_error_ms: Mapped[float | None]
    why: Mapped[str | None]
    sketch: Mapped[bytes | None]


class FlowProxy(Table):
    """The verdict on a proxy that ends TCP on a flow's path, and its signs; NULL where one is not known.

    path: split, whole or unknown. near: the end whose handshake was answered too soon. ack_lead_ms: how long before the receiver had
    bytes the sender saw them acknowledged, in the median; clock_error_ms: by how much both clocks may differ.
    """

    __tablename__ = "flow_proxies"
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    flow: Mapped[int] = mapped_column(primary_key=True)
    path: Mapped[str]
    near: Mapped[str | None]
    ack_lead_ms: Mapped[float | None]
    clock_error_ms: Mapped[float | None]
    sender_handshake_ms: Mapped[float | None]
    receiver_handshake_ms: Mapped[float | None]
    probe_rtt_ms: Mapped[float | None]
    base_rtt_ms: Mapped[float | None]
    sender_window_bytes: Mapped[int | None]
    receiver_window_bytes: Mapped[int | None]


class LinkPhase(Table):
    """The activity of an emulated link in one phase of a run, by its log. No rows for a run without one."""

    __tablename__ = "link_phases"
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    phase: Mapped[str] = mapped_column(primary_key=True)
    queueing_ms: Mapped[float | None]
    queueing_p95_ms: Mapped[float | None]
    queueing_most_ms: Mapped[float | None]
    waiting_bytes: Mapped[float | None]
    waiting_p95_bytes: Mapped[float | None]
    waiting_most_bytes: Mapped[float | None]
    offered_bytes: Mapped[float | None]
    served_ratio: Mapped[float | None]
    gap_s: Mapped[float | None]
    outage_s: Mapped[float | None]
    congestion_loss_percent: Mapped[float | None]
    link_loss_percent: Mapped[float | None]
    queue_full_percent: Mapped[float | None]
    early_drop_percent: Mapped[float | None]
    random_loss_percent: Mapped[float | None]
    outage_percent: Mapped[float | None]
    handover_percent: Mapped[float | None]
    queue_full_bytes: Mapped[float | None]
    early_drop_bytes: Mapped[float | None]
    random_loss_bytes: Mapped[float | None]
    outage_bytes: Mapped[float | None]
    handover_bytes: Mapped[float | None]


class FlowLoss(Table):
    """The losses of a flow on an emulated link, as the link counted them. No rows for a run whose link was not logged to its end."""

    __tablename__ = "flow_losses"
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    flow: Mapped[int] = mapped_column(primary_key=True)
    lost_packets: Mapped[float | None]
    congestion_share_percent: Mapped[float | None]
    queue_full_packets: Mapped[float | None]
    early_drop_packets: Mapped[float | None]
    random_loss_packets: Mapped[float | None]
    outage_packets: Mapped[float | None]
    handover_packets: Mapped[float | None]


class SlowStart(Table):
    """The moments at which slow start ended and should have, microseconds since origin_us, the flow's first data byte. refusal: why
    nothing was judged.

    cg_us, ex_us, dp_us, hr_us, is_success: those of Kachooei 2023 (SEARCH). capacity_us: what exits are judged by, found with
    capacity_basis, capacity_rate_bps and least_rtt_us; NULL where it was never reached.
    stayed_in_slow_start: until its first loss, or its end; NULL where the trace does not say. mean_error_ratio: of SEARCH 1.0's curve
    for being made of bins.
    """

    __tablename__ = "slow_starts"
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    flow: Mapped[int] = mapped_column(primary_key=True)
    origin_us: Mapped[int | None]
    cg_us: Mapped[int | None]
    ex_us: Mapped[int | None]
    dp_us: Mapped[int | None]
    hr_us: Mapped[int | None]
    is_success: Mapped[bool | None]
    capacity_us: Mapped[int | None]
    capacity_basis: Mapped[str | None]
    capacity_rate_bps: Mapped[float | None]
    least_rtt_us: Mapped[int | None]
    stayed_in_slow_start: Mapped[bool | None]
    mean_error_ratio: Mapped[float | None]
    refusal: Mapped[str | None]
    analysis_version: Mapped[str]


class Exit(Table):
    """The verdict of one detector on one flow. place: in the panel's order. timing: early, good, late, open; NULL when it cannot be
    said."""

    __tablename__ = "exits"
    run_id: Mapped[UUID] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    flow: Mapped[int] = mapped_column(primary_key=True)
    place: Mapped[int] = mapped_column(primary_key=True)
    detector: Mapped[str]
    version: Mapped[str]
    exit_us: Mapped[int | None]
    cwnd_segments: Mapped[int | None]
    parameters: Mapped[Json]
    reason: Mapped[str]
    quantities: Mapped[Json]
    is_decidable: Mapped[bool]
    is_too_late: Mapped[bool | None]
    cwnd_source: Mapped[str | None]
    timing: Mapped[str | None]


class Report(Table):
    """body: the report as JSON, sent as it is. version: the campaign's report_wanted that it answers."""

    __tablename__ = "reports"
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey("campaigns.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int]
    analysis_version: Mapped[str]
    computed_at: Mapped[datetime]
    body: Mapped[bytes]


class ReportAnswer(Table):
    """An answer that was made with the report of this version, as it is sent. seen: the complete runs that it is made of."""

    __tablename__ = "report_answers"
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey("campaigns.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[int]
    seen: Mapped[str]
    body: Mapped[bytes]
