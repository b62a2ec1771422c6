"""The series of an imported flow: files of other tools start late, sample as they like, and may show one end alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from downlink.analysis.phases import stack_series
from downlink.analysis.series import (
    QUANTITIES,
    Columns,
    Floats,
    FlowSeries,
    Ints,
    SecondBins,
    receiver_series,
    sender_series,
)
from downlink.domain.sample import TIME_FIELD, FieldKind, fields

SEGMENT_SIZE = "snd_mss_bytes"
THROUGHPUT, GOODPUT = QUANTITIES.index("throughput_bps"), QUANTITIES.index("goodput_bps")


def counted_from_zero(columns: Columns) -> dict[str, Ints]:
    """The columns with a row at time 0 where the first sample comes later: a connection counts from 0 there.

    Gauges repeat their first value, which only counters with a unit (segments) have a use for.
    """
    if not columns or columns[TIME_FIELD][0] <= 0:
        return dict(columns)
    return {name: np.insert(values, 0, 0 if _counts(name) else values[0]) for name, values in columns.items()}


def imported_series(sender: Columns, receiver: Columns) -> FlowSeries:
    """The series from time 0 on of a flow, seen at its sender, its receiver or both; no columns stand for no trace.

    Each quantity comes whole from the best source that has it: what the sender's kernel counted, else what the receiver
    got in order or read, and throughput, last, from what the sender's program wrote (iperf3, flent).
    """
    parts = [*_sender_parts(sender), *_receiver_parts(receiver), *_written(sender)]
    stacked = stack_series([FlowSeries(part) for part in parts])
    has_value = ~np.isnan(stacked).all(axis=2)
    best = has_value.argmax(axis=0)
    return FlowSeries(stacked[best, np.arange(len(QUANTITIES))])


def _counts(name: str) -> bool:
    return fields()[name].kind is not FieldKind.GAUGE


def _counters(columns: Columns) -> Columns:
    """What needs the row at time 0: counters, the clock, and the size of what is counted."""
    counted = counted_from_zero(columns)
    return {name: values for name, values in counted.items() if _counts(name) or name == SEGMENT_SIZE}


def _gauges(columns: Columns) -> Columns:
    return {name: values for name, values in columns.items() if not _counts(name) or name == TIME_FIELD}


def _sender_parts(columns: Columns) -> Iterator[Floats]:
    if columns:
        yield sender_series(_counters(columns), 0).values
        yield sender_series(_gauges(columns), 0).values


def _receiver_parts(columns: Columns) -> Iterator[Floats]:
    """Goodput stands for throughput too, as with a kernel that does not count what it delivered."""
    if not columns:
        return
    got = columns.get("received_bytes", columns.get("app_bytes"))
    counted = columns if got is None else {**columns, "received_bytes": got}
    received = receiver_series(_counters(counted), 0).values
    received[THROUGHPUT] = received[GOODPUT]
    yield received
    yield receiver_series(_gauges(columns), 0).values


def _written(sender: Columns) -> Iterator[Floats]:
    if "app_bytes" in sender:
        counted = counted_from_zero(sender)
        rate_bps = SecondBins.of(counted[TIME_FIELD], 0, None).rate_bps(counted["app_bytes"])
        values = np.full((len(QUANTITIES), len(rate_bps)), np.nan)
        values[THROUGHPUT] = rate_bps
        yield values
