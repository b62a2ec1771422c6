"""All verdicts on one flow of a run, and the curves behind them, thinned out for a plot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from downlink.analysis.exits.best import Best, packet_pairs
from downlink.analysis.exits.bins import too_coarse
from downlink.analysis.exits.capacity import Capacity, LinkRate, capacity_point
from downlink.analysis.exits.outcomes import Timing, timing_of
from downlink.analysis.exits.panel import judge_all
from downlink.analysis.exits.rounds import not_by_ack
from downlink.analysis.exits.sliding import (
    CAPACITY_NORM,
    ExitTimes,
    Search10,
    exit_times,
    mean_error_ratio,
    sliding_curves,
)
from downlink.analysis.exits.trace import INFINITE_SSTHRESH_SEGMENTS, NO_RTT, USED_FIELDS, AckTrace, trace_from_fields
from downlink.analysis.exits.verdict import Verdict
from downlink.analysis.intervals import plain
from downlink.domain.doc import Doc
from downlink.domain.errors import InvalidError

FIRST_LOSS = "first_loss"
PACKET_PAIR_ROUNDS = 5
PUBLISHED = Search10()


@dataclass(frozen=True)
class FlowExits:
    """verdicts: of every detector, in the panel's order. capacity: what they are judged by; None without an RTT.

    times: those of Kachooei 2023 (SEARCH), None where the trace does not allow them. mean_error_ratio: how far its curve is off on
    average for being made of bins (its Figure 6b). origin_us: the flow's first data byte
    on the clock of its samples, from which all other times count.
    """

    verdicts: tuple[Verdict, ...]
    capacity: Capacity | None
    times: ExitTimes | None
    mean_error_ratio: float | None
    loss_us: int | None
    stayed_in_slow_start: bool | None
    origin_us: int

    def timing(self, verdict: Verdict) -> Timing | None:
        """Early, good, late or open; None where nothing can be said, and for the loss that the others are measured by."""
        if self.capacity is None or not verdict.is_decidable or verdict.detector == FIRST_LOSS:
            return None
        return timing_of(verdict.exit_us, self.capacity, self.loss_us)


@dataclass(frozen=True)
class ExitCurves:
    """SEARCH 1.0's curves, one value per closed bin; null where a window does not fit yet."""

    bin_us: int
    window_us: Annotated[int, Doc("Length of the sliding window, for its shading")]
    threshold_ratio: float
    capacity_ratio: float
    time_us: list[int]
    sent_bytes: Annotated[list[float | None], Doc("Sent in the window that ended one RTT ago, out of bins")]
    delivered_bytes: Annotated[list[float | None], Doc("Delivered in the window that ends now")]
    norm_ratio: list[float | None]
    best_sent_bytes: Annotated[list[float | None], Doc("The same out of single rows: the best case")]
    best_norm_ratio: list[float | None]
    error_ratio: Annotated[list[float | None], Doc("|norm - best norm|")]


@dataclass(frozen=True)
class SenderWindow:
    """The sender's view within a window of time; a quantity that the trace lacks is null as a whole."""

    time_us: list[int]
    cwnd_segments: list[int] | None
    ssthresh_segments: Annotated[list[float | None] | None, Doc("null while it was never set")]
    rtt_us: list[float | None] | None
    acked_bytes: list[int]
    new_sent_bytes: list[int] | None
    lost_segments: list[int] | None


@dataclass(frozen=True)
class PacketPairs:
    """BEST's estimates of one round in arrival order."""

    round: int
    opened_us: int
    estimates_mbps: list[float]


def flow_trace(columns: Mapping[str, ArrayLike], congestion_control: str | None, first_byte_us: int = 0) -> AckTrace:
    """The trace of a flow from its first data byte on. A column `ack_rtt_us` says that every ACK is there.

    Raises InvalidError `trace_invalid` where a column that is needed is missing or the trace has no rows from there on.
    """
    if "elapsed_us" not in columns:
        raise InvalidError("trace_invalid", "This flow has no sender's trace; an exit cannot be seen without one.")
    held = {name: np.asarray(columns[name], dtype=np.int64) for name in USED_FIELDS if name in columns}
    after = _true_rows(held["elapsed_us"] >= first_byte_us)
    held = {name: column[after] for name, column in held.items()}
    is_per_ack = "ack_rtt_us" in held
    if not is_per_ack and "rtt_us" in held:
        # A poll says 0 before the kernel has measured.
        held["rtt_us"] = np.where(held["rtt_us"] > 0, held["rtt_us"], NO_RTT)
    return trace_from_fields(
        held, is_per_ack=is_per_ack, congestion_control=congestion_control, first_byte_us=first_byte_us
    )


