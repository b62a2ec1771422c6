"""A detector swept over its parameters, on all traces of a campaign."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter

from downlink.actions.results import sweeps
from downlink.api.http.answers import Answer, json_response
from downlink.api.http.deps import Limit, Now, Offset, Reader, ReadUnit, UnitOfWork, may, problems
from downlink.api.schemas.sweeps import SweepBody
from downlink.domain.people.permission import Verb
from downlink.storage.results import sweep_store
from downlink.views.results import sweeps as views
from downlink.views.results.sweeps import Sweep, SweepList, SweptDetector

router = APIRouter(tags=["sweeps"])


@router.get("/sweeps/parameters", responses=problems(401))
def list_sweep_parameters(caller: Reader) -> list[SweptDetector]:
    """List what can be swept: detectors and versions with their parameters, defaults and ranges."""
    return views.what_can_be_swept()


@router.post(
    "/campaigns/{campaign_id}/sweeps",
    status_code=202,
    dependencies=[may(Verb.DERIVE)],
    responses=problems(401, 403, 404, 409),
)
def create_sweep(campaign_id: UUID, body: SweepBody, unit: UnitOfWork, now: Now) -> Answer[Sweep]:
    """Start a sweep over the present complete runs, with up to 1,000 parameter sets; the workers share the traces."""
    made = sweeps.create_sweep(unit, campaign_id, body.detector, body.version, body.grid, now)
    return json_response(views.one_sweep(unit, made.id), 202)


@router.get("/campaigns/{campaign_id}/sweeps", responses=problems(401, 404))
def list_sweeps(
    campaign_id: UUID, caller: Reader, unit: ReadUnit, limit: Limit = 50, offset: Offset = 0
) -> Answer[SweepList]:
    """Newest first."""
    return json_response(views.list_sweeps(unit, campaign_id, limit, offset))


@router.get("/sweeps/{sweep_id}", responses=problems(401, 404))
def get_sweep(sweep_id: UUID, caller: Reader, unit: ReadUnit) -> Answer[Sweep]:
    """Return a sweep's progress; once complete, its cells."""
    return json_response(views.one_sweep(unit, sweep_id))


@router.delete(
    "/sweeps/{sweep_id}", status_code=204, dependencies=[may(Verb.DERIVE)], responses=problems(401, 403, 404)
)
def delete_sweep(sweep_id: UUID, unit: UnitOfWork) -> None:
    """Delete a sweep, also while it is in progress; later results of its jobs are dropped."""
    sweep_store.delete_sweep(unit, sweep_id)
