"""What held flows back, and the buffers to set."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter, Response

from downlink.api.http.answers import json_response
from downlink.api.http.deps import CampaignReader, CampaignTurn, Reader, ReadUnit, problems
from downlink.api.schemas.limits import CampaignLimits, RunLimits
from downlink.views.results.limits import run_limits
from downlink.views.results.reports import kept_answer

router = APIRouter(tags=["limits"])


@router.get("/runs/{run_id}/limits", response_model=RunLimits, responses=problems(401, 404))
def get_run_limits(run_id: UUID, caller: Reader, unit: ReadUnit) -> Response:
    """Return whether the congestion window, receive window, send buffer or application limited each flow, second by second."""
    return json_response(run_limits(unit, run_id))


@router.get(
    "/campaigns/{campaign_id}/limits",
    response_model=CampaignLimits,
    responses=problems(401, 403, 404, 429),
    dependencies=[CampaignTurn],
)
def get_campaign_limits(campaign_id: UUID, caller: CampaignReader, unit: ReadUnit) -> Response:
    """Return the limits as shares over the complete runs, and recommended buffers for each link."""
    return json_response(kept_answer(unit, campaign_id, "limits"))