def _true_rows(is_true: NDArray[np.bool_]) -> slice | NDArray[np.bool_]:
    """Return an index for these rows of a column: a slice, which copies nothing, if they are its end."""
    first = int(is_true.argmax()) if is_true.any() else len(is_true)
    return slice(first, None) if is_true[first:].all() else is_true


def judge_flow(trace: AckTrace, rate: LinkRate | None = None) -> FlowExits:
    """Every detector on the trace, the capacity point and the times of Kachooei 2023 (SEARCH). rate: see `capacity_point`."""
    curves = None if _why_no_curves(trace) else sliding_curves(trace)
    times = None if curves is None else exit_times(trace, curves)
    return FlowExits(
        tuple(judge_all(trace, curves)),
        capacity_point(trace, rate),
        times,
        None if curves is None else mean_error_ratio(trace, curves),
        trace.loss_us,
        trace.stayed_in_slow_start,
        trace.origin_us,
    )


def _why_no_curves(trace: AckTrace) -> str | None:
    return "the trace does not say what was sent" if trace.snd_nxt_bytes is None else too_coarse(trace, PUBLISHED.clock)


def plot_curves(trace: AckTrace, from_us: int, to_us: int, points: int) -> ExitCurves | None:
    """SEARCH 1.0's curves within [from_us, to_us], at most `points` of them; None where the trace does not allow any."""
    if _why_no_curves(trace):
        return None
    curves = sliding_curves(trace)
    kept = _thinned(curves.time_us, from_us, to_us, points)
    return ExitCurves(
        curves.bin_us,
        curves.bin_us * PUBLISHED.bins,
        PUBLISHED.threshold_ratio,
        CAPACITY_NORM,
        *(plain(getattr(curves, column.name)[kept]) for column in fields(ExitCurves)[4:]),
    )


def plot_window(trace: AckTrace, from_us: int, to_us: int, points: int) -> SenderWindow:
    """Return the sender's view within [from_us, to_us], of at most `points` rows."""
    kept = _thinned(trace.time_us, from_us, to_us, points)
    ssthresh = trace.ssthresh_segments
    return SenderWindow(
        time_us=plain(trace.time_us[kept]),
        cwnd_segments=_picked(trace.cwnd_segments, kept),
        ssthresh_segments=_picked(ssthresh, kept, _is_at_least(ssthresh, INFINITE_SSTHRESH_SEGMENTS)),
        rtt_us=_picked(trace.rtt_us, kept, trace.rtt_us == NO_RTT),
        acked_bytes=plain(trace.acked_bytes[kept]),
        new_sent_bytes=_picked(trace.snd_nxt_bytes, kept),
        lost_segments=_picked(trace.lost_segments, kept),
    )


def plot_packet_pairs(trace: AckTrace) -> list[PacketPairs] | None:
    """The estimates of rounds 1 to 5 in arrival order, Mb/s; None where rows are not ACKs."""
    if not_by_ack(trace):
        return None
    pairs = packet_pairs(trace, Best(), rounds=PACKET_PAIR_ROUNDS)
    return [
        PacketPairs(each.number, int(trace.time_us[each.opening_row]), plain(np.round(each.rate_bps / 1e6, 3)))
        for each in pairs
    ]


def _thinned(time_us: NDArray[np.int64], from_us: int, to_us: int, points: int) -> NDArray[np.int64]:
    """Positions within the span, the first and the last among them, spread evenly."""
    first, stop = np.searchsorted(time_us, from_us, side="left"), np.searchsorted(time_us, to_us, side="right")
    if stop - first <= points:
        return np.arange(first, stop)
    return np.unique(np.linspace(first, stop - 1, points).round().astype(np.int64))


def _is_at_least(values: NDArray[np.int64] | None, limit: int) -> NDArray[np.bool_] | None:
    return None if values is None else values >= limit


def _picked(
    values: NDArray[np.int64] | None, kept: NDArray[np.int64], is_missing: NDArray[np.bool_] | None = None
) -> list[Any] | None:
    if values is None:
        return None
    if is_missing is None:
        return list(plain(values[kept]))
    return list(plain(np.where(is_missing, np.nan, values)[kept]))
