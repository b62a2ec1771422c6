"""Values of each run of a campaign, as they are stored beside the report, and the questions to them: one quantity, another baseline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

import orjson

from downlink.analysis.intervals import plain
from downlink.analysis.values import RunValues, compare_runs, values_from
from downlink.domain.doc import As, Doc
from downlink.domain.errors import InvalidError, NotFoundError
from downlink.domain.results.metric import phase_metric_of
from downlink.storage.campaigns import campaign_store
from downlink.storage.tables import Campaign
from downlink.storage.unit import Unit
from downlink.views.results.reports import CampaignStatistics, kept_answer
from downlink.views.shapes import PHASE, Column


@dataclass(frozen=True)
class Offered:
    """A quantity of which any run has a value."""

    phase: Annotated[str, Doc(PHASE)]
    metric: str


@dataclass(frozen=True)
class ValuesOfRuns:
    """One flow of one condition on one link: a value of each run."""

    link: str
    condition: str
    flow: Annotated[int, Doc("0: of the emulated link itself")]
    cc: Annotated[str, Doc("Empty for a link itself")]
    run_ids: Annotated[Sequence[str], As(list[UUID])]
    cycles: Sequence[int]
    values: Column
    not_within: Annotated[
        list[bool], Doc("Of times: true where a run did not come to it; its value is then the time that was watched")
    ]


@dataclass(frozen=True)
class CampaignValues:
    campaign_id: UUID
    phase: Annotated[str, Doc(PHASE)]
    metric: str
    offered: Annotated[list[Offered], Doc("What can be asked for")]
    sides: list[ValuesOfRuns]


def stored_sides(unit: Unit, campaign_id: UUID) -> list[RunValues]:
    """Return the sides by link, then condition in the campaign's order and flow; those of emulated links come last."""
    return [values_from(side) for side in orjson.loads(kept_answer(unit, campaign_id, "values"))["sides"]]


def values_at(unit: Unit, campaign_id: UUID, phase: str, metric: str) -> CampaignValues:
    """One quantity of every run, and what else can be asked for. NotFoundError where no run can have it."""
    sides = stored_sides(unit, campaign_id)
    quantity = (phase, metric)
    if sides and not any(quantity in side.places for side in sides):
        raise NotFoundError("quantity_not_found", _without(sides, phase, metric))
    known = [Offered(*each) for each in dict.fromkeys(each for side in sides for each in side.known)]
    return CampaignValues(
        campaign_id, phase, metric, known, [_at(side, quantity) for side in sides if quantity in side.places]
    )


def _without(sides: Sequence[RunValues], phase: str, metric: str) -> str:
    """Name the quantities that exist instead."""
    places = [quantity for side in sides for quantity in side.known]
    if metrics := dict.fromkeys(name for known, name in places if known == phase):
        return f"The runs have no {metric} in the phase {phase}; they have: {', '.join(metrics)}."
    return f"The runs have no phase {phase}; they have: {', '.join(dict.fromkeys(known for known, _ in places))}."


def _at(side: RunValues, quantity: tuple[str, str]) -> ValuesOfRuns:
    values, not_within = side.at(quantity)
    return ValuesOfRuns(
        side.link, side.condition, side.flow, side.cc, side.runs, side.cycles, plain(values), not_within.tolist()
    )


def statistics_of(unit: Unit, campaign_id: UUID, phase: str) -> CampaignStatistics:
    """The comparisons with the campaign's own baseline, of one phase and of what is tested. InvalidError for what is no phase."""
    check_phase(phase, campaign_store.campaign_of(campaign_store.find_campaign(unit, campaign_id)).phases.names)
    stored = orjson.loads(kept_answer(unit, campaign_id, "statistics"))
    comparisons = [each for each in stored["comparisons"] if each["phase"] == phase or each["is_primary"]]
    return CampaignStatistics(campaign_id, stored["primary_metrics"], comparisons, stored["outliers"])


def statistics_against(unit: Unit, campaign_id: UUID, baseline: str, phase: str | None) -> CampaignStatistics:
    """The comparisons with this baseline, of one phase and of what is tested, or of all. Where it is not the campaign's own, p values
    are adjusted for every pair of conditions. InvalidError for what is no condition of the campaign."""
    campaign = campaign_store.find_campaign(unit, campaign_id)
    check_baseline(campaign, baseline)
    spec = campaign_store.campaign_of(campaign)
    if phase is not None:
        check_phase(phase, spec.phases.names)
    primary = [phase_metric_of(name) for name in spec.primary_metrics]
    compared = compare_runs(
        _in_phase(stored_sides(unit, campaign_id), phase, primary),
        baseline,
        primary,
        spec.timetable.seed,
        is_declared=baseline == spec.conditions[0].name,
    )
    stored = orjson.loads(kept_answer(unit, campaign_id, "statistics"))
    return CampaignStatistics(
        campaign_id,
        list(spec.primary_metrics),
        [each.to_dict() for each in compared],
        stored["outliers"],
    )


def check_phase(phase: str, names: Iterable[str]) -> None:
    """InvalidError `phase_unknown`, with those that there are."""
    known = dict.fromkeys(names)
    if phase not in known:
        raise InvalidError("phase_unknown", f"There is no phase {phase}; there are: {', '.join(known)}.")


def check_baseline(campaign: Campaign, baseline: str) -> None:
    """InvalidError, with those that there are, for what is no condition of the campaign."""
    names = [condition.name for condition in campaign_store.campaign_of(campaign).conditions]
    if baseline not in names:
        raise InvalidError("baseline_unknown", f"The campaign has no condition {baseline}; it has: {', '.join(names)}.")


def _in_phase(sides: Sequence[RunValues], phase: str | None, primary: Sequence[tuple[str, str]]) -> list[RunValues]:
    if phase is None:
        return list(sides)
    return [side.only([each for each in side.places if each[0] == phase or each in primary]) for side in sides]
