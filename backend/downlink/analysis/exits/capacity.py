"""The capacity point: when slow start had nothing more to gain. No detector's own curve decides it (decision 0051).

Where an emulated link was logged: the first time that its hop was busy for a least RTT. Where the link's rate is known: the first
time that rate x least RTT was in flight. Else the delivery plateau: the first time that
the rate of delivery over one least RTT reached 90 % of its highest over two.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from downlink.analysis.exits.trace import AckTrace, Ints
from downlink.analysis.linklog import HopLog

Floats = NDArray[np.float64]

PLATEAU_RATIO = 0.9
PLATEAU_RTTS = 2
BUSY_RATIO = 0.95
"""Share of what a hop could send in a least RTT, with a little room for the rows of its log, which are 10 ms apart."""
HELD_BACK_RATIO = 1.25
"""A window this much larger than what was in flight at most did not hold the flow: something else did."""


class Basis(StrEnum):
    """The evidence for a capacity point."""

    LINK_LOG = "link_log"
    EMULATED_RATE = "emulated_rate"
    NOMINAL_RATE = "nominal_rate"
    PLATEAU = "plateau"


@dataclass(frozen=True)
class LinkRate:
    """The rate of the link that a flow has to itself. An emulated one is a fact, a nominal one what somebody says of it.

    log: what the hop of an emulated link sent, where that was logged.
    """

    bps: float
    is_emulated: bool = False
    log: HopLog | None = None


@dataclass(frozen=True)
class Capacity:
    """at_us: since the flow's first data byte; None when capacity was never reached. rate_bps: the link's, or the plateau's."""

    at_us: int | None
    basis: Basis
    rate_bps: float | None
    least_rtt_us: int


def capacity_point(trace: AckTrace, rate: LinkRate | None = None) -> Capacity | None:
    """rate: None where nobody knows it, or where several flows share the link. None without any RTT to measure by."""
    rtt_us = trace.least_rtt_us
    if rtt_us is None:
        return None
    by_log = _by_log(trace, rate.log, rtt_us) if rate and rate.log else None
    return by_log or (_by_rate(trace, rate, rtt_us) if rate else None) or _by_plateau(trace, rtt_us)


def _by_log(trace: AckTrace, log: HopLog, rtt_us: int) -> Capacity | None:
    """Return when the hop had sent all that it could over a whole least RTT, before the first loss; None if the log cannot decide
    that."""
    sent, room = (_growth(log.time_us, counter, rtt_us) for counter in (log.sent_bytes, log.room_bytes))
    is_before_loss = log.time_us <= (trace.time_us[-1] if trace.loss_us is None else trace.loss_us)
    full = np.flatnonzero((room > 0) & (sent >= BUSY_RATIO * room) & is_before_loss)
    if full.size:
        at = full[0]
        return Capacity(int(log.time_us[at]), Basis.LINK_LOG, float(room[at]) * 8e6 / rtt_us, rtt_us)
    if trace.snd_nxt_bytes is None:
        return None
    in_flight = (trace.snd_nxt_bytes - trace.acked_bytes)[: trace.loss_row]
    is_decided = in_flight.size > 0 and _is_held_by_cwnd(trace, int(in_flight.argmax()))
    return Capacity(None, Basis.LINK_LOG, None, rtt_us) if is_decided else None


def _by_rate(trace: AckTrace, rate: LinkRate, rtt_us: int) -> Capacity | None:
    """None where the rate cannot decide. What is in flight after the first loss is not known from what was acknowledged."""
    if trace.snd_nxt_bytes is None:
        return None
    in_flight = (trace.snd_nxt_bytes - trace.acked_bytes)[: trace.loss_row]
    full = np.flatnonzero(in_flight * 8e6 >= rate.bps * rtt_us)
    basis = Basis.EMULATED_RATE if rate.is_emulated else Basis.NOMINAL_RATE
    if full.size:
        return Capacity(int(trace.time_us[full[0]]), basis, rate.bps, rtt_us)
    # A nominal rate may be more than the link ever gives, and a window or an application can hold a flow below any rate.
    is_decided = rate.is_emulated and in_flight.size > 0 and _is_held_by_cwnd(trace, int(in_flight.argmax()))
    return Capacity(None, basis, rate.bps, rtt_us) if is_decided else None


def _is_held_by_cwnd(trace: AckTrace, row: int) -> bool:
    """Return whether the congestion window kept more from being in flight; True if it is not on record."""
    if trace.cwnd_segments is None or trace.snd_nxt_bytes is None:
        return True
    in_flight = int(trace.snd_nxt_bytes[row] - trace.acked_bytes[row])
    return int(trace.cwnd_segments[row]) * int(trace.mss_bytes[row]) <= HELD_BACK_RATIO * in_flight


def _by_plateau(trace: AckTrace, rtt_us: int) -> Capacity:
    """Out of slow start alone where it lasted to the loss and met a plateau there; else out of the whole trace."""
    delivered = _delivered_bytes(trace)
    stops = (None,) if trace.stayed_in_slow_start is False or trace.loss_row is None else (trace.loss_row, None)
    plateaus = [_plateau(trace.time_us[: len(delivered)][:stop], delivered[:stop], rtt_us) for stop in stops]
    return next((each for each in plateaus if each.at_us is not None), plateaus[-1])


def _plateau(time_us: Ints, delivered: Floats, rtt_us: int) -> Capacity:
    """A flow that reached the level in its last RTT was still growing: it has no plateau."""
    never = Capacity(None, Basis.PLATEAU, None, rtt_us)
    growth = _growth(time_us, delivered, PLATEAU_RTTS * rtt_us) / PLATEAU_RTTS
    if not np.any(growth > 0):
        return never
    highest = float(np.nanmax(growth))
    reached = np.flatnonzero(_growth(time_us, delivered, rtt_us) >= PLATEAU_RATIO * highest)
    if reached.size == 0 or time_us[reached[0]] > time_us[-1] - rtt_us:
        return never
    return Capacity(int(time_us[reached[0]]), Basis.PLATEAU, highest * 8e6 / rtt_us, rtt_us)


def _delivered_bytes(trace: AckTrace) -> Floats:
    """Cumulatively, as the receiver got them. Acknowledgements alone end at the first loss: they jump when it is repaired."""
    if trace.delivered_segments is None:
        return trace.acked_bytes[: trace.loss_row].astype(np.float64)
    return np.cumsum(np.diff(trace.delivered_segments, prepend=0) * trace.mss_bytes).astype(np.float64)


def _growth(time_us: Ints, counter: Floats, span_us: int) -> Floats:
    """Growth of a counter over the time before each row, linear between rows; NaN where that begins before the first row."""
    before = np.interp(time_us - span_us, time_us, counter)
    return np.where(time_us - span_us >= time_us[0], counter - before, np.nan)
