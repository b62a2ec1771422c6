"""Paths over satellites: made by workers, kept as files."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from downlink.actions.links import paths
from downlink.api.http.answers import Answer, download, json_response
from downlink.api.http.deps import ComputingTurn, Limit, Now, Offset, Reader, ReadUnit, UnitOfWork, may, problems
from downlink.api.results.reports import CSV, file_answer
from downlink.api.schemas.paths import PathBody, ReadyPath, SatellitePath, SatellitePathList
from downlink.constellation.window import PathWindow
from downlink.domain.links.pathtrace import MAX_DURATION_US
from downlink.domain.links.ready_paths import READY
from downlink.domain.people.permission import Verb
from downlink.storage.links import path_store
from downlink.views.links.paths import path_lines, path_window

Microseconds = Annotated[int | None, Query(ge=0, le=MAX_DURATION_US, description="Since the trace's start")]
_TABLE = file_answer(CSV)
router = APIRouter(tags=["paths"])


@router.get("/paths/ready", responses=problems(401))
def list_ready_paths(caller: Reader) -> list[ReadyPath]:
    """List the built-in paths."""
    return [
        ReadyPath(
            name=name, what=each.what, constellation=each.code, stations=list(each.stations),
            least_elevation_deg=each.least_elevation_deg,
        )
        for name, each in READY.items()
    ]  # fmt: skip


@router.get("/paths", responses=problems(401))
def list_paths(caller: Reader, unit: ReadUnit, limit: Limit = 50, offset: Offset = 0) -> SatellitePathList:
    """List the paths requested on this server, newest first."""
    rows, total = path_store.list_paths(unit, limit, offset)
    return SatellitePathList(items=[SatellitePath.model_validate(row) for row in rows], total=total)


@router.post("/paths", status_code=202, dependencies=[may(Verb.DERIVE)], responses=problems(401, 403, 409))
def create_path(body: PathBody, unit: UnitOfWork, now: Now) -> SatellitePath:
    """Let a worker compute a built-in path. 24 hours take a minute or two; `done_us` is the progress."""
    return SatellitePath.model_validate(paths.order_path(unit, body.ready, body.hours, now))


@router.get(
    "/paths/{path_id}.csv",
    response_class=StreamingResponse,
    dependencies=_TABLE["dependencies"],
    responses=_TABLE["responses"] | problems(409),
)
def get_path_csv(path_id: UUID, caller: Reader, unit: ReadUnit) -> StreamingResponse:
    """Export a line for each stretch of a hop between two knots (docs/paths.md section 4). 409 `path_not_ready` until it is computed."""
    name = f"{path_store.get_path(unit, path_id).ready}.csv"
    return download((piece.encode() for piece in path_lines(unit, path_id)), name, CSV)


@router.get("/paths/{path_id}", responses=problems(401, 404))
def get_path(path_id: UUID, caller: Reader, unit: ReadUnit) -> SatellitePath:
    """Return the progress of a path; once ready, its parameters and summary."""
    return SatellitePath.model_validate(path_store.get_path(unit, path_id))


@router.get("/paths/{path_id}/file", response_class=Response, responses=problems(401, 404, 409))
def get_path_file(path_id: UUID, caller: Reader, unit: ReadUnit) -> Response:
    """Download the file (`dl-path/1`, docs/paths.md section 2). 409 `path_not_ready` until it is computed."""
    name = f"{path_store.get_path(unit, path_id).ready}.dlpath"
    return download([path_store.content_of(unit, path_id)], name, "application/octet-stream")


@router.get(
    "/paths/{path_id}/window",
    dependencies=[ComputingTurn],
    responses=problems(401, 404, 409, 429),
)
def get_path_window(
    path_id: UUID,
    caller: Reader,
    unit: ReadUnit,
    from_us: Microseconds = 0,
    to_us: Microseconds = None,
    at_us: Microseconds = None,
    points: Annotated[int, Query(ge=2, le=2000)] = 500,
) -> Answer[PathWindow]:
    """Return delay and hops between two times, thinned for a plot, and the positions of the path's nodes at one of them."""
    return json_response(path_window(unit, path_id, from_us or 0, to_us, at_us, points))


@router.delete("/paths/{path_id}", status_code=204, dependencies=[may(Verb.DERIVE)], responses=problems(401, 403, 404))
def delete_path(path_id: UUID, unit: UnitOfWork) -> None:
    """Delete a path with its file, also while it is being computed."""
    path_store.delete_path(unit, path_id)
