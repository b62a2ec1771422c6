"""One-way delays of a flow's blocks from its delivery table (docs/method.md, section 11).

The sender's half says when a block's last byte first left, the receiver's when all of it had arrived and when it was there in order;
they are joined by the block's number. A message that is offered at a fixed rate counts from its offer. Jitter is that of Yin et al.
2021 (INTCP): the difference of the mean delays of two seconds in a row, without its sign.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from downlink.analysis.binning import BIN_US, Floats, Ints
from downlink.analysis.sketch import Sketch, sketch
from downlink.domain.results.blockdelay import (
    DELAYS,
    IN_ORDER,
    IN_ORDER_JITTER,
    JITTER,
    KINDS,
    ONE_WAY,
    PHASE_METRICS,
    Why,
)

Columns = Mapping[str, Ints]
WHOLE_BLOCKS = 1 << 16
"""Blocks from the beginning that all have a row; of later ones each row represents several (decision 0197)."""
ERROR_MS = 5.0
ERROR_SHARE = 0.1
"""A clock's error that is above both of these, in ms and of the delay, leaves no delay to speak of."""
EARLIEST = 0.01
"""The share of messages that may seem to leave before the timetable of their offer."""
OF: dict[str, str] = {JITTER: ONE_WAY, IN_ORDER_JITTER: IN_ORDER}


@dataclass(frozen=True, slots=True)
class End:
    """The clock of one end in a run; None for what it does not report.

    boot_id: of its kernel. zero_us: the run's zero on that kernel's monotonic clock. error_ms: how sure it was of the server's
    clock, so that the run's zero was the same moment for both.
    """

    boot_id: str | None
    zero_us: int | None
    error_ms: float | None


@dataclass(frozen=True, slots=True)
class Clock:
    """shift_us: to be added to the receiver's moments to have them on the sender's clock. error_ms: by how much that may be wrong."""

    shift_us: int
    error_ms: float | None


@dataclass(frozen=True, slots=True)
class Spread:
    """n: blocks, or pairs of seconds."""

    mean_ms: float
    median_ms: float
    p5_ms: float
    p95_ms: float
    n: int


@dataclass(frozen=True)
class FlowDelays:
    """The blocks of which both halves have a row. second: (n,) in which each left or was offered, from the flow's first data byte.
    weights: (n,) the blocks that each represents. delays_ms: by kind (n,). why: of each kind that has no value."""

    second: Ints
    weights: Ints
    delays_ms: Mapping[str, Floats]
    error_ms: float | None
    why: Mapping[str, Why] = field(default_factory=dict)

    @cached_property
    def by_second(self) -> Mapping[str, Floats]:
        """Mean of each kind of delay in each second from 0 on, in ms; NaN where no block left."""
        bins = int(self.second.max()) + 1 if len(self.second) else 0
        weight = np.bincount(self.second, self.weights, bins)
        with np.errstate(invalid="ignore"):
            return {
                kind: np.bincount(self.second, self.weights * values, bins) / weight
                for kind, values in self.delays_ms.items()
            }

    def values(self, kind: str) -> tuple[Floats, Ints]:
        """All values of a kind, and how much each counts; none where there is a reason against it."""
        if kind in self.why:
            return np.zeros(0), np.zeros(0, np.int64)
        if kind in OF:
            steps = _steps(self.by_second[OF[kind]])
            return steps, np.ones(len(steps), np.int64)
        return self.delays_ms[kind], self.weights

    def spread(self, kind: str) -> Spread | None:
        values, weights = self.values(kind)
        if not len(values):
            return None
        p5, median, p95 = np.quantile(values, (0.05, 0.5, 0.95), weights=weights, method="inverted_cdf")
        return Spread(float(np.average(values, weights=weights)), float(median), float(p5), float(p95), len(values))

    def sketch(self, kind: str) -> Sketch:
        return sketch(*self.values(kind))

    def of_phase(self, inside: NDArray[np.bool_]) -> Mapping[str, float]:
        """`PHASE_METRICS` over the seconds that are inside (seconds of the flow,); NaN where missing."""
        is_within = np.append(inside, False)[np.minimum(self.second, len(inside))]
        values = {}
        for name, kind in PHASE_METRICS.items():
            if kind in OF:
                values[name] = self._phase_jitter(kind, inside)
            elif kind in self.why or not is_within.any():
                values[name] = math.nan
            else:
                values[name] = float(np.average(self.delays_ms[kind][is_within], weights=self.weights[is_within]))
        return values

    def _phase_jitter(self, kind: str, inside: NDArray[np.bool_]) -> float:
        """Return the jitter over pairs of consecutive seconds that are both inside, in ms."""
        if kind in self.why:
            return math.nan
        means = self.by_second[OF[kind]][: len(inside)]
        steps = _steps(np.where(inside[: len(means)], means, np.nan))
        return float(steps.mean()) if len(steps) else math.nan


