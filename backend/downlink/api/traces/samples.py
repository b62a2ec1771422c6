"""Single samples of a run's traces, and its moments: what is drawn of raw data."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from downlink.api.http.answers import Answer, json_response
from downlink.api.http.deps import ComputingTurn, Reader, ReadUnit, problems
from downlink.api.results.reports import FlowNumber, TracePoint
from downlink.domain.traces.point import Point
from downlink.views.runs.moments import RunMoments, run_moments
from downlink.views.traces import samples as views

router = APIRouter(tags=["runs"])
Columns = Annotated[
    list[Annotated[str, Query(max_length=64)]],
    Query(
        alias="column",
        max_length=views.MOST_COLUMNS,
        description="A column by its name in docs/fields.csv; may be repeated",
    ),
]
Second = Annotated[float, Query(ge=0, le=1e6, description="From here on, seconds after the run's zero")]
LastSecond = Annotated[float | None, Query(ge=0, le=1e6, description="Up to here; the trace's end unless it is said")]
Points = Annotated[
    int, Query(ge=2, le=10_000, description="Samples per column at most; an odd number counts as the even one below")
]


@router.get(
    "/runs/{run_id}/traces/{flow}/{point}/samples",
    responses=problems(401, 404, 429),
    dependencies=[ComputingTurn],
)
def get_samples(
    run_id: UUID,
    flow: FlowNumber,
    point: TracePoint,
    caller: Reader,
    unit: ReadUnit,
    column: Columns = [],  # noqa: B006 - read, never changed
    from_s: Second = 0.0,
    to_s: LastSecond = None,
    points: Points = 1_000,
) -> Answer[views.Samples]:
    """Return a sealed trace between two times: every sample while they are few, otherwise the minimum and maximum of equal time steps."""
    wanted = views.Wanted(column, round(from_s * 1e6), None if to_s is None else round(to_s * 1e6), points)
    return json_response(views.samples(unit, run_id, flow, Point(point), wanted))


@router.get("/runs/{run_id}/moments", responses=problems(401, 404))
def get_moments(run_id: UUID, caller: Reader, unit: ReadUnit) -> Answer[RunMoments]:
    """List first bytes, slow-start exits, first losses and ends of a run's flows; outages and handover gaps of its emulated link."""
    return json_response(run_moments(unit, run_id))
