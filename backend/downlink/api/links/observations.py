"""Quantities of links over time: what dish, modem and weather were like, beside what runs measured."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from downlink.actions.links import observations as observing
from downlink.api.http.answers import Answer, json_response
from downlink.api.http.deps import Now, Reader, ReadUnit, UnitOfWork, may_with_link, problems
from downlink.api.results.days import Metric, Phase
from downlink.api.schemas.base import SaidMoment
from downlink.api.schemas.observations import Quantity, QuantityList, StationBody, StationImported
from downlink.codec.station_table import StationForm
from downlink.domain.errors import InvalidError, NotFoundError
from downlink.domain.links.observation import EARLIEST
from downlink.domain.partial import told
from downlink.domain.people.permission import Verb
from downlink.storage.links import link_store, observation_store
from downlink.storage.runs import run_store
from downlink.storage.unit import Unit
from downlink.views.links import observations
from downlink.views.links.observations import CorrelationList, StripList

router = APIRouter(tags=["quantities of links"])
DAY = timedelta(days=1)
AROUND = timedelta(minutes=2)
"""Time before and after a run."""


@router.get("/links/{link_id}/quantities", responses=problems(401, 403, 404))
def list_quantities(link_id: UUID, caller: Reader, unit: ReadUnit) -> QuantityList:
    """List a link's quantities with source, unit and time covered."""
    rows = observation_store.list_quantities(unit, [_name(unit, link_id)])
    return QuantityList(items=[Quantity.model_validate(row) for row in rows])


@router.get("/links/{link_id}/observations", responses=problems(401, 403, 404))
def list_observations(
    link_id: UUID,
    caller: Reader,
    unit: ReadUnit,
    now: Now,
    quantity: Annotated[str | None, Query(max_length=100, description="Only this one")] = None,
    from_at: Annotated[SaidMoment | None, Query(description="A day ago where it is left out")] = None,
    to_at: Annotated[SaidMoment | None, Query(description="Now where it is left out")] = None,
    points: Annotated[int, Query(ge=1, le=2000)] = observations.POINTS,
) -> Answer[StripList]:
    """Return each quantity over time, in at most the given number of intervals."""
    end = to_at or now
    begin = from_at or max(end, EARLIEST) - DAY
    if not begin < end:
        raise InvalidError(
            "span_invalid", "from_at must be before to_at; nothing is known of the time before the year 2000."
        )
    return json_response(observations.strips(unit, [_name(unit, link_id)], begin, end, points, quantity))


@router.post(
    "/links/{link_id}/observations/import",
    dependencies=[may_with_link(Verb.CHANGE_LINK)],
    responses=problems(401, 403, 404, 409),
)
def import_station(link_id: UUID, body: StationBody, unit: UnitOfWork, now: Now) -> StationImported:
    """Import the CSV file of a weather station. Existing values stay; importing a file twice adds nothing.

    `station_unreadable` (422) names the line that cannot be read.
    """
    form = StationForm(
        body.columns, body.time_zone, body.missing, body.time_column, body.time_format, is_strict=body.strict
    )
    taken = observing.import_station(unit, link_id, body.text, body.source, form, now, body.first_line)
    return StationImported(
        values=taken.values,
        stored=taken.stored,
        differing=taken.differing,
        left_out=len(taken.left_out),
        partial=told(taken.left_out),
    )


@router.get("/campaigns/{campaign_id}/quantities", responses=problems(401, 403, 404))
def campaign_quantities(campaign_id: UUID, caller: Reader, unit: ReadUnit) -> Answer[StripList]:
    """Return the quantities of a campaign's links over the time of its runs."""
    return json_response(observations.campaign_strips(unit, campaign_id))


@router.get("/runs/{run_id}/quantities", responses=problems(401, 403, 404))
def run_quantities(run_id: UUID, caller: Reader, unit: ReadUnit) -> Answer[StripList]:
    """Return the quantities of a run's link, from two minutes before it to two minutes after it."""
    run = run_store.get_run(unit, run_id)
    if run.start_at is None:
        return json_response(StripList([]))
    end = run.start_at + timedelta(seconds=run.expected_s)
    return json_response(observations.strips(unit, [run.link], run.start_at - AROUND, end + AROUND))


@router.get("/campaigns/{campaign_id}/correlations", responses=problems(401, 403, 404))
def campaign_correlations(
    campaign_id: UUID, caller: Reader, unit: ReadUnit, phase: Phase = "overall", metric: Metric = "throughput_bps"
) -> Answer[CorrelationList]:
    """Return Spearman's rank correlation, with its interval, of each quantity of a link with a metric over the runs of a group."""
    return json_response(observations.correlations(unit, campaign_id, phase, metric))


def _name(unit: Unit, link_id: UUID) -> str:
    name = link_store.name_of(unit, link_id)
    if name is None:
        raise NotFoundError("link_not_found", f"There is no link {link_id}.")
    return name
