"""Activity of each hop of a flow over relays: its course in equal steps for a plot, and its totals.

Hops count from 1 at the sender. What came over a hop is counted where it ends, what was sent over it where it begins.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from downlink.domain.doc import Doc

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Columns = Mapping[str, Ints]
Values = list[float | None]

STEPS_S = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 300.0, 1_800.0)
MOST_STEPS = 300
"""Steps of a hop at most: more than a small chart shows."""


@dataclass(frozen=True)
class HopTotals:
    """Totals over the whole flow; null for what was not counted."""

    sent_bytes: Annotated[int | None, Doc("Sent over the hop, repeats among it")]
    arrived_bytes: Annotated[int | None, Doc("Payload that came for the first time")]
    lost_packets: int | None
    repaired_bytes: Annotated[int | None, Doc("Sent again on this hop")]
    hit_bytes: Annotated[int | None, Doc("Answered by its downstream end from its cache")]


@dataclass(frozen=True)
class HopSteps:
    """Each list has a value for each step, null where there is none; the list is null for what is not recorded."""

    place: Annotated[
        int | None,
        Doc("Its number from the sender; null over satellites for the hop to the receiver, whose number changes"),
    ]
    nodes: Annotated[
        list[int | None] | None,
        Doc("Which satellite ends it, by its number in the path; below 0: a station or a router"),
    ]
    asked_bps: Annotated[Values | None, Doc("Rate asked of its upstream end")]
    arrived_bps: Annotated[Values | None, Doc("Payload that came over it")]
    backlog_bytes: Annotated[Values | None, Doc("The most that waited at its upstream end")]
    queue_ms: Annotated[Values | None, Doc("One-way delay above its least")]
    rtt_ms: Values | None
    lost_packets: Values | None
    repaired_bytes: Values | None
    totals: HopTotals


COURSES = tuple(each.name for each in fields(HopSteps) if each.name not in ("place", "nodes", "totals"))


@dataclass(frozen=True)
class DrawnHops:
    """time_s: where each step begins, from the run's zero; the last one ends at end_s."""

    time_s: list[float]
    end_s: float
    hops: list[HopSteps]


def flow_hops(points: Sequence[Columns], sites: Columns, *, is_further: bool = False) -> DrawnHops:
    """The hops of one flow.

    points: traces of the sender, of each relay in order, and of the receiver; empty ones of who has none.
    sites: the table of an emulated link's relays by site; it has the rows of all of them. Empty where there is none.
    is_further: the receiver has a hop of its own from one of the sites, and no one says from which. Sites behind the last one that
    had anything are not on its way. What the site before the receiver sent there is not known: it may have sent the same to others.
    """
    ends_us = [int(each["elapsed_us"][-1]) for each in (*points, sites) if each]
    edges_us = _edges(max(ends_us, default=0))
    time_s = edges_us / 1e6
    hops = _of_sites(points[0], sites, points[-1], edges_us, is_further) if sites else _of_points(points, edges_us)
    return DrawnHops(time_s[:-1].tolist(), float(time_s[-1]), hops)


