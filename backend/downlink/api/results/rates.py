"""What flows carried in each second."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter, Response

from downlink.api.http.answers import json_response
from downlink.api.http.deps import CampaignReader, CampaignTurn, ReadUnit, problems
from downlink.api.schemas.rates import CampaignRates
from downlink.views.results.reports import kept_answer

router = APIRouter(tags=["reports"])


@router.get(
    "/campaigns/{campaign_id}/rates",
    response_model=CampaignRates,
    responses=problems(401, 403, 404, 429),
    dependencies=[CampaignTurn],
)
def get_campaign_rates(campaign_id: UUID, caller: CampaignReader, unit: ReadUnit) -> Response:
    """Return throughput and goodput of each second of the complete runs, for each flow of each condition on each link."""
    return json_response(kept_answer(unit, campaign_id, "rates"))
