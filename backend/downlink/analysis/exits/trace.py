"""The input of a detector's replay: the sender's view of a flow, one row per ACK or per poll."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from downlink.domain.errors import InvalidError

Ints = NDArray[np.int64]

NO_RTT = -1
INFINITE_SSTHRESH_SEGMENTS = 2_147_483_647
INITIAL_WINDOW_SEGMENTS = 10
USED_FIELDS = (
    "elapsed_us", "snd_mss_bytes", "acked_bytes", "delivered_segments", "app_bytes", "ack_rtt_us", "rtt_us", "snd_nxt_bytes",
    "sent_bytes", "retransmitted_bytes", "lost_total_segments", "lost_segments", "total_retrans_segments", "cwnd_segments",
    "ssthresh_segments", "pacing_rate_bps", "delivery_rate_app_limited", "min_rtt_us",
)  # fmt: skip
"""All that `trace_from_fields` looks at."""


@dataclass(frozen=True, kw_only=True)
class AckTrace:
    """One flow as its sender saw it; every array has one value per row, a missing quantity is None.

    time_us: since the flow's first data byte, never falling. acked_bytes: cumulatively acknowledged since the flow's start.
    mss_bytes: > 0. rtt_us: the row's RTT sample, -1 for none; on a polled trace the kernel's smoothed value.
    snd_nxt_bytes: new bytes sent since the flow's start, before the row's ACK released more. delivered_segments, lost_segments,
    retrans_segments: cumulative. ssthresh_segments: 2147483647 while never set. pacing_rate_bps: 0 when the kernel has none yet.
    min_rtt_us: the least RTT that the kernel had seen. origin_us: time 0 on the clock of the source. is_per_ack: False when
    rows are polls. congestion_control: of the flow.
    """

    time_us: Ints
    acked_bytes: Ints
    mss_bytes: Ints
    rtt_us: Ints
    snd_nxt_bytes: Ints | None = None
    delivered_segments: Ints | None = None
    lost_segments: Ints | None = None
    retrans_segments: Ints | None = None
    cwnd_segments: Ints | None = None
    ssthresh_segments: Ints | None = None
    pacing_rate_bps: Ints | None = None
    app_limited: Ints | None = None
    min_rtt_us: Ints | None = None
    origin_us: int
    is_per_ack: bool
    congestion_control: str | None = None

    @property
    def rows(self) -> int:
        return len(self.time_us)

    @property
    def absent(self) -> tuple[str, ...]:
        """The quantities this trace does not have."""
        return tuple(field.name for field in fields(self) if getattr(self, field.name) is None)

    @cached_property
    def hooked_rows(self) -> Ints:
        """The rows with an RTT sample."""
        return np.flatnonzero(self.rtt_us >= 0)

    @cached_property
    def spacing_us(self) -> int:
        """Median time between rows."""
        return int(np.median(np.diff(self.time_us))) if self.rows > 1 else 0

    @cached_property
    def least_rtt_us(self) -> int | None:
        """The kernel's own minimum where it is on record, else the smallest sample; None without any."""
        for column in (self.min_rtt_us, self.rtt_us):
            if column is not None and len(known := column[column > 0]):
                return int(known.min())
        return None

    @cached_property
    def loss_row(self) -> int | None:
        """The row of the first loss, the same for everything that asks for it; None without one.

        The lost counter decides where there is one: a tail-loss probe retransmits without anything being lost.
        """
        counter = self.retrans_segments if self.lost_segments is None else self.lost_segments
        return None if counter is None else first_rise(counter)

    @cached_property
    def loss_us(self) -> int | None:
        return None if self.loss_row is None else int(self.time_us[self.loss_row])

    @cached_property
    def left_row(self) -> int | None:
        """The first row at which slow start is over: the window has reached a finite ssthresh (RFC 5681, section 3.1), or a loss
        has set one. None when that never happened, or when ssthresh is not on record.
        """
        if self.ssthresh_segments is None:
            return None
        is_left = self.ssthresh_segments < INFINITE_SSTHRESH_SEGMENTS
        if self.cwnd_segments is not None:
            is_lost = np.arange(self.rows) >= (self.rows if self.loss_row is None else self.loss_row)
            is_left &= is_lost | (self.cwnd_segments >= self.ssthresh_segments)
        rows = np.flatnonzero(is_left)
        return int(rows[0]) if rows.size else None

    @cached_property
    def stayed_in_slow_start(self) -> bool | None:
        """True if slow start lasted to the first loss, or to the end without one. None if ssthresh is not on record.

        False for BBR, whose start is not slow start.
        """
        if (self.congestion_control or "").startswith("bbr"):
            return False
        if self.ssthresh_segments is None:
            return None
        return self.left_row is None or (self.loss_row is not None and self.left_row >= self.loss_row)

    @cached_property
    def last_curve_row(self) -> int:
        """The last row at which what was sent one RTT ago was sent in slow start. A flow that left it before a loss has none past that."""
        if self.left_row is not None and not self.stayed_in_slow_start:
            return self.left_row
        if self.loss_us is None:
            return self.rows - 1
        return int(np.flatnonzero(self.time_us - np.maximum(self.rtt_us, 0) <= self.loss_us)[-1])

    @cached_property
    def slow_start_cwnd_segments(self) -> Ints:
        """The window before each row's own growth: as recorded while in slow start, else as slow start would have grown it."""
        acked_before = np.concatenate(([0], self.acked_bytes[:-1]))
        modelled = INITIAL_WINDOW_SEGMENTS + acked_before // self.mss_bytes
        if self.cwnd_segments is None:
            return modelled
        if self.ssthresh_segments is None:
            return self.cwnd_segments
        return np.where(self._met_slow_start, self.cwnd_segments, modelled)

    def is_cwnd_recorded(self, row: int) -> bool:
        return self.cwnd_segments is not None and bool(self._met_slow_start[row])

    @cached_property
    def _met_slow_start(self) -> NDArray[np.bool_]:
        """Rows that found the flow in slow start. The ACK that ended it is the last of them; a poll after it is not one."""
        end = self.rows if self.left_row is None else self.left_row + self.is_per_ack
        return np.arange(self.rows) < end


