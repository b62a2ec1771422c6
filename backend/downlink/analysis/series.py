"""A flow's samples in one-second bins: bin k is [k, k + 1) s from the flow's first data byte."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from downlink.analysis.binning import Floats, Ints, SecondBins, Size, divide
from downlink.domain.campaigns.flow_plan import SPLIT
from downlink.domain.results.metric import QUANTITIES

Columns = Mapping[str, Ints]

COUNTED = ("delivered_bytes", "acked_bytes", "sent_bytes", "retransmitted_bytes", "probes_sent", "probes_lost")
ACK_FIELD = "ack_rtt_us"
"""Field that only traces with a row for every ACK have."""
USED_FIELDS = (
    "elapsed_us", "snd_mss_bytes", "delivered_segments", "acked_bytes", "sent_bytes", "retransmitted_bytes", ACK_FIELD, "rtt_us",
    "snd_wnd_bytes", "cwnd_segments", "unacked_segments",
)  # fmt: skip
"""Fields that a sender's series is made of."""


@dataclass(frozen=True)
class RttSamples:
    """Round-trip times one by one (n,): when each was begun, from the flow's first data byte, and how long it took."""

    at_s: Floats
    rtt_ms: Floats


@dataclass(frozen=True)
class FlowSeries:
    """values: (len(QUANTITIES), bins), NaN where missing.

    counted: (len(COUNTED), bins), what came in each bin; known over gaps too. length_s: of each bin.
    is_throughput_from_acks: the kernel (before 4.18) does not count delivered segments, so that throughput is goodput.
    rtts: of a probe flow alone.
    """

    values: Floats
    counted: Floats
    length_s: Floats
    is_throughput_from_acks: bool = False
    rtts: RttSamples | None = None

    @property
    def bins(self) -> int:
        return int(self.values.shape[1])

    def column(self, quantity: str) -> Floats:
        """One quantity, a value per bin."""
        column: Floats = self.values[QUANTITIES.index(quantity)]
        return column


def has_every_ack(columns: Columns) -> bool:
    """Return whether the trace has a row for every ACK, so that silence means that none came."""
    return ACK_FIELD in columns


def sender_series(
    columns: Columns,
    first_byte_us: int,
    duration_s: float | None = None,
    last_byte_us: int | None = None,
    *,
    is_full: bool = True,
) -> FlowSeries:
    """The series of a flow from its sender's trace.

    columns: fields of `fields.csv`, equally long, `elapsed_us` rising; quantities whose fields are absent are missing.
    first_byte_us, last_byte_us: the flow's data on the clock of the samples. duration_s: what comes later (the send
    buffer draining after a stop by seconds) is left out. A last bin that the trace does not fill is left out.
    is_full: segments have their full size. Those of messages at a fixed rate may be far smaller, and are not counted as bytes.
    """
    bins = sender_bins(columns, first_byte_us, duration_s, last_byte_us)
    mss_bytes = _size(columns.get("snd_mss_bytes"))
    carried, is_from_acks = _carried(columns, bins, mss_bytes, is_full=is_full)
    rising = [bins.rise(columns.get(name)) for name in ("acked_bytes", "sent_bytes", "retransmitted_bytes")]
    counted = np.stack([carried, *rising])
    rows = {
        # The RTT samples themselves where every ACK is on record; a poll has the kernel's smoothed value alone.
        "rtt_ms": bins.mean_of_positive(columns.get(ACK_FIELD, columns.get("rtt_us"))) / 1e3,
        "rwnd_bytes": bins.mean(columns.get("snd_wnd_bytes")),
        "cwnd_bytes": bins.mean_bytes(columns.get("cwnd_segments"), mss_bytes),
        "in_flight_bytes": bins.mean_bytes(columns.get("unacked_segments"), mss_bytes),
    }
    return _series(bins, counted, rows, is_from_acks=is_from_acks)


def sender_throughput_bps(columns: Columns, bins: SecondBins, *, is_full: bool = True) -> Floats:
    """The throughput of `sender_series` alone."""
    carried, _ = _carried(columns, bins, _size(columns.get("snd_mss_bytes")), is_full=is_full)
    return _rate_bps(carried, bins)


def _carried(columns: Columns, bins: SecondBins, mss_bytes: Size | None, *, is_full: bool) -> tuple[Floats, bool]:
    """The bytes that throughput counts, and whether they are those that were acknowledged."""
    delivered = columns.get("delivered_segments")
    if not is_full or delivered is None or mss_bytes is None:
        return bins.rise(columns.get("acked_bytes")), True
    return bins.rise(delivered, mss_bytes), False


def _rate_bps(carried_bytes: Floats, bins: SecondBins) -> Floats:
    rate: Floats = 8 * bins.shown(carried_bytes) / bins.length_s
    return rate


def sender_bins(
    columns: Columns, first_byte_us: int, duration_s: float | None = None, last_byte_us: int | None = None
) -> SecondBins:
    """The bins of a flow's series."""
    silent_us = (last_byte_us or first_byte_us) if has_every_ack(columns) else None
    return SecondBins.of(columns["elapsed_us"], first_byte_us, duration_s, silent_us)


