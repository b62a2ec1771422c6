"""The series of an imported flow: files of other tools start late, sample as they like, and may show one end alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from downlink.analysis.binning import Floats, Ints
from downlink.analysis.phases import stack_values
from downlink.analysis.series import (
    ACK_FIELD,
    COUNTED,
    Columns,
    FlowSeries,
    receiver_series,
    sender_series,
    written_series,
)
from downlink.domain.results.metric import QUANTITIES
from downlink.domain.traces.sample import TIME_FIELD, FieldKind, fields

SEGMENT_SIZE = "snd_mss_bytes"
THROUGHPUT, GOODPUT, RTT = (QUANTITIES.index(name) for name in ("throughput_bps", "goodput_bps", "rtt_ms"))
NEW_BYTES = ("snd_nxt_bytes", "acked_bytes", "app_bytes")
RETRANSMITTED = {"retransmitted_bytes", "sent_bytes"}
DELIVERED, ACKED = (COUNTED.index(name) for name in ("delivered_bytes", "acked_bytes"))


def counted_from_zero(columns: Columns) -> dict[str, Ints]:
    """The columns with a row at time 0 where the first sample comes later: a connection counts from 0 there.

    Gauges repeat their first value, which only counters with a unit (segments) have a use for.
    """
    if not columns or columns[TIME_FIELD][0] <= 0:
        return dict(columns)
    return {name: np.insert(values, 0, 0 if _counts(name) else values[0]) for name, values in columns.items()}


def imported_series(sender: Columns, receiver: Columns) -> FlowSeries:
    """The series from time 0 on of a flow, seen at its sender, its receiver or both; no columns mean no trace.

    Each quantity comes whole from the best source that has it: what the sender's kernel counted, else what the receiver
    got in order or read, and throughput, last, from what the sender's program wrote (iperf3, flent).
    """
    parts = [*_sender_parts(sender), *_receiver_parts(receiver), *_written(sender)]
    lengths = stack_values([part.length_s[None] for part in parts])
    longest = max(parts, key=lambda part: part.bins).length_s if parts else lengths
    return FlowSeries(_best([part.values for part in parts]), _best([part.counted for part in parts]), longest)


def with_retransmissions(columns: Columns) -> Columns:
    """Add `retransmitted_bytes` and `sent_bytes` where the source counts only retransmitted segments.

    New bytes are what was given out, else what was acknowledged, else what the program wrote. Logs of single ACKs may let
    a count fall for a moment, which takes nothing back.
    """
    again, segment = columns.get("total_retrans_segments"), columns.get(SEGMENT_SIZE)
    new = next((columns[name] for name in NEW_BYTES if name in columns), None)
    if again is None or segment is None or new is None or columns.keys() >= RETRANSMITTED:
        return columns
    rises = np.diff(np.maximum.accumulate(again), prepend=0)
    retransmitted = np.cumsum(rises * segment)
    return {**columns, "retransmitted_bytes": retransmitted, "sent_bytes": new + retransmitted}


def _best(tables: list[Floats]) -> Floats:
    """Each row from the first table that has a value in it."""
    stacked = stack_values(tables)
    first = (~np.isnan(stacked).all(axis=2)).argmax(axis=0)
    best: Floats = stacked[first, np.arange(stacked.shape[1])]
    return best


def _counts(name: str) -> bool:
    return fields()[name].kind is not FieldKind.GAUGE


def _counters(columns: Columns) -> Columns:
    """Return the columns that need the row at time 0: counters, the clock, the size of what is counted, and the mark that no ACK is
    absent."""
    counted = counted_from_zero(columns)
    return {name: values for name, values in counted.items() if _counts(name) or name in (SEGMENT_SIZE, ACK_FIELD)}


def _gauges(columns: Columns) -> Columns:
    return {name: values for name, values in columns.items() if not _counts(name) or name == TIME_FIELD}


def _sender_parts(columns: Columns) -> Iterator[FlowSeries]:
    if columns:
        columns = with_retransmissions(columns)
        counted = sender_series(_counters(columns), 0)
        counted.values[RTT] = np.nan  # the row at time 0 measured none
        yield counted
        yield sender_series(_gauges(columns), 0)


def _receiver_parts(columns: Columns) -> Iterator[FlowSeries]:
    """Goodput is taken as throughput too, as with a kernel that does not count what it delivered."""
    if not columns:
        return
    got = columns.get("received_bytes", columns.get("app_bytes"))
    counted = columns if got is None else {**columns, "received_bytes": got}
    received = receiver_series(_counters(counted), 0)
    received.values[THROUGHPUT], received.counted[DELIVERED] = received.values[GOODPUT], received.counted[ACKED]
    yield received
    yield receiver_series(_gauges(columns), 0)


def _written(sender: Columns) -> Iterator[FlowSeries]:
    if "app_bytes" in sender:
        yield written_series(counted_from_zero(sender), 0)
