"""An emulated link's log: the bytes that its hop sent and could have sent, and its course for a plot.

Columns are those of `link-fields.csv`, a row each 10 ms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from downlink.domain.doc import Doc
from downlink.domain.traces.sample import WAYS, WayName

"""Why a link loses packets. Thinned acknowledgements are no loss to their flow: later ones say the same."""
DRAWN_STEPS = 1_200
"""Steps that are drawn at most: more than a screen shows."""

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class HopLog:
    """The hop to the receiver on a flow's clock: at each row what it has sent so far, and what it could have sent at its rate."""

    time_us: Ints
    sent_bytes: NDArray[np.float64]
    room_bytes: NDArray[np.float64]


def hop_log(columns: Mapping[str, Ints], first_byte_us: int) -> HopLog:
    """first_byte_us: the flow's first data byte on the run's clock, from which the hop's times count."""
    elapsed_us = columns["elapsed_us"]
    before_hop = ("queue_full_bytes", "early_drop_bytes", "thinned_bytes", "waiting_bytes")
    sent = columns["down_received_bytes"] - sum(columns[f"down_{name}"] for name in before_hop)
    room = np.cumsum(columns["down_rate_bps"][:-1] * np.diff(elapsed_us)) / 8e6
    return HopLog(elapsed_us - first_byte_us, sent.astype(np.float64), np.concatenate(([0.0], room)))


def waits_ms(hop: HopLog, waiting_bytes: Ints) -> NDArray[np.float64]:
    """The one-way queueing time at each row: until the hop could have sent all that waits there, gaps and changes of rate included.
    0 where nothing waits, also in a gap; NaN where the queue outlasts the log."""
    ahead = hop.room_bytes + waiting_bytes
    waits = (np.interp(ahead, hop.room_bytes, hop.time_us) - hop.time_us) / 1e3
    waits_of: NDArray[np.float64] = np.where(
        waiting_bytes == 0, 0, np.where(ahead <= hop.room_bytes[-1:], waits, np.nan)
    )
    return waits_of


@dataclass(frozen=True)
class LinkCauses:
    """Bytes lost in each step, by cause."""

    queue_full: list[int]
    early_drop: list[int]
    random_loss: list[int]
    outage: list[int]
    handover: list[int]
    path_change: list[int]
    thinned: list[int]


CAUSES = tuple(each.name for each in fields(LinkCauses))


@dataclass(frozen=True)
class LinkWay:
    """One way of an emulated link, in steps."""

    waiting_bytes: Annotated[list[int], Doc("The most that waited for the hop in the step")]
    rate_bps: Annotated[list[float], Doc("The hop's rate, mean over the step")]
    delivered_bps: list[float]
    delay_ms: Annotated[list[float], Doc("Behind the hop, mean over the step")]
    gap_s: Annotated[list[float], Doc("Time in handover gaps")]
    outage_s: Annotated[list[float], Doc("Time in outages, whether or not a packet met them")]
    lost_bytes: LinkCauses


@dataclass(frozen=True)
class LinkWays:
    down: Annotated[LinkWay, Doc("To the receiver")]
    up: LinkWay


@dataclass(frozen=True)
class DrawnLink:
    """time_s: where each step begins, from the run's zero; the last one ends at end_s. path_changes_s: when the link had another
    path than at the row before."""

    time_s: list[float]
    end_s: float
    path_changes_s: list[float]
    ways: LinkWays


def drawn_link(columns: Mapping[str, Ints], most: int = DRAWN_STEPS) -> DrawnLink:
    """The log thinned for a plot: no peak of the queue and no loss is left out. Empty for fewer than two rows."""
    elapsed_us = columns["elapsed_us"]
    rows = len(elapsed_us)
    edges = np.append(np.arange(0, rows - 1, max(1, -(-(rows - 1) // most))), rows - 1) if rows > 1 else np.arange(0)
    time_s = elapsed_us[edges] / 1e6
    return DrawnLink(
        time_s=time_s[:-1].tolist(),
        end_s=float(time_s[-1]) if rows > 1 else 0.0,
        path_changes_s=_path_changes_s(columns),
        ways=LinkWays(*(_drawn_way(columns, way, edges, np.diff(time_s)) for way in WAYS)),
    )


def _path_changes_s(columns: Mapping[str, Ints]) -> list[float]:
    """None for a log of a time in which links had no path."""
    if "down_path" not in columns:
        return []
    later = np.flatnonzero(np.diff(columns["down_path"])) + 1
    changes_s: list[float] = (columns["elapsed_us"][later] / 1e6).tolist()
    return changes_s


def _drawn_way(columns: Mapping[str, Ints], way: str, edges: Ints, lasts_s: NDArray[np.float64]) -> LinkWay:
    def column(name: str) -> Ints:
        return columns[f"{way}_{name}"]

    def rise(name: str) -> Ints:
        return np.diff(column(name)[edges])

    def lost(name: str) -> list[int]:
        """0 for a cause that links did not have when the log was written."""
        return rise(name).tolist() if f"{way}_{name}" in columns else [0] * len(lasts_s)

    def mean(name: str) -> NDArray[np.float64]:
        return np.add.reduceat(column(name)[:-1], edges[:-1]) / np.diff(edges)

    if len(edges) == 0:
        return LinkWay([], [], [], [], [], [], LinkCauses([], [], [], [], [], [], []))
    return LinkWay(
        waiting_bytes=np.maximum.reduceat(column("waiting_bytes")[:-1], edges[:-1]).tolist(),
        rate_bps=mean("rate_bps").tolist(),
        delivered_bps=(8 * rise("delivered_bytes") / lasts_s).tolist(),
        delay_ms=(mean("delay_us") / 1e3).tolist(),
        gap_s=(rise("gap_us") / 1e6).tolist(),
        outage_s=(rise("outage_us") / 1e6).tolist(),
        lost_bytes=LinkCauses(**{cause: lost(f"{cause}_bytes") for cause in CAUSES}),
    )


InterruptionKind = Literal["outage", "handover"]


@dataclass(frozen=True)
class Interruption:
    """A stretch of time in which one way of a link was held up, to the steps of its log; from the run's zero.

    kind: `outage`, or `handover` for a gap between two of its slots.
    """

    kind: InterruptionKind
    way: WayName
    from_us: int
    to_us: int


INTERRUPTIONS: dict[InterruptionKind, str] = {"outage": "outage_us", "handover": "gap_us"}


def interruptions(columns: Mapping[str, Ints]) -> list[Interruption]:
    """Outages and handover gaps by their beginning. What the next row goes on with is one of them."""
    gaps = [
        Interruption(kind, way, int(first), int(last))
        for kind, name in INTERRUPTIONS.items()
        for way in WAYS
        for first, last in _rising(columns["elapsed_us"], columns[f"{way}_{name}"])
    ]
    return sorted(gaps, key=lambda each: (each.from_us, each.kind, each.way))


def _rising(elapsed_us: Ints, counter: Ints) -> Ints:
    """Pairs of moments between which a counter rises in every step."""
    is_rising = np.concatenate(([False], np.diff(counter) > 0, [False])) if len(counter) else np.zeros(1, np.bool_)
    edges = np.flatnonzero(np.diff(is_rising)).reshape(-1, 2)
    return elapsed_us[edges]
