"""When slow start ended, and when each detector would have ended it."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response

from downlink.api.http.answers import json_response
from downlink.api.http.deps import CampaignReader, CampaignTurn, Reader, ReadUnit, problems
from downlink.api.schemas.exits import CampaignExits, RunExits
from downlink.views.results.exits import run_exits
from downlink.views.results.reports import kept_answer

router = APIRouter(tags=["exits"])
Second = Annotated[
    float, Query(ge=0, le=1e6, description="Curves from here on, seconds after the flow's first data byte")
]
LastSecond = Annotated[float | None, Query(ge=0, le=1e6, description="Curves up to here")]
Points = Annotated[int, Query(ge=2, le=10_000, description="Points per curve at most")]


@router.get("/runs/{run_id}/exits", response_model=RunExits, responses=problems(401, 404))
def get_run_exits(
    run_id: UUID, caller: Reader, unit: ReadUnit, from_s: Second = 0.0, to_s: LastSecond = None, points: Points = 1_000
) -> Response:
    """Return every detector's verdict on every judged flow, and the curves behind them."""
    return json_response(run_exits(unit, run_id, from_s, to_s, points))


@router.get(
    "/campaigns/{campaign_id}/exits",
    response_model=CampaignExits,
    responses=problems(401, 403, 404, 429),
    dependencies=[CampaignTurn],
)
def get_campaign_exits(campaign_id: UUID, caller: CampaignReader, unit: ReadUnit) -> Response:
    """Return Table I, exit times and shares over the complete runs."""
    return json_response(kept_answer(unit, campaign_id, "exits"))
