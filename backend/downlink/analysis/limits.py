"""Limits of a flow, second by second, and the buffers that would not limit it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from downlink.analysis.binning import BIN_US, Floats, Ints
from downlink.analysis.series import USED_FIELDS as SERIES_FIELDS
from downlink.analysis.series import Columns, sender_bins, sender_throughput_bps
from downlink.domain.doc import Doc
from downlink.domain.results.metric import LIMITS

PAGE_BYTES = 4096
NOT_MEASURED_US = 2**32 - 1  # tcpi_min_rtt before the first sample
USED_FIELDS = (
    *SERIES_FIELDS, "busy_us", "rwnd_limited_us", "sndbuf_limited_us", "notsent_bytes", "min_rtt_us",
)  # fmt: skip
HEADROOM = 2.5
"""Buffer per bandwidth-delay product: the kernel offers about half of a buffer as window, and a quarter is room to grow.
Peters 2021 (HyStart over a satellite network) comes to the same factor."""


@dataclass(frozen=True)
class LimitSeries:
    """shares: (len(LIMITS), bins), the share of each second for which each limit held the flow; NaN where missing."""

    shares: Floats

    @property
    def mean(self) -> Floats | None:
        """Share of the flow's time for each limit, over the bins that are there; None without any."""
        is_there = ~np.isnan(self.shares).any(axis=0)
        return self.shares[:, is_there].mean(axis=1) if is_there.any() else None

    @property
    def dominant(self) -> NDArray[np.intp]:
        """Index into LIMITS of the limit that held longest in each bin, -1 where missing."""
        is_missing = np.isnan(self.shares).any(axis=0)
        return np.where(is_missing, -1, np.nan_to_num(self.shares).argmax(axis=0))


@dataclass(frozen=True)
class BufferAdvice:
    """The buffers that the path needs."""

    bdp_bytes: Annotated[int, Doc("The measured bandwidth-delay product")]
    is_lower_bound: Annotated[bool, Doc("A buffer held the flow for most seconds: the path has room for more")]
    max_bytes: Annotated[int, Doc("What the maxima of tcp_rmem and tcp_wmem should at least be")]


@dataclass(frozen=True)
class FlowLimits:
    """The limits of one flow, and the buffers that its path needs; advice is None when nothing was measured."""

    series: LimitSeries
    advice: BufferAdvice | None


def judge_limits(
    columns: Columns,
    first_byte_us: int,
    duration_s: float | None,
    nominal_rate_bps: float = 0.0,
    *,
    is_full: bool = True,
) -> FlowLimits:
    """Limits and advice from a sender's trace, in the bins of the flow's series. nominal_rate_bps: 0 where nobody knows it. is_full: as
    in `sender_series`."""
    limits = sender_limits(columns, first_byte_us, duration_s)
    throughput_bps = sender_throughput_bps(columns, sender_bins(columns, first_byte_us, duration_s), is_full=is_full)
    return FlowLimits(limits, advise_buffers(throughput_bps, least_rtt_ms(columns), limits, nominal_rate_bps))


def least_rtt_ms(columns: Columns) -> float:
    """The smallest RTT on record: the kernel's own minimum, else of the ACKs' samples, else of smoothed values; NaN without any."""
    rtt_us = columns.get("min_rtt_us", columns.get("ack_rtt_us", columns.get("rtt_us", np.zeros(0, np.int64))))
    measured = rtt_us[(rtt_us > 0) & (rtt_us < NOT_MEASURED_US)]
    return float(measured.min()) / 1e3 if len(measured) else math.nan


def sender_limits(columns: Columns, first_byte_us: int, duration_s: float | None = None) -> LimitSeries:
    """The limits of a flow in the bins of its series, from its sender's trace.

    The kernel counts the time with data in flight (busy_us), and within it the time that the receive window or the send
    buffer held it back (tcp_chrono in net/ipv4/tcp.c, Linux 4.10). Time that is not busy belongs to the application. So
    does busy time without anything unsent and with room in the congestion window, in proportion to the time in which samples
    saw it. What remains is the congestion window's.
    """
    bins = sender_bins(columns, first_byte_us, duration_s)
    busy, receive, buffer = (
        bins.shown(bins.rise(columns.get(name))) / (BIN_US * bins.length_s)
        for name in ("busy_us", "rwnd_limited_us", "sndbuf_limited_us")
    )
    rest = np.clip(busy - receive - buffer, 0, 1)
    waiting = bins.mean(_waits_for_application(columns))
    application = np.clip(1 - busy, 0, 1) + rest * np.nan_to_num(waiting)
    shares = np.stack([rest * (1 - np.nan_to_num(waiting)), np.clip(receive, 0, 1), np.clip(buffer, 0, 1), application])
    return LimitSeries(shares)


def advise_buffers(
    throughput_bps: Floats, min_rtt_ms: float, limits: LimitSeries, nominal_rate_bps: float = 0.0
) -> BufferAdvice | None:
    """Buffer maxima for a path, from a flow's bins; None when nothing was measured.

    The rate is the 95th percentile of the seconds, since single seconds burst. Where buffers held the flow for more than
    half of the time the measured product says what the buffers allowed: then the link's nominal rate counts if known.
    """
    present = throughput_bps[~np.isnan(throughput_bps)]
    if not len(present) or not min_rtt_ms > 0:
        return None
    measured_bdp = np.percentile(present, 95) / 8 * min_rtt_ms / 1e3
    dominant = limits.dominant[limits.dominant >= 0]
    by_buffers = np.isin(dominant, [LIMITS.index("receive_window"), LIMITS.index("send_buffer")])
    is_lower_bound = bool(len(dominant)) and bool(by_buffers.mean() > 1 / 2)
    nominal_bdp = nominal_rate_bps / 8 * min_rtt_ms / 1e3
    needed = max(measured_bdp, nominal_bdp) if is_lower_bound else measured_bdp
    return BufferAdvice(round(measured_bdp), is_lower_bound, PAGE_BYTES * math.ceil(HEADROOM * needed / PAGE_BYTES))


def _waits_for_application(columns: Columns) -> Ints | None:
    """1 for each sample with nothing left to send although the congestion window has room."""
    notsent, unacked, cwnd = (columns.get(name) for name in ("notsent_bytes", "unacked_segments", "cwnd_segments"))
    if notsent is None or unacked is None or cwnd is None:
        return None
    waits: Ints = ((notsent == 0) & (unacked < cwnd)).astype(np.int64)
    return waits
