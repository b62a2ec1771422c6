"""The day strip of a campaign: every run's chosen metric over clock time, with the nights of its links."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated
from uuid import UUID

from downlink.domain.campaigns.annotation import MOST_DRAWN
from downlink.domain.doc import As, Doc
from downlink.domain.errors import InvalidError
from downlink.domain.moment import Moment
from downlink.domain.results.metric import LINKED, METRICS
from downlink.domain.runs.run import RunState
from downlink.domain.zone import Night, nights
from downlink.storage.campaigns import campaign_store
from downlink.storage.campaigns.annotation_store import annotations_over
from downlink.storage.links import link_store as links
from downlink.storage.results import day_store
from downlink.storage.results.day_store import DayValue, DayValues, PlacedRun
from downlink.storage.tables import Annotation as Row
from downlink.storage.unit import Unit
from downlink.views.campaigns.annotations import Annotation, annotation_of

MOST_RUNS = 5_000
"""Runs of a strip at most: more than a week of runs every two minutes could not be read."""
STEADY = "time_to_steady_s"
STRIP_METRICS = (*METRICS, STEADY, *LINKED)
"""Metrics that a strip can show: those of which each run has stored its own value."""


@dataclass(frozen=True)
class DayLink:
    link: str
    time_zone: Annotated[str | None, Doc("The link's, where it says one")]
    nights: Annotated[list[Night], Doc("22:00 to 06:00 by its clock, within the strip")]


@dataclass(frozen=True)
class DayRun:
    id: UUID
    link: str
    condition: str
    cycle: int
    attempt: int
    state: Annotated[str, As(RunState)]
    reason: str | None
    detail: str | None
    at: Annotated[Moment, Doc("When it began; until then, or where it never did, when it is due")]
    ended_at: Moment | None
    values: Annotated[list[DayValue], Doc("Empty where it has no such value")]


@dataclass(frozen=True)
class CampaignDay:
    """A campaign's runs over clock time."""

    campaign_id: UUID
    phase: str
    metric: str
    from_at: Moment | None
    to_at: Moment | None
    total: Annotated[int, Doc("Runs of the campaign; the first 5,000 are in the answer")]
    links: list[DayLink]
    annotations: Annotated[list[Annotation], Doc("Of the campaign and of its links, within the strip; at most 100")]
    runs: Annotated[list[DayRun], Doc("Every attempt, in the order of the plan")]


def campaign_day(unit: Unit, campaign_id: UUID, phase: str, metric: str, *, is_own_alone: bool = False) -> CampaignDay:
    """is_own_alone: without the annotations of its links, which are not the campaign's.

    InvalidError for a phase that the campaign does not have, or a metric of which runs keep no value.
    """
    spec = campaign_store.campaign_of(campaign_store.find_campaign(unit, campaign_id))
    if metric not in STRIP_METRICS:
        known = ", ".join(STRIP_METRICS)
        raise InvalidError("metric_unknown", f"There is no {metric} over the day; there are: {known}.")
    if phase not in spec.phases.names:
        known = ", ".join(spec.phases.names)
        raise InvalidError("phase_unknown", f"The campaign has no phase {phase}; it has: {known}.")
    runs = day_store.placed_runs(unit, campaign_id, MOST_RUNS)
    values: dict[UUID, list[DayValue]] = defaultdict(list)
    for run_id, value in _values(unit, campaign_id, phase, metric):
        values[run_id].append(value)
    from_at, to_at = min((run.at for run in runs), default=None), max(map(_end, runs), default=None)
    total = len(runs) if len(runs) < MOST_RUNS else day_store.count_runs(unit, campaign_id)
    rows = [_run(run, values[run.id]) for run in runs]
    links = _links(unit, spec.links, runs, from_at, to_at)
    noted = _annotations(unit, campaign_id, [] if is_own_alone else [each.link for each in links], from_at, to_at)
    return CampaignDay(campaign_id, phase, metric, from_at, to_at, total, links, noted, rows)


def _values(unit: Unit, campaign_id: UUID, phase: str, metric: str) -> DayValues:
    if metric == STEADY:
        return day_store.steady_times(unit, campaign_id, MOST_RUNS)
    if metric in LINKED:
        return day_store.link_values(unit, campaign_id, MOST_RUNS, phase, metric)
    return day_store.flow_values(unit, campaign_id, MOST_RUNS, phase, metric)


def _end(run: PlacedRun) -> datetime:
    """Return when a run ended, else when it should."""
    return max(run.at, run.ended_at or run.at + timedelta(seconds=run.expected_s))


def _links(
    unit: Unit, named: Sequence[str], runs: Sequence[PlacedRun], from_at: datetime | None, to_at: datetime | None
) -> list[DayLink]:
    """Return links in the campaign's order; those that only its runs name come after them."""
    order = list(dict.fromkeys([*named, *(run.link for run in runs)]))
    zones = links.zones(unit, order)
    rows = ((link, zones.get(link)) for link in order)
    return [
        DayLink(link, zone, nights(zone, from_at, to_at) if zone and from_at and to_at else []) for link, zone in rows
    ]


def _annotations(
    unit: Unit, campaign_id: UUID, links: Sequence[str], from_at: datetime | None, to_at: datetime | None
) -> list[Annotation]:
    """Return annotations of the campaign, and of these links within the strip. A link's annotation from an archive is left out if the
    link here has the same."""
    rows = annotations_over(unit, campaign_id, links, from_at, to_at, MOST_DRAWN)
    of_links = {_said(row) for row in rows if row.campaign_id is None}
    return [annotation_of(row) for row in rows if row.campaign_id is None or _said(row) not in of_links]


def _said(row: Row) -> tuple[str | None, str, str, datetime, datetime | None]:
    return (row.link, row.kind, row.text, row.from_at, row.to_at)


def _run(run: PlacedRun, values: list[DayValue]) -> DayRun:
    id_, link, condition, cycle, attempt, state, reason, detail, at, ended_at, _ = run
    return DayRun(id_, link, condition, cycle, attempt, state, reason, detail, at, ended_at, values)
