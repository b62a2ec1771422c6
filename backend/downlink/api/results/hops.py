"""What the hops of a run's flows did."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter, Response
from fastapi.responses import StreamingResponse

from downlink.api.http.answers import download, json_response
from downlink.api.http.deps import ComputingTurn, Reader, ReadUnit, Units, problems
from downlink.api.results.reports import CSV, file_answer
from downlink.api.schemas.hops import RunHops
from downlink.views.results.hops import hops_csv, run_hops

router = APIRouter(tags=["runs"])


@router.get(
    "/runs/{run_id}/hops", response_model=RunHops, responses=problems(401, 404, 429), dependencies=[ComputingTurn]
)
def get_hops(run_id: UUID, caller: Reader, unit: ReadUnit) -> Response:
    """Return what each hop of a run's relayed flows did, in equal time steps; 404 `hops_not_found` without relays."""
    return json_response(run_hops(unit, run_id))


@router.get("/runs/{run_id}/hops.csv", response_class=StreamingResponse, **file_answer(CSV))
def export_hops(run_id: UUID, caller: Reader, units: Units) -> StreamingResponse:
    """Export the hops' activity, a line for each time step of each hop."""
    return download((piece.encode() for piece in hops_csv(units, run_id)), f"{run_id}-hops.csv", CSV)
