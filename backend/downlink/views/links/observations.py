"""Quantities of links beside what runs measured: strips over time, and rank correlations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import datetime, timedelta
from typing import Annotated
from uuid import UUID

from downlink.analysis.rank import rank_correlation
from downlink.domain.doc import Doc
from downlink.domain.moment import Moment
from downlink.storage.links import observation_store
from downlink.storage.unit import Unit
from downlink.views.results.days import MOST_RUNS, campaign_day

POINTS = 400
"""Points of one strip: more than the width of a page cannot be seen."""
NEAR = timedelta(minutes=15)
"""A run in which nothing was observed takes the last value before it, this old at most."""


@dataclass(frozen=True)
class StripBin:
    at: Annotated[Moment, Doc("The mean of the moments in it")]
    low: float
    mean: float
    high: float


@dataclass(frozen=True)
class Strip:
    link: str
    quantity: str
    unit: str
    source: str
    bins: Annotated[list[StripBin], Doc("Stretches of time with values, each with its least, mean and greatest one")]


@dataclass(frozen=True)
class StripList:
    items: list[Strip]


@dataclass(frozen=True)
class Correlation:
    link: str
    condition: str
    flow: int
    quantity: str
    source: str
    n: Annotated[int, Doc("Complete runs that have both")]
    rho: Annotated[float | None, Doc("Spearman's rank correlation")]
    low: Annotated[float | None, Doc("Its 95 % interval (docs/method.md)")]
    high: float | None
    why: Annotated[str, Doc("Why a number is missing; empty otherwise")]


@dataclass(frozen=True)
class CorrelationList:
    phase: str
    metric: str
    items: list[Correlation]


def strips(
    unit: Unit,
    links: Sequence[str],
    from_at: datetime,
    to_at: datetime,
    points: int = POINTS,
    quantity: str | None = None,
) -> StripList:
    """Return the observations of these links in a span."""
    units = {(row.link, row.quantity, row.source): row.unit for row in observation_store.list_quantities(unit, links)}
    bins_of: dict[tuple[str, str, str], list[StripBin]] = defaultdict(list)
    for each in observation_store.bins(unit, links, from_at, to_at, points, quantity):
        bins_of[each.link, each.quantity, each.source].append(StripBin(each.at, each.low, each.mean, each.high))
    return StripList(
        [Strip(link, name, units[link, name, source], source, bins) for (link, name, source), bins in bins_of.items()]
    )


def campaign_strips(unit: Unit, campaign_id: UUID) -> StripList:
    """Return the observations of a campaign's links, over the time of its runs."""
    day = campaign_day(unit, campaign_id, "overall", "throughput_bps", is_own_alone=True)
    if day.from_at is None or day.to_at is None:
        return StripList([])
    return strips(unit, [each.link for each in day.links], day.from_at, day.to_at)


def correlations(unit: Unit, campaign_id: UUID, phase: str, metric: str) -> CorrelationList:
    """Correlate each quantity of a link with the metric, for each group of complete runs (link, condition, flow)."""
    day = campaign_day(unit, campaign_id, phase, metric, is_own_alone=True)
    means: dict[UUID, list[observation_store.RunMean]] = defaultdict(list)
    for each in observation_store.run_means(unit, campaign_id, NEAR.total_seconds(), MOST_RUNS):
        means[each.run_id].append(each)
    pairs: dict[tuple[str, str, int, str, str], tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for run in day.runs:
        for seen in means.get(run.id, []):
            for value in run.values:
                key = (run.link, run.condition, value.flow, seen.quantity, seen.source)
                pairs[key][0].append(seen.value)
                pairs[key][1].append(value.value)
    correlated = [Correlation(*key, *astuple(rank_correlation(x, y))) for key, (x, y) in sorted(pairs.items())]
    return CorrelationList(phase, metric, correlated)
