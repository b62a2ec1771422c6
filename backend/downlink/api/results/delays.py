"""How long blocks took from end to end."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter, Response

from downlink.api.http.answers import json_response
from downlink.api.http.deps import CampaignReader, CampaignTurn, ReadUnit, problems
from downlink.api.schemas.delays import CampaignDelays
from downlink.views.results.reports import kept_answer

router = APIRouter(tags=["reports"])


@router.get(
    "/campaigns/{campaign_id}/delays",
    response_model=CampaignDelays,
    responses=problems(401, 403, 404, 429),
    dependencies=[CampaignTurn],
)
def get_campaign_delays(campaign_id: UUID, caller: CampaignReader, unit: ReadUnit) -> Response:
    """Return one-way delays and jitter of the complete runs, pooled for each flow of each condition on each link."""
    return json_response(kept_answer(unit, campaign_id, "delays"))
