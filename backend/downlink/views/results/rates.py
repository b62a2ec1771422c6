"""Rates of a campaign's flows: over all seconds of its complete runs, for each flow of each condition on each link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from downlink.analysis.binning import Floats
from downlink.analysis.rates import RateSeconds, rate_seconds
from downlink.domain.doc import Doc
from downlink.domain.results.blockdelay import RATES
from downlink.domain.results.metric import QUANTITIES
from downlink.storage.results import judgement_store
from downlink.storage.tables import StoredSeries
from downlink.storage.unit import Unit
from downlink.views.results.delays import SHARES
from downlink.views.results.flows import Flows, Group, complete_flows, run_ids
from downlink.views.results.material import Made, no_bins, values_of


@dataclass(frozen=True)
class RateGroup:
    """One flow of one condition on one link, over its complete runs."""

    link: str
    condition: str
    flow: int
    cc: str
    runs: int
    rates: list[RateSeconds]


@dataclass(frozen=True)
class CampaignRates:
    campaign_id: UUID
    shares: Annotated[list[float], Doc("Of all seconds, 0 to 1: where quantiles are given")]
    groups: Annotated[list[RateGroup], Doc("Empty where no run is complete")]


def campaign_rates(
    unit: Unit, campaign_id: UUID, flows: Flows | None = None, made: Made | None = None
) -> CampaignRates:
    """Compute the rates from the stored series. flows, made: the campaign's flows, and the records of its report, if they were just
    read."""
    flows = complete_flows(unit, [campaign_id]) if flows is None else flows
    series = _series(unit, flows, made)
    groups = [
        _group(group, [series.get((str(run.id), flow.flow), no_bins()) for run, flow in members])
        for group, members in flows.items()
        if not any(flow.is_probe for _, flow in members)
    ]
    return CampaignRates(campaign_id, list(SHARES), groups)


def _series(unit: Unit, flows: Flows, made: Made | None) -> Mapping[tuple[str, int], Floats]:
    """Run and flow to its seconds (QUANTITIES, bins)."""
    if made is not None:
        return {(record.run, record.flow): record.series for record in made[1]}
    return {
        (str(row.run_id), row.flow): values_of(row) for row in judgement_store.rows(unit, StoredSeries, run_ids(flows))
    }


def _group(group: Group, series: Sequence[Floats]) -> RateGroup:
    rates = [rate_seconds(name, [each[QUANTITIES.index(name)] for each in series], SHARES) for name in RATES]
    return RateGroup(group.link, group.condition, group.flow, group.cc, len(series), rates)
