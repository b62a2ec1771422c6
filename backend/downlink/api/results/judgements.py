"""Judgements of runs: slow-start exits, limits, delays, rates and hops."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from downlink.api.http.answers import Answer, download, json_response, stored_response
from downlink.api.http.deps import CampaignReader, CampaignTurn, ComputingTurn, Reader, ReadUnit, Units, problems
from downlink.api.results.reports import CSV, file_answer
from downlink.views.results.delays import CampaignDelays
from downlink.views.results.exits import CampaignExits, RunExits, run_exits
from downlink.views.results.hops import RunHops, hops_csv, run_hops
from downlink.views.results.limits import CampaignLimits, RunLimits, run_limits
from downlink.views.results.rates import CampaignRates
from downlink.views.results.reports import kept_answer

router = APIRouter()
Second = Annotated[
    float, Query(ge=0, le=1e6, description="Curves from here on, seconds after the flow's first data byte")
]
LastSecond = Annotated[float | None, Query(ge=0, le=1e6, description="Curves up to here")]
Points = Annotated[int, Query(ge=2, le=10_000, description="Points per curve at most")]
OF_CAMPAIGN: dict[str, Any] = {"responses": problems(401, 403, 404, 429), "dependencies": [CampaignTurn]}


@router.get("/runs/{run_id}/exits", tags=["exits"], responses=problems(401, 404))
def get_run_exits(
    run_id: UUID, caller: Reader, unit: ReadUnit, from_s: Second = 0.0, to_s: LastSecond = None, points: Points = 1_000
) -> Answer[RunExits]:
    """Return every detector's verdict on every judged flow, and the curves behind them."""
    return json_response(run_exits(unit, run_id, from_s, to_s, points))


@router.get("/campaigns/{campaign_id}/exits", tags=["exits"], **OF_CAMPAIGN)
def get_campaign_exits(campaign_id: UUID, caller: CampaignReader, unit: ReadUnit) -> Answer[CampaignExits]:
    """Return Table I, exit times and shares over the complete runs."""
    return stored_response(kept_answer(unit, campaign_id, "exits"))


@router.get("/runs/{run_id}/limits", tags=["limits"], responses=problems(401, 404))
def get_run_limits(run_id: UUID, caller: Reader, unit: ReadUnit) -> Answer[RunLimits]:
    """Return whether the congestion window, receive window, send buffer or application limited each flow, second by second."""
    return json_response(run_limits(unit, run_id))


@router.get("/campaigns/{campaign_id}/limits", tags=["limits"], **OF_CAMPAIGN)
def get_campaign_limits(campaign_id: UUID, caller: CampaignReader, unit: ReadUnit) -> Answer[CampaignLimits]:
    """Return the limits as shares over the complete runs, and recommended buffers for each link."""
    return stored_response(kept_answer(unit, campaign_id, "limits"))


@router.get("/campaigns/{campaign_id}/delays", tags=["reports"], **OF_CAMPAIGN)
def get_campaign_delays(campaign_id: UUID, caller: CampaignReader, unit: ReadUnit) -> Answer[CampaignDelays]:
    """Return one-way delays and jitter of the complete runs, pooled for each flow of each condition on each link."""
    return stored_response(kept_answer(unit, campaign_id, "delays"))


@router.get("/campaigns/{campaign_id}/rates", tags=["reports"], **OF_CAMPAIGN)
def get_campaign_rates(campaign_id: UUID, caller: CampaignReader, unit: ReadUnit) -> Answer[CampaignRates]:
    """Return throughput and goodput of each second of the complete runs, for each flow of each condition on each link."""
    return stored_response(kept_answer(unit, campaign_id, "rates"))


@router.get("/runs/{run_id}/hops", tags=["runs"], responses=problems(401, 404, 429), dependencies=[ComputingTurn])
def get_hops(run_id: UUID, caller: Reader, unit: ReadUnit) -> Answer[RunHops]:
    """Return what each hop of a run's relayed flows did, in equal time steps; 404 `hops_not_found` without relays."""
    return json_response(run_hops(unit, run_id))


@router.get("/runs/{run_id}/hops.csv", tags=["runs"], response_class=StreamingResponse, **file_answer(CSV))
def export_hops(run_id: UUID, caller: Reader, units: Units) -> StreamingResponse:
    """Export the hops' activity, a line for each time step of each hop."""
    return download((piece.encode() for piece in hops_csv(units, run_id)), f"{run_id}-hops.csv", CSV)
