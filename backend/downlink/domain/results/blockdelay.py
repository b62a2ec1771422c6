"""Delays of a flow's blocks, and the reasons for which they may be unknown."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, get_args

DelayKind = Literal["one_way_delay", "in_order_delay", "jitter", "in_order_jitter"]
KINDS: tuple[DelayKind, ...] = get_args(DelayKind)
"""Delays of blocks from when they first left the sender: until all of one had arrived, and until it was there in order. Then
changes of their means from one second to the next."""
ONE_WAY, IN_ORDER, JITTER, IN_ORDER_JITTER = KINDS
DELAYS = (ONE_WAY, IN_ORDER)
"""Delays that need both clocks."""
PHASE_METRICS = {"one_way_delay_ms": ONE_WAY, "in_order_delay_ms": IN_ORDER, "jitter_ms": JITTER}
"""Metrics of a phase that are made of a flow's delivery table."""
Rate = Literal["throughput_bps", "goodput_bps"]
RATES: tuple[Rate, ...] = get_args(Rate)
"""Metrics whose single seconds have a distribution."""
DISTRIBUTED = (*PHASE_METRICS, *RATES)
"""Metrics of which a campaign has the distribution over all blocks, pairs of seconds or seconds of its runs."""


class Why(StrEnum):
    """Reasons for which there is no value."""

    NO_TABLE = "no_table"
    HALF_MISSING = "half_missing"
    NO_COMMON_BLOCKS = "no_common_blocks"
    ORDER_ONLY = "order_only"
    CLOCK_UNKNOWN = "clock_unknown"
    CLOCK_UNSURE = "clock_unsure"
    BELOW_ZERO = "below_zero"
    TOO_SHORT = "too_short"


SENTENCES = {
    Why.NO_TABLE: "No delivery table was kept; ask for it with deliveries: true in the campaign file.",
    Why.HALF_MISSING: "One end's half of the delivery table is missing.",
    Why.NO_COMMON_BLOCKS: "The two halves of the delivery table have no block in common.",
    Why.ORDER_ONLY: "The receiver knows only when blocks were there in order.",
    Why.CLOCK_UNKNOWN: "An end did not say how sure it was of its clock.",
    Why.CLOCK_UNSURE: "The clocks of both ends may differ by more than 5 ms and more than a tenth of the delay.",
    Why.BELOW_ZERO: "Blocks seem to arrive before they left: the clocks differ by more than their errors say.",
    Why.TOO_SHORT: "No two seconds in a row have blocks.",
}