def receiver_series(columns: Columns, first_byte_us: int, duration_s: float | None = None) -> FlowSeries:
    """Compute the series of a receiver's trace: goodput (bytes received in order), its RTT estimate, its window.

    Times are on the receiver's clock; the other quantities are missing.
    """
    bins = SecondBins.of(columns["elapsed_us"], first_byte_us, duration_s)
    absent = bins.rise(None)
    counted = np.stack([absent, bins.rise(columns.get("received_bytes")), absent, absent])
    rows = {
        "rtt_ms": bins.mean_of_positive(columns.get("rcv_rtt_us")) / 1e3,
        "rwnd_bytes": bins.mean(columns.get("rcv_wnd_bytes")),
    }
    return _series(bins, counted, rows)


def relayed_series(
    kind: str,
    sender: Columns,
    receiver: Columns,
    relays: Sequence[Columns],
    first_byte_us: int,
    duration_s: float | None = None,
) -> FlowSeries:
    """The series of a flow that passes relays, split TCP or INTCP (docs/method.md section 1): what arrived comes from the receiver,
    what was sent and sent again from everybody who sends. relays: in order; what one has not recorded is missing.
    """
    bins = SecondBins.of(receiver["elapsed_us"], first_byte_us, duration_s)
    in_order = bins.rise(receiver.get("received_bytes"))
    arrived = bins.rise(receiver["arrived_bytes"]) if "arrived_bytes" in receiver else in_order
    sending = [_sent_in_bins(each, first_byte_us, bins) for each in (sender, *relays) if each]
    sent, again = np.sum(sending, axis=0) if sending else (bins.rise(None), bins.rise(None))
    rows = _split_gauges(sender, first_byte_us, bins) if kind == SPLIT else _intcp_gauges(receiver, bins)
    counted = np.stack([arrived, in_order, sent, again])
    return _series(bins, counted, rows, is_from_acks="arrived_bytes" not in receiver)


def _sent_in_bins(columns: Columns, first_byte_us: int, bins: SecondBins) -> Floats:
    """Bytes that one sent, and sent again, in the receiver's bins."""
    own = SecondBins.of(columns["elapsed_us"], first_byte_us, float(bins.count))
    both = [own.rise(columns.get(name)) for name in ("sent_bytes", "retransmitted_bytes")]
    return np.stack([_in_length(each, bins.count) for each in both])


def _in_length(values: Floats, count: int) -> Floats:
    """Cut or extend values to `count` seconds, with NaN after the end of the trace."""
    padded: Floats = np.concatenate([values[:count], np.full(max(0, count - len(values)), np.nan)])
    return padded


def _intcp_gauges(receiver: Columns, bins: SecondBins) -> dict[str, Floats]:
    return {
        "rtt_ms": bins.mean_of_positive(receiver.get("consumer_rtt_us")) / 1e3,
        "cwnd_bytes": bins.mean(receiver.get("window_bytes")),
        "in_flight_bytes": bins.mean(receiver.get("outstanding_bytes")),
    }


def _split_gauges(sender: Columns, first_byte_us: int, bins: SecondBins) -> dict[str, Floats]:
    """Return the gauges of the sender's own connection, which ends at the first relay."""
    if not sender:
        return {}
    own = sender_series(sender, first_byte_us, float(bins.count))
    names = ("rtt_ms", "rwnd_bytes", "cwnd_bytes", "in_flight_bytes")
    return {name: _in_length(own.column(name), bins.count) for name in names}


def written_series(columns: Columns, first_byte_us: int) -> FlowSeries:
    """Compute a series in which a program's writes stand for throughput; all else is missing."""
    bins = SecondBins.of(columns["elapsed_us"], first_byte_us, None)
    absent = bins.rise(None)
    return _series(bins, np.stack([bins.rise(columns["app_bytes"]), absent, absent, absent]), {})


def _series(
    bins: SecondBins, counted: Floats, gauges: Mapping[str, Floats], *, is_from_acks: bool = False
) -> FlowSeries:
    """counted: the bytes of COUNTED; there are no probes beside them."""
    delivered, acked, sent, again = counted
    sent, again = bins.shown(sent), bins.shown(again)
    rows = {
        "throughput_bps": _rate_bps(delivered, bins),
        "goodput_bps": _rate_bps(acked, bins),
        "retransmission_percent": 100 * divide(again, sent),
        **gauges,
    }
    absent = np.full(bins.count, np.nan)
    values = np.stack([rows.get(name, absent) for name in QUANTITIES])
    probes = np.full((len(COUNTED) - len(counted), bins.count), np.nan)
    return FlowSeries(values, np.concatenate([counted, probes]), bins.length_s, is_throughput_from_acks=is_from_acks)


def _size(mss_bytes: Ints | None) -> Size:
    """The segment size: one number where it never changes, which spares passes over the trace."""
    if mss_bytes is None or not len(mss_bytes):
        return None
    return int(mss_bytes[0]) if mss_bytes.min() == mss_bytes.max() else mss_bytes
