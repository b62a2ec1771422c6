"""Campaigns over the hours of a day."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response

from downlink.api.http.answers import json_response
from downlink.api.http.deps import CampaignReader, CampaignTurn, ReadUnit, problems
from downlink.api.schemas.days import CampaignDay
from downlink.views.results.days import campaign_day

router = APIRouter(tags=["days"])
Phase = Annotated[str, Query(max_length=100, description="`startup`, `steady`, `overall` or a window of the campaign")]
Metric = Annotated[
    str, Query(max_length=100, description="A metric of a phase, `time_to_steady_s`, or one of the link")
]


@router.get(
    "/campaigns/{campaign_id}/day",
    response_model=CampaignDay,
    responses=problems(401, 403, 404, 429),
    dependencies=[CampaignTurn],
)
def get_day(
    campaign_id: UUID,
    caller: CampaignReader,
    unit: ReadUnit,
    phase: Phase = "overall",
    metric: Metric = "throughput_bps",
) -> Response:
    """Return every run over clock time with one metric, failed and missed runs with their reason, and the links' nights."""
    return json_response(campaign_day(unit, campaign_id, phase, metric, is_own_alone=caller.campaign_id is not None))