def _edges(end_us: int) -> Ints:
    """Return the edges of as few steps as show the course, in microseconds; the last one may be longer than the trace."""
    step_us = next(
        (round(each * 1e6) for each in STEPS_S if end_us <= each * 1e6 * MOST_STEPS), round(STEPS_S[-1] * 1e6)
    )
    return step_us * np.arange(-(-end_us // step_us) + 1)


def _of_points(points: Sequence[Columns], edges_us: Ints) -> list[HopSteps]:
    """Relays that are hosts: a trace for each."""
    traces = [_Trace(each, edges_us) for each in points]
    return [_course(hop, None, above, below) for hop, (above, below) in enumerate(pairwise(traces), 1)]


def _of_sites(sender: Columns, sites: Columns, receiver: Columns, edges_us: Ints, is_further: bool) -> list[HopSteps]:
    """Relays at the sites of an emulated link: rows by place; who is last on the way at its moment is before the receiver."""
    site = sites["site_place"]
    passed = site[sites["site_arrived_bytes"] > 0] if is_further else site
    places = range(1, int(passed.max(initial=0)) + 1)
    at = {each: _Site(sites, site == each, edges_us) for each in places}
    is_last = site == _last_places(sites)
    begin, end = _Trace(sender, edges_us), _Trace(receiver, edges_us)
    above = {each: begin if each == 1 else _Site(sites, (site == each - 1) & ~is_last, edges_us) for each in places}
    inner = [_course(each, at[each].nodes, above[each], at[each]) for each in places]
    before = _Trace({}, edges_us) if is_further else _Site(sites, is_last, edges_us)
    return [*inner, _course(None, None, before, end)]


def _last_places(sites: Columns) -> Ints:
    """Return for each row the last place of the path at its moment. Rows of a moment are 1 us apart; a node that has left since the
    moment before may have one more, beside that of the node that has its place now."""
    site = sites["site_place"]
    begins = np.flatnonzero(np.diff(sites["elapsed_us"], prepend=-2) > 1)
    return np.repeat(np.maximum.reduceat(site, begins), np.diff(begins, append=len(site)))


def _course(hop: int | None, nodes: list[int | None] | None, above: _End, below: _End) -> HopSteps:
    arrived = below.steps("arrived_bytes")
    return HopSteps(
        place=hop,
        nodes=nodes,
        asked_bps=_values(below.mean("asked_rate_bps")),
        arrived_bps=_values(None if arrived is None else 8e6 * arrived / below.step_us),
        backlog_bytes=_values(above.most("backlog_bytes")),
        queue_ms=_values(_in_ms(below.mean("hop_queue_us"))),
        rtt_ms=_values(_in_ms(_rtt_us(above, below))),
        lost_packets=_values(below.steps("hop_lost_packets")),
        repaired_bytes=_values(above.steps("retransmitted_bytes")),
        totals=HopTotals(
            sent_bytes=above.total("sent_bytes"),
            arrived_bytes=below.total("arrived_bytes"),
            lost_packets=below.total("hop_lost_packets"),
            repaired_bytes=above.total("retransmitted_bytes"),
            hit_bytes=below.total("cache_hit_bytes"),
        ),
    )


def _rtt_us(above: _End, below: _End) -> Floats | None:
    """Return the round trip of a hop in microseconds: by INTCP's requester, or by the sender of split TCP's connection."""
    rtts = below.mean("hop_rtt_us", above_zero=True)
    return above.mean("rtt_us", above_zero=True) if rtts is None else rtts


def _in_ms(values_us: Floats | None) -> Floats | None:
    return None if values_us is None else values_us / 1e3


def _values(values: Floats | None) -> Values | None:
    return None if values is None else [None if np.isnan(each) else float(each) for each in values]


class _End(ABC):
    """One end of a hop, in steps. None for what it does not record."""

    def __init__(self, time_us: Ints, edges_us: Ints) -> None:
        self.step_us = np.diff(edges_us)
        self._step = np.searchsorted(edges_us, time_us, side="right") - 1
        self._has_row = np.bincount(self._step, minlength=len(self.step_us))[: len(self.step_us)] > 0

    @abstractmethod
    def _gauge(self, name: str) -> Ints | None:
        """Return a gauge at each row."""

    @abstractmethod
    def steps(self, name: str) -> Floats | None:
        """Return by how much a counter rose in each step."""

    @abstractmethod
    def total(self, name: str) -> int | None:
        """Return by how much a counter rose in all."""

    def mean(self, name: str, *, above_zero: bool = False) -> Floats | None:
        """Return the mean of a gauge over the rows of each step. above_zero: rows with 0 mean that nothing was measured yet."""
        gauge = self._gauge(name)
        if gauge is None:
            return None
        counts = (gauge > 0) if above_zero else np.ones(len(gauge), np.bool_)
        size = len(self.step_us)
        rows = np.bincount(self._step[counts], minlength=size)[:size]
        sums = np.bincount(self._step[counts], weights=gauge[counts].astype(float), minlength=size)[:size]
        means: Floats = np.divide(sums, rows, out=np.full(size, np.nan), where=rows > 0)
        return means

    def most(self, name: str) -> Floats | None:
        gauge = self._gauge(name)
        if gauge is None:
            return None
        most_of = np.full(len(self.step_us) + 1, -np.inf)
        np.maximum.at(most_of, self._step, gauge.astype(float))
        return np.where(np.isinf(most_of[:-1]), np.nan, most_of[:-1])


COUNTED_AS = {"arrived_bytes": ("arrived_bytes", "received_bytes")}
"""Split TCP counts what came in order alone."""


class _Trace(_End):
    """A trace of its own, whose counters count from the flow's beginning."""

    def __init__(self, columns: Columns, edges_us: Ints) -> None:
        self._columns = columns
        self._time_us = columns["elapsed_us"] if columns else np.zeros(0, np.int64)
        self._edges_us = edges_us
        super().__init__(self._time_us, edges_us)

    def _gauge(self, name: str) -> Ints | None:
        return self._columns.get(name)

    def _counter(self, name: str) -> Ints | None:
        held = next((each for each in COUNTED_AS.get(name, (name,)) if each in self._columns), None)
        return self._columns[held] if held else None

    def steps(self, name: str) -> Floats | None:
        """Linear between the rows around an edge; before the first row nothing had come, after the last one nothing is known."""
        counter = self._counter(name)
        if counter is None or not len(counter):
            return None
        rises = np.diff(np.interp(self._edges_us, self._time_us, counter.astype(float), left=0.0))
        return np.where(self._edges_us[:-1] > self._time_us[-1], np.nan, rises)

    def total(self, name: str) -> int | None:
        counter = self._counter(name)
        return int(counter[-1]) if counter is not None and len(counter) else None


OF_SITES = {
    "arrived_bytes": "site_arrived_bytes", "sent_bytes": "site_sent_bytes", "retransmitted_bytes": "site_repaired_bytes",
    "hop_lost_packets": "site_lost_packets", "cache_hit_bytes": "site_hit_bytes", "asked_rate_bps": "site_asked_bps",
    "backlog_bytes": "site_backlog_bytes", "hop_rtt_us": "site_rtt_us", "hop_queue_us": "site_queue_us",
}  # fmt: skip


class _Site(_End):
    """Some rows of the table by site, in which amounts are what came since the node's row before."""

    def __init__(self, sites: Columns, is_here: NDArray[np.bool_], edges_us: Ints) -> None:
        self._sites = sites
        self._is_here = is_here
        super().__init__(sites["elapsed_us"][is_here], edges_us)

    @property
    def nodes(self) -> list[int | None]:
        """The last of each step."""
        nodes_of: list[int | None] = [None] * len(self.step_us)
        for step, node in zip(self._step.tolist(), self._sites["site_node"][self._is_here].tolist(), strict=True):
            if step < len(nodes_of):
                nodes_of[step] = node
        return nodes_of

    def _gauge(self, name: str) -> Ints | None:
        held = OF_SITES.get(name)
        return self._sites[held][self._is_here] if held else None

    def steps(self, name: str) -> Floats | None:
        amounts = self._gauge(name)
        if amounts is None:
            return None
        size = len(self.step_us)
        sums = np.bincount(self._step, weights=amounts.astype(float), minlength=size)[:size]
        return np.where(self._has_row, sums, np.nan).astype(float)

    def total(self, name: str) -> int | None:
        amounts = self._gauge(name)
        return None if amounts is None else int(amounts.sum())
