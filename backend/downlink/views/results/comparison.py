"""Conditions of any campaigns beside each other: their values, their differences, and what else they have apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, cast
from uuid import UUID

from downlink.analysis.intervals import plain
from downlink.analysis.unpaired import Picked, compare_picked, offered
from downlink.analysis.values import RunValues
from downlink.codec.tables import Cell, csv_pieces
from downlink.domain.campaigns.campaign import Condition
from downlink.domain.doc import As, Doc
from downlink.domain.errors import InvalidError, NotFoundError
from downlink.domain.moment import Moment
from downlink.domain.results.comparison import (
    Aspect,
    Facts,
    SideName,
    Unlike,
    check_place,
    check_runs,
    find_baseline,
    plan_facts,
    read_sides,
    several,
    unlike,
)
from downlink.domain.results.metric import LISTED, QUANTITIES
from downlink.storage.campaigns import campaign_store
from downlink.storage.results.comparison_store import RunFacts, count_complete, run_facts
from downlink.storage.tables import Campaign
from downlink.storage.unit import Unit
from downlink.views.results.values import Offered, check_phase, stored_sides
from downlink.views.shapes import PHASE, Column, Interval, OriginName

HOST_FACTS = {"kernel": "kernel", "version": "agent", "qdisc": "queueing discipline", "offloads": "offloads"}
UNPAIRED = ("mean", "low", "high", "degrees", "n", "n_base")
NAMES = tuple(dict.fromkeys((*QUANTITIES, *(each.name for each in LISTED))))
MEANS = ("mean", "low", "high", "sd", "n")
CSV_COLUMNS = (
    "campaign_id", "campaign", "link", "condition", "flow", "cc", "phase", "metric", "within_s", *MEANS,
    "baseline_campaign", "baseline_link", "baseline_condition", "baseline_flow",
    *(f"difference_{name}" for name in UNPAIRED), *(f"ratio_{name}" for name in UNPAIRED),
)  # fmt: skip


@dataclass(frozen=True)
class ComparedSide:
    """One flow of one condition on one link of one campaign, with the asked quantity of each of its runs."""

    side: Annotated[str, Doc("What it is named by: CAMPAIGN-ID/FLOW/LINK/CONDITION")]
    campaign_id: UUID
    campaign: str
    origin: OriginName
    link: str
    condition: str
    flow: int
    cc: Annotated[str, Doc("Empty before the first complete run")]
    flows: Annotated[int, Doc("How many the condition has")]
    runs: int
    first_at: Annotated[Moment | None, Doc("When the first of its complete runs began")]
    last_at: Annotated[Moment | None, Doc("When the last of them began")]
    run_ids: Annotated[Sequence[str], As(list[UUID]), Doc("Of a link's quantity those runs whose link was logged")]
    cycles: Sequence[int]
    values: Column
    not_within: Annotated[
        list[bool], Doc("Of times: true where a run did not come to it; its value is then the time that was watched")
    ]


@dataclass(frozen=True)
class Unpaired:
    """A side against the baseline, run by run of neither: Welch's 95 % interval; null where a side has fewer than two runs."""

    mean: float | None
    low: float | None
    high: float | None
    degrees: Annotated[float | None, Doc("Degrees of freedom; null where all runs of each side are alike")]
    n: int
    n_base: int


@dataclass(frozen=True)
class Compared:
    """One quantity of all sides, in their order; null for the baseline itself."""

    phase: Annotated[str, Doc(PHASE)]
    metric: str
    within_s: Annotated[
        float | None, Doc("Of times that a run did not come to: all count up to the shortest that was watched in vain")
    ]
    means: Annotated[Sequence[Mapping[str, Any]], As(list[Interval])]
    differences: list[Unpaired | None]
    ratios: Annotated[
        list[Unpaired | None], Doc("Of geometric means; null where a run is not above zero, and for the baseline")
    ]


@dataclass(frozen=True)
class CampaignsCompared:
    baseline: Annotated[str, Doc("Which of the sides")]
    phase: Annotated[str, Doc(PHASE)]
    metric: Annotated[str, Doc("Whose values the sides have")]
    offered: Annotated[list[Offered], Doc("What can be asked for")]
    sides: list[ComparedSide]
    compared: Annotated[list[Compared], Doc("Every quantity of the phase")]
    unlike: list[Unlike]


@dataclass(frozen=True)
class Side:
    """One flow of one condition on one link of one campaign, with its runs' values."""

    name: SideName
    campaign: Campaign
    link: str
    condition: str
    picked: Picked
    found: RunFacts

    @property
    def where(self) -> dict[str, Any]:
        cc = self.picked.flow.cc if self.picked.flow else ""
        return {"link": self.link, "condition": self.condition, "flow": self.name.flow, "cc": cc}

    @property
    def plan(self) -> Condition:
        """The side's condition in the campaign file."""
        spec = campaign_store.campaign_of(self.campaign)
        return next(each for each in spec.conditions if each.name == self.condition)

    @property
    def facts(self) -> Facts:
        """Return the facts that may make its numbers differ from another's: of the analysis, of the link, of the hosts, and of the
        file."""
        spec, measured = campaign_store.campaign_of(self.campaign), self.found
        hosts: dict[Aspect, str] = {
            ("hosts", f"{role.capitalize()}: {HOST_FACTS[name]}"): several(values)
            for (role, name), values in sorted(measured.hosts.items())
        }
        return {
            ("analysis", "Analysis version"): several(measured.analysis_versions),
            ("analysis", "Origin"): self.campaign.origin,
            ("link", "Link"): self.link,
            ("link", "Nominal rate"): several(f"{rate / 1e6:g} Mb/s" for rate in measured.nominal_rates_bps),
            ("link", "Base RTT"): several(f"{rtt:g} ms" for rtt in measured.base_rtts_ms if rtt > 0),
            ("link", "Emulated"): several("yes" if each else "no" for each in measured.is_emulated),
            ("link", "Link profile"): several(measured.profiles),
            **hosts,
            **plan_facts(spec, self.plan),
        }


