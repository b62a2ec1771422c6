"""Quantities of links beside what runs measured: strips over time, and rank correlations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from downlink.analysis.rank import RankCorrelation, rank_correlation
from downlink.storage.links import observation_store
from downlink.storage.links.observation_store import Bin
from downlink.storage.unit import Unit
from downlink.views.results.days import MOST_RUNS, campaign_day

POINTS = 400
"""Of one strip: more than a page is wide cannot be seen."""
NEAR = timedelta(minutes=15)
"""A run in which nothing was observed takes the last value before it, this old at most."""


@dataclass(frozen=True)
class Strip:
    """One quantity of one link over time; each bin with its least, mean and greatest value."""

    link: str
    quantity: str
    unit: str
    source: str
    bins: list[Bin]


@dataclass(frozen=True)
class Correlated:
    """One quantity against one metric over the runs of one group."""

    link: str
    condition: str
    flow: int
    quantity: str
    source: str
    found: RankCorrelation


def strips(
    unit: Unit,
    links: Sequence[str],
    from_at: datetime,
    to_at: datetime,
    points: int = POINTS,
    quantity: str | None = None,
) -> list[Strip]:
    """Return the observations of these links in a span."""
    units = {(row.link, row.quantity, row.source): row.unit for row in observation_store.list_quantities(unit, links)}
    found: dict[tuple[str, str, str], list[Bin]] = defaultdict(list)
    for each in observation_store.bins(unit, links, from_at, to_at, points, quantity):
        found[each.link, each.quantity, each.source].append(each)
    return [Strip(link, name, units[link, name, source], source, bins) for (link, name, source), bins in found.items()]


def campaign_strips(unit: Unit, campaign_id: UUID) -> list[Strip]:
    """Return the observations of a campaign's links, over the time of its runs."""
    day = campaign_day(unit, campaign_id, "overall", "throughput_bps", is_own_alone=True)
    if day.from_at is None or day.to_at is None:
        return []
    return strips(unit, [each.link for each in day.links], day.from_at, day.to_at)


def correlations(unit: Unit, campaign_id: UUID, phase: str, metric: str) -> list[Correlated]:
    """Correlate each quantity of a link with the metric, for each group of complete runs (link, condition, flow)."""
    day = campaign_day(unit, campaign_id, phase, metric, is_own_alone=True)
    means: dict[UUID, list[observation_store.RunMean]] = defaultdict(list)
    for each in observation_store.run_means(unit, campaign_id, NEAR.total_seconds(), MOST_RUNS):
        means[each.run_id].append(each)
    pairs: dict[tuple[str, str, int, str, str], tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for run in day.runs:
        for seen in means.get(run["id"], []):
            for value in run["values"]:
                key = (run["link"], run["condition"], value["flow"], seen.quantity, seen.source)
                pairs[key][0].append(seen.value)
                pairs[key][1].append(value["value"])
    return [Correlated(*key, rank_correlation(x, y)) for key, (x, y) in sorted(pairs.items())]
