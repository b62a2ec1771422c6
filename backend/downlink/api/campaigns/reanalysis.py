"""A campaign's numbers recomputed."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter

from downlink.actions.results.reanalysis import order_reanalysis
from downlink.api.http.deps import Now, Reader, ReadUnit, UnitOfWork, may, problems
from downlink.domain.people.permission import Verb
from downlink.views.results.reanalysis import Reanalysis, campaign_reanalysis

router = APIRouter(tags=["reports"])


@router.get("/campaigns/{campaign_id}/reanalysis", responses=problems(401, 404))
def get_reanalysis(campaign_id: UUID, caller: Reader, unit: ReadUnit) -> Reanalysis:
    """Return whether numbers are being recomputed, and how many runs have numbers of another analysis version."""
    return campaign_reanalysis(unit, campaign_id)


@router.post(
    "/campaigns/{campaign_id}/reanalysis",
    status_code=202,
    dependencies=[may(Verb.DERIVE)],
    responses=problems(401, 403, 404, 409),
)
def start_reanalysis(campaign_id: UUID, unit: UnitOfWork, now: Now) -> Reanalysis:
    """Recompute the numbers of every analysed run from its sealed traces, then the report. The runs' states stay."""
    order_reanalysis(unit, campaign_id, now)
    return campaign_reanalysis(unit, campaign_id)