def common_clock(sender: End, receiver: End) -> Clock:
    """Return the relation of both ends' clocks. On one kernel they are one clock, and the runs' zeros on it are known. Else the zeros
    are one moment of the server's clock, with the accuracy that each end states."""
    is_one = sender.boot_id is not None and sender.boot_id == receiver.boot_id
    if is_one and sender.zero_us is not None and receiver.zero_us is not None:
        return Clock(receiver.zero_us - sender.zero_us, 0.0)
    return Clock(0, joint_error_ms(sender, receiver))


def joint_error_ms(sender: End, receiver: End) -> float | None:
    """Return by how many milliseconds both ends' estimates of the server's clock may differ; None if one does not state its accuracy."""
    if sender.error_ms is None or receiver.error_ms is None:
        return None
    return sender.error_ms + receiver.error_ms


def flow_delays(
    sent: Columns, delivered: Columns, clock: Clock, first_byte_us: int, every_us: int | None = None
) -> FlowDelays:
    """sent: `block` and `sent_at_us`. delivered: `block`, `delivered_at_us` and, where known, `arrived_at_us`. Moments are of each end's
    own clock, from the run's zero. first_byte_us: the flow's first data byte on the sender's. every_us: from one message to the next,
    where blocks are messages that are offered at a fixed rate (decision 0210); None: a block counts from when it left."""
    if not sent or not delivered:
        return _none(Why.HALF_MISSING, clock)
    block, in_sent, in_delivered = np.intersect1d(sent["block"], delivered["block"], return_indices=True)
    if not len(block):
        return _none(Why.NO_COMMON_BLOCKS, clock)
    since_us = sent["sent_at_us"][in_sent] if every_us is None else _offered_us(sent, every_us)[in_sent]
    columns: dict[str, str] = {ONE_WAY: "arrived_at_us", IN_ORDER: "delivered_at_us"}
    delays_ms = {
        kind: (delivered[name][in_delivered] + clock.shift_us - since_us) / 1e3
        for kind, name in columns.items()
        if name in delivered
    }
    second = np.maximum(since_us - first_byte_us, 0) // BIN_US
    delays = FlowDelays(second, rows_stand_for(block), delays_ms, clock.error_ms)
    return replace(delays, why=_reasons(delays))


def _offered_us(sent: Columns, every_us: int) -> Ints:
    """Return when each message was offered, in microseconds: the sender's program keeps its timetable, no message leaves before its
    moment, and those that waited least left at once. One stamp in a hundred may be wrong."""
    due = sent["block"] * every_us
    zero_us = np.quantile(sent["sent_at_us"] - due, EARLIEST, method="inverted_cdf")
    offered: Ints = due + np.int64(zero_us)
    return offered


def rows_stand_for(block: Ints) -> Ints:
    """Return how many blocks share one row around each of these: 1, from block 65,536 on 2, from 131,072 on 4, and so on."""
    doublings = np.frexp((block // WHOLE_BLOCKS).astype(float))[1]
    stood_for: Ints = np.left_shift(1, doublings.astype(np.int64))
    return stood_for


def _none(why: Why, clock: Clock) -> FlowDelays:
    empty = np.zeros(0, np.int64)
    return FlowDelays(empty, empty, {}, clock.error_ms, dict.fromkeys(KINDS, why))


def _reasons(delays: FlowDelays) -> Mapping[str, Why]:
    """A constant difference of the clocks is in every delay and in no difference of two: jitter needs no common clock."""
    why: dict[str, Why] = {}
    if ONE_WAY not in delays.delays_ms:
        why |= {ONE_WAY: Why.ORDER_ONLY, JITTER: Why.ORDER_ONLY}
    mean_ms = float(np.average(delays.delays_ms.get(ONE_WAY, delays.delays_ms[IN_ORDER]), weights=delays.weights))
    if unsure := _of_clock(delays.error_ms, mean_ms):
        why |= dict.fromkeys(DELAYS, unsure) | why
    for kind in (each for each in OF if each not in why):
        if not len(_steps(delays.by_second[OF[kind]])):
            why[kind] = Why.TOO_SHORT
    return why


def _of_clock(error_ms: float | None, mean_ms: float) -> Why | None:
    if error_ms is None:
        return Why.CLOCK_UNKNOWN
    if error_ms > max(ERROR_MS, ERROR_SHARE * mean_ms):
        return Why.CLOCK_UNSURE
    return Why.BELOW_ZERO if mean_ms < 0 else None


def _steps(means: Floats) -> Floats:
    """Return the differences between consecutive seconds that both have a mean."""
    steps: Floats = np.abs(np.diff(means))
    return steps[~np.isnan(steps)]
