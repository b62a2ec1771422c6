"""Numbers of paper 004's campaigns out of their tables: by condition and cycle, as ratios, and as what is printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from downlink.analysis.fairness import jain_index
from downlink.analysis.intervals import Intervals, mean_intervals, ratio_intervals
from downlink.cli.published_table import interval, number
from study.pages.tables import Row, by_cycle

NOTHING = "-"
ALL_ON = "INTCP"
UNICAST = "INTCP-uni"
RECEIVERS = (1, 2, 4, 8, 12)
Values = Mapping[int, float]
"""Cycle to a value."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A column of metrics.csv, and how it is shown."""

    title: str
    column: str
    factor: float = 1.0
    phase: str = "overall"


GOODPUT = Quantity("Goodput, Mb/s", "goodput_bps", 1e-6)
DELAY = Quantity("One-way delay, ms", "one_way_delay_ms")
IN_ORDER = Quantity("Delay in order, ms", "in_order_delay_ms")
JITTER = Quantity("Jitter, ms", "jitter_ms")
OFFERED = Quantity("Bytes", "offered_bytes")
STEADY = Quantity("Goodput from 10 to 50 s, Mb/s", "goodput_bps", 1e-6, "steady")


def values_of(rows: Sequence[Row], condition: str, quantity: Quantity, flow: int | None = 1) -> dict[int, float]:
    return by_cycle(rows, quantity.phase, condition, flow, quantity.column)


def mean_found(values: Values, factor: float = 1.0) -> Intervals:
    return mean_intervals([value * factor for value in values.values()], least=0)


def ratio_found(own: Values, base: Values) -> Intervals:
    """Ratio over the cycles that both have."""
    cycles = sorted(own.keys() & base.keys())
    return ratio_intervals([own[cycle] for cycle in cycles], [base[cycle] for cycle in cycles])


def mean_of_flows(rows: Sequence[Row], condition: str, flows: int) -> dict[int, float]:
    """Mean of the flows in each cycle of which all have a value."""
    each = [values_of(rows, condition, GOODPUT, flow) for flow in range(1, flows + 1)]
    return {cycle: sum(own[cycle] for own in each) / flows for cycle in set.intersection(*map(set, each))}


def jain_found(rates: Sequence[Values]) -> Intervals:
    """Jain's index of flows, over the cycles of which all have a rate."""
    cycles = sorted(set.intersection(*(set(each) for each in rates)))
    indices = [float(jain_index([each[cycle] for each in rates])) for cycle in cycles]
    return mean_intervals(indices, least=1 / len(rates), most=1)


def shown(found: Intervals) -> str:
    """Mean and interval; of one run its value alone."""
    n = int(found.n)
    if n == 0:
        return NOTHING
    mean, low, high = (float(each) for each in (found.mean, found.low, found.high))
    return number(mean) if n == 1 else f"{number(mean)} ({interval(number(low), number(high))})"