def sides_of(unit: Unit, texts: Iterable[str]) -> list[Side]:
    """Return the sides that these texts name. Raise InvalidError for too many of them or too many runs, before any of these is read,
    and for a name that fits several places; NotFoundError for a campaign, or a condition, link or flow of it, that does not exist.
    A side may be without complete runs."""
    names = read_sides(texts)
    ids = list(dict.fromkeys(name.campaign_id for name in names))
    campaigns = {campaign_id: campaign_store.find_campaign(unit, campaign_id) for campaign_id in ids}
    check_runs(count_complete(unit, ids))
    values = {campaign_id: stored_sides(unit, campaign_id) for campaign_id in ids}
    return [_side(unit, name, campaigns[name.campaign_id], values[name.campaign_id]) for name in names]


def _side(unit: Unit, name: SideName, campaign: Campaign, values: Sequence[RunValues]) -> Side:
    spec = campaign_store.campaign_of(campaign)
    links = dict.fromkeys([*spec.links, *(side.link for side in values)])
    places = [
        (link, condition.name)
        for link in links
        for condition in spec.conditions
        if name.is_of(link, condition.name) and 1 <= name.flow <= len(condition.flows)
    ]
    if not places:
        raise NotFoundError(
            "side_not_found", f"Campaign {campaign.name} has no flow {name.flow} of {name.place} (link/condition)."
        )
    check_place(name, campaign.name, places)
    link, condition = places[0]
    own = {side.flow: side for side in values if (side.link, side.condition) == places[0]}
    facts = run_facts(unit, campaign.id, link, condition)
    return Side(name, campaign, link, condition, Picked(own.get(name.flow), own.get(0)), facts)


def comparison(unit: Unit, texts: Sequence[str], baseline: str | None, phase: str, metric: str) -> CampaignsCompared:
    """All quantities of a phase, every run of one of them, and what the sides have apart."""
    sides = sides_of(unit, texts)
    picked = [side.picked for side in sides]
    base = find_baseline([side.name for side in sides], baseline)
    places = offered(picked)
    _check_phase(sides, phase)
    if metric not in {*NAMES, *(each for _, each in places)}:
        raise InvalidError("metric_unknown", f"There is no {metric}; there are: {', '.join(NAMES)}.")
    compared = compare_picked(picked, base, [quantity for quantity in places if quantity[0] == phase])
    return CampaignsCompared(
        baseline=sides[base].name.text,
        phase=phase,
        metric=metric,
        offered=[Offered(*each) for each in places],
        sides=[_shown(side, (phase, metric)) for side in sides],
        compared=[_compared(each.to_dict()) for each in compared],
        unlike=unlike([side.facts for side in sides]),
    )


def _compared(comparison: Mapping[str, Any]) -> Compared:
    parts = {name: [each and Unpaired(**each) for each in comparison[name]] for name in ("differences", "ratios")}
    return Compared(comparison["phase"], comparison["metric"], comparison["within_s"], comparison["means"], **parts)


def _check_phase(sides: Iterable[Side], phase: str) -> None:
    """One of any of the campaigns: the others have no values of it."""
    check_phase(phase, [name for side in sides for name in campaign_store.campaign_of(side.campaign).phases.names])


def _shown(side: Side, quantity: tuple[str, str]) -> ComparedSide:
    values, not_within = side.picked.at(quantity)
    runs = side.picked.of(quantity)
    return ComparedSide(
        side=side.name.text,
        campaign_id=side.campaign.id,
        campaign=side.campaign.name,
        origin=cast(OriginName, side.campaign.origin),
        **side.where,
        flows=len(side.plan.flows),
        runs=len(side.picked.flow.runs) if side.picked.flow else 0,
        first_at=side.found.first_at,
        last_at=side.found.last_at,
        run_ids=runs.runs if runs else (),
        cycles=runs.cycles if runs else (),
        values=plain(values),
        not_within=not_within.tolist(),
    )


def comparison_csv(unit: Unit, texts: Sequence[str], baseline: str | None, phase: str | None) -> Iterator[bytes]:
    """A line for each quantity and side, of a phase or of all. Errors come before the first piece, never within."""
    sides = sides_of(unit, texts)
    picked = [side.picked for side in sides]
    base = find_baseline([side.name for side in sides], baseline)
    if phase is not None:
        _check_phase(sides, phase)
    places = [quantity for quantity in offered(picked) if phase in (None, quantity[0])]
    comparisons = [each.to_dict() for each in compare_picked(picked, base, places)]
    lines = list(_lines(sides, sides[base], comparisons))
    return (piece.encode() for piece in csv_pieces(CSV_COLUMNS, lines))


def _lines(sides: Sequence[Side], base: Side, comparisons: Iterable[Mapping[str, Any]]) -> Iterator[Sequence[Cell]]:
    """Made while the rows can be read."""
    other = (base.campaign.name, base.link, base.condition, base.name.flow)
    for each in comparisons:
        for index, side in enumerate(sides):
            yield (
                *(str(side.campaign.id), side.campaign.name, *side.where.values()),
                *(each["phase"], each["metric"], each["within_s"]),
                *(each["means"][index][name] for name in MEANS),
                *other,
                *_cells(each["differences"][index]),
                *_cells(each["ratios"][index]),
            )


def _cells(estimate: Mapping[str, Any] | None) -> Sequence[Cell]:
    return [None if estimate is None else estimate[name] for name in UNPAIRED]