def first_rise(counter: Ints) -> int | None:
    """The first row whose value is above its predecessor's."""
    rises = np.flatnonzero(np.diff(counter) > 0)
    return int(rises[0]) + 1 if rises.size else None


def trace_from_fields(
    columns: Mapping[str, ArrayLike],
    *,
    is_per_ack: bool,
    congestion_control: str | None = None,
    first_byte_us: int | None = None,
) -> AckTrace:
    """An AckTrace out of columns named as in `docs/fields.csv`, with these of a per-ACK source beside them.

    ack_rtt_us: RTT sample of the ACK, -1 for none. snd_nxt_bytes: new bytes sent. lost_total_segments: cumulative.
    Where nothing was acknowledged on record, delivered segments or, last, the bytes written stand in.
    first_byte_us: when the flow's first data byte left, on the clock of the source; the first row where nobody knows.
    Raises InvalidError `trace_invalid` when a needed column is missing or cannot be the record of one flow.
    """
    held = {name: np.asarray(column, dtype=np.int64) for name, column in columns.items()}
    mss = _needed(held, "snd_mss_bytes")
    time_us = _needed(held, "elapsed_us")
    if time_us.size == 0:
        raise InvalidError("trace_invalid", "The trace has no rows.")
    origin_us = int(time_us[0]) if first_byte_us is None else first_byte_us
    trace = AckTrace(
        time_us=time_us - origin_us,
        acked_bytes=_acked_bytes(held, mss),
        mss_bytes=mss,
        rtt_us=held.get("ack_rtt_us" if is_per_ack else "rtt_us", np.full_like(time_us, NO_RTT)),
        snd_nxt_bytes=_new_bytes_sent(held),
        delivered_segments=held.get("delivered_segments"),
        lost_segments=held.get("lost_total_segments", held.get("lost_segments")),
        retrans_segments=held.get("total_retrans_segments"),
        cwnd_segments=held.get("cwnd_segments"),
        ssthresh_segments=held.get("ssthresh_segments"),
        pacing_rate_bps=held.get("pacing_rate_bps"),
        app_limited=held.get("delivery_rate_app_limited"),
        min_rtt_us=held.get("min_rtt_us"),
        origin_us=origin_us,
        is_per_ack=is_per_ack,
        congestion_control=congestion_control,
    )
    _check(trace)
    return trace


def _needed(columns: Mapping[str, Ints], name: str) -> Ints:
    if name not in columns:
        raise InvalidError("trace_invalid", f"The trace has no column {name}; an exit cannot be replayed without it.")
    return columns[name]


def _acked_bytes(columns: Mapping[str, Ints], mss: Ints) -> Ints:
    if "acked_bytes" in columns:
        return columns["acked_bytes"]
    return columns["delivered_segments"] * mss if "delivered_segments" in columns else _needed(columns, "app_bytes")


def _new_bytes_sent(columns: Mapping[str, Ints]) -> Ints | None:
    if "snd_nxt_bytes" in columns:
        return columns["snd_nxt_bytes"]
    if "sent_bytes" in columns and "retransmitted_bytes" in columns:
        return columns["sent_bytes"] - columns["retransmitted_bytes"]
    return None


def _check(trace: AckTrace) -> None:
    arrays = [value for field in fields(trace) if isinstance(value := getattr(trace, field.name), np.ndarray)]
    if any(array.shape != (trace.rows,) for array in arrays):
        raise InvalidError("trace_invalid", "The columns of the trace are not all equally long.")
    for name in ("time_us", "acked_bytes"):
        if np.any(np.diff(getattr(trace, name)) < 0):
            raise InvalidError("trace_invalid", f"{name} falls within the trace; it may only grow.")
    if np.any(trace.mss_bytes <= 0):
        raise InvalidError("trace_invalid", "snd_mss_bytes must be above 0 in every row.")
