"""A campaign's numbers recomputed."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from fastapi import APIRouter
from pydantic import Field

from downlink.actions.results.reanalysis import order_reanalysis
from downlink.api.http.deps import Now, Reader, ReadUnit, UnitOfWork, may, problems
from downlink.api.schemas.base import Shape
from downlink.domain.people.permission import Verb
from downlink.views.results.reanalysis import campaign_reanalysis

router = APIRouter(tags=["reports"])


class Reanalysis(Shape):
    """The progress of a re-analysis."""

    campaign_id: UUID
    analysis_version: str = Field(description="The server's own version, used to judge the runs")
    state: Literal["running", "idle"] = Field(description="running until every run is done and the report is made")
    runs: int = Field(description="Analysed runs of the campaign")
    done: int
    outdated: int = Field(description="Runs whose numbers were last computed by another version")


@router.get("/campaigns/{campaign_id}/reanalysis", responses=problems(401, 404))
def get_reanalysis(campaign_id: UUID, caller: Reader, unit: ReadUnit) -> Reanalysis:
    """Return whether numbers are being recomputed, and how many runs have numbers of another analysis version."""
    return Reanalysis.model_validate(campaign_reanalysis(unit, campaign_id))


@router.post(
    "/campaigns/{campaign_id}/reanalysis",
    status_code=202,
    dependencies=[may(Verb.DERIVE)],
    responses=problems(401, 403, 404, 409),
)
def start_reanalysis(campaign_id: UUID, unit: UnitOfWork, now: Now) -> Reanalysis:
    """Recompute the numbers of every analysed run from its sealed traces, then the report. The runs' states stay."""
    order_reanalysis(unit, campaign_id, now)
    return Reanalysis.model_validate(campaign_reanalysis(unit, campaign_id))
