"""A flow's samples in one-second bins: bin k is [k, k + 1) s from the flow's first data byte."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Columns = Mapping[str, Ints]
Size = int | Ints | None

QUANTITIES = (
    "throughput_bps",
    "goodput_bps",
    "rtt_ms",
    "rwnd_bytes",
    "cwnd_bytes",
    "retransmission_percent",
    "in_flight_bytes",
)
BIN_US = 1_000_000
MAX_GAP_US = 2_000_000
"""A bin without a sample is missing when it lies in a longer gap than this."""


@dataclass(frozen=True)
class FlowSeries:
    """values: (len(QUANTITIES), bins), NaN where missing.

    is_throughput_from_acks: the kernel (before 4.18) does not count delivered segments, so that throughput is goodput.
    """

    values: Floats
    is_throughput_from_acks: bool = False

    @property
    def bins(self) -> int:
        return int(self.values.shape[1])

    def column(self, quantity: str) -> Floats:
        """One quantity, a value per bin."""
        column: Floats = self.values[QUANTITIES.index(quantity)]
        return column


def sender_series(columns: Columns, first_byte_us: int, duration_s: float | None = None) -> FlowSeries:
    """The series of a flow from its sender's trace.

    columns: fields of `fields.csv`, equally long, `elapsed_us` rising; quantities whose fields are absent are missing.
    first_byte_us: the flow's first data byte on the clock of the samples. duration_s: what comes later (the send buffer
    draining after a stop by seconds) is left out. A last bin that the trace does not fill is left out.
    """
    bins = SecondBins.of(columns["elapsed_us"], first_byte_us, duration_s)
    mss_bytes = _size(columns.get("snd_mss_bytes"))
    acked = bins.rate_bps(columns.get("acked_bytes"))
    delivered = columns.get("delivered_segments")
    is_from_acks = delivered is None or mss_bytes is None
    rows = {
        "throughput_bps": acked if is_from_acks else bins.rate_bps(delivered, mss_bytes),
        "goodput_bps": acked,
        # The RTT samples themselves where every ACK is on record; a poll has the kernel's smoothed value alone.
        "rtt_ms": bins.mean_of_positive(columns.get("ack_rtt_us", columns.get("rtt_us"))) / 1e3,
        "rwnd_bytes": bins.mean(columns.get("snd_wnd_bytes")),
        "cwnd_bytes": bins.mean_bytes(columns.get("cwnd_segments"), mss_bytes),
        "retransmission_percent": 100 * bins.ratio(columns.get("retransmitted_bytes"), columns.get("sent_bytes")),
        "in_flight_bytes": bins.mean_bytes(columns.get("unacked_segments"), mss_bytes),
    }
    return FlowSeries(np.stack([rows[name] for name in QUANTITIES]), is_throughput_from_acks=is_from_acks)


def receiver_series(columns: Columns, first_byte_us: int, duration_s: float | None = None) -> FlowSeries:
    """What the receiver's trace tells of the same quantities: goodput (bytes received in order), its RTT estimate, its window.

    Times are on the receiver's clock; the other quantities are missing.
    """
    bins = SecondBins.of(columns["elapsed_us"], first_byte_us, duration_s)
    rows = dict.fromkeys(QUANTITIES, bins.mean(None))
    rows["goodput_bps"] = bins.rate_bps(columns.get("received_bytes"))
    rows["rtt_ms"] = bins.mean_of_positive(columns.get("rcv_rtt_us")) / 1e3
    rows["rwnd_bytes"] = bins.mean(columns.get("rcv_wnd_bytes"))
    return FlowSeries(np.stack([rows[name] for name in QUANTITIES]))


@dataclass(frozen=True)
class SecondBins:
    """Where the bins lie among the samples.

    before, share: each of the bins + 1 edges lies `share` of the way from sample `before` to the next one; outside the
    trace it lies on the nearest sample. is_filled: which bins hold samples; of these, firsts: index of the first sample,
    counts: how many. end: index after the last sample of the last bin. is_missing: empty bins in long gaps.
    """

    before: NDArray[np.intp]
    share: Floats
    is_filled: NDArray[np.bool_]
    firsts: NDArray[np.intp]
    counts: NDArray[np.intp]
    end: int
    is_missing: NDArray[np.bool_]

    @classmethod
    def of(cls, time_us: Ints, first_byte_us: int, duration_s: float | None) -> SecondBins:
        end_us = int(time_us[-1]) if len(time_us) > 1 else first_byte_us
        if duration_s is not None:
            end_us = min(end_us, first_byte_us + round(duration_s * 1e6))
        count = max(0, (end_us - first_byte_us) // BIN_US)
        edges_us = first_byte_us + BIN_US * np.arange(count + 1)
        starts = np.searchsorted(time_us, edges_us)
        counts = np.diff(starts)
        is_filled = counts > 0
        filled = (is_filled, starts[:-1][is_filled], counts[is_filled], int(starts[-1]))
        if count == 0:
            return cls(starts, np.zeros(1), *filled, is_missing=~is_filled)
        before = np.clip(starts - 1, 0, len(time_us) - 2)
        step_us = time_us[before + 1] - time_us[before]
        # Imported ACKs may share a microsecond; such a step lies before the first edge only, where the share is 0.
        share = np.clip((edges_us - time_us[before]) / np.maximum(step_us, 1), 0, 1)
        # An empty bin lies between two neighbouring samples, or before the first one.
        gap_us = np.where(starts[:-1] > 0, step_us[:-1], time_us[0] - first_byte_us)
        return cls(before, share, *filled, is_missing=~is_filled & (gap_us > MAX_GAP_US))

    def increase(self, counter: Ints | None) -> Floats:
        """By how much a counter rises in each bin, interpolated linearly at the edges."""
        if counter is None or not len(self.is_missing):
            return np.full(self.is_missing.shape, np.nan)
        left = counter[self.before]
        at_edges = left + self.share * (counter[self.before + 1] - left)
        rise: Floats = np.diff(at_edges)
        rise[self.is_missing] = np.nan
        return rise

    def rate_bps(self, counter: Ints | None, unit_bytes: Size = 1) -> Floats:
        """Bits per second of a counter of units; each new unit has the size of its own sample."""
        if counter is None or unit_bytes is None:
            return self.increase(None)
        if isinstance(unit_bytes, int):
            return self.increase(counter) * (unit_bytes * 8e6 / BIN_US)
        return self.increase(np.cumsum(np.diff(counter, prepend=0) * unit_bytes)) * (8e6 / BIN_US)

    def ratio(self, part: Ints | None, whole: Ints | None) -> Floats:
        """Increase of part over increase of whole, missing where whole did not rise."""
        return _divide(self.increase(part), self.increase(whole))

    def mean(self, gauge: Ints | None) -> Floats:
        """The mean of the samples in each bin, missing without any."""
        means = np.full(self.is_missing.shape, np.nan)
        if gauge is not None and len(self.firsts):
            means[self.is_filled] = np.add.reduceat(gauge[: self.end], self.firsts) / self.counts
        return means

    def mean_bytes(self, segments: Ints | None, mss_bytes: Size) -> Floats:
        if segments is None or mss_bytes is None:
            return self.mean(None)
        return self.mean(segments) * mss_bytes if isinstance(mss_bytes, int) else self.mean(segments * mss_bytes)

    def mean_of_positive(self, gauge: Ints | None) -> Floats:
        """The same over the samples above zero: a poll says 0 for an RTT that is not measured yet, an ACK without one -1."""
        if gauge is None or gauge.min(initial=1) > 0:
            return self.mean(gauge)
        return _divide(self.mean(np.maximum(gauge, 0)), self.mean((gauge > 0).astype(np.int64)))


def _size(mss_bytes: Ints | None) -> Size:
    """The segment size: one number where it never changes, which spares passes over the trace."""
    if mss_bytes is None or not len(mss_bytes):
        return None
    return int(mss_bytes[0]) if mss_bytes.min() == mss_bytes.max() else mss_bytes


def _divide(above: Floats, below: Floats) -> Floats:
    """above / below, missing where below is not above zero."""
    ratio: Floats = np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
    return ratio
