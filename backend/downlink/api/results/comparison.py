"""Conditions of any campaigns and links beside each other."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from downlink.api.http.answers import Answer, download, json_response
from downlink.api.http.deps import ComputingTurn, ExportSlot, Reader, ReadUnit, problems
from downlink.domain.results.comparison import MAX_SIDES
from downlink.views.results.comparison import CampaignsCompared, comparison, comparison_csv

router = APIRouter(tags=["reports"])
CSV = "text/csv; charset=utf-8; header=present"
SIDE = "CAMPAIGN-ID/FLOW/LINK/CONDITION; flows count from 1"
Sides = Annotated[
    list[Annotated[str, Query(max_length=500)]],
    Query(min_length=1, max_length=MAX_SIDES, description=SIDE),
]
Baseline = Annotated[
    str | None, Query(max_length=500, description="Which of the sides the others are compared with; else the first")
]
Phase = Annotated[str, Query(max_length=100, description="`startup`, `steady`, `overall` or a window of a campaign's")]
Metric = Annotated[str, Query(max_length=100, description="Whose values are given run by run")]


@router.get(
    "/comparison",
    responses=problems(401, 404, 422, 429),
    dependencies=[ComputingTurn],
)
def get_comparison(
    caller: Reader,
    unit: ReadUnit,
    side: Sides,
    baseline: Baseline = None,
    phase: Phase = "startup",
    metric: Metric = "throughput_bps",
) -> Answer[CampaignsCompared]:
    """Compare conditions of any campaigns and links: every quantity of a phase with its differences to a baseline, each run of one
    quantity, and differences in settings, kernels, links and analysis.

    Runs of different campaigns share no cycles, so differences are unpaired and not tested. 422 `comparison_too_large` where the
    campaigns have too many complete runs.
    """
    return json_response(comparison(unit, side, baseline, phase, metric))


@router.get(
    "/comparison.csv",
    response_class=StreamingResponse,
    responses={
        200: {"content": {"text/csv": {"schema": {"type": "string", "format": "csv"}}}, "description": "The file"},
        **problems(401, 404, 422, 429),
    },
    dependencies=[ExportSlot, ComputingTurn],
)
def export_comparison(
    caller: Reader,
    unit: ReadUnit,
    side: Sides,
    baseline: Baseline = None,
    phase: Annotated[str | None, Query(max_length=100, description="Of this phase alone; else of all")] = None,
) -> StreamingResponse:
    """Export a line for each quantity and side: mean with interval, difference and ratio to the baseline."""
    return download(comparison_csv(unit, side, baseline, phase), "comparison.csv", CSV)
