"""A campaign's report and its exports; a run's traces."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import StreamingResponse

from downlink.api.http.answers import Answer, download, json_response, packed_response, stored_response
from downlink.api.http.deps import (
    CampaignExportSlot,
    CampaignReader,
    CampaignTurn,
    ExportSlot,
    Reader,
    ReadUnit,
    Units,
    problems,
)
from downlink.api.schemas.reports import Report
from downlink.domain.traces.point import POINT
from downlink.views.results import reports, tables, values
from downlink.views.results.circumstances import CampaignLinks, Circumstances, circumstances, links_of
from downlink.views.results.reports import CampaignStatistics
from downlink.views.results.reproduction import CampaignReproduction, Reproductions
from downlink.views.results.values import CampaignValues
from downlink.views.traces import traces

router = APIRouter(tags=["reports"])
CSV = "text/csv; charset=utf-8; header=present"
PARQUET = "application/vnd.apache.parquet"
TracePoint = Annotated[
    str,
    Path(
        pattern=f"^({POINT})$",
        description="sender, receiver, link; hop-1, hop-2, … at relays; sent and delivered: a delivery table's halves; "
        "sites: what each site of an emulated link did",
    ),
]
FlowNumber = Annotated[
    int, Path(ge=0, le=1000, description="0 with the point `link`: an emulated link's log is its run's")
]

Baseline = Annotated[
    str | None, Query(max_length=200, description="A condition's name; without it the campaign's first")
]
PhaseName = Annotated[
    str | None,
    Query(max_length=100, description="The comparisons of this phase alone, and those of primary metrics"),
]


def file_answer(media_type: str, slot: Any = ExportSlot) -> dict[str, Any]:
    body = {"schema": {"type": "string", "format": "binary" if media_type == PARQUET else "csv"}}
    return {
        "responses": {200: {"content": {media_type.split(";", maxsplit=1)[0]: body}, "description": "The file"}}
        | problems(401, 403, 404, 422, 429),
        "dependencies": [slot],
    }


@router.get(
    "/campaigns/{campaign_id}/report",
    responses=problems(401, 403, 404, 429),
    dependencies=[CampaignTurn],
)
def get_report(campaign_id: UUID, caller: CampaignReader, unit: ReadUnit, request: Request) -> Answer[Report]:
    """Return the report, provisional while the campaign is under way. 404 `report_not_ready` until a run is complete."""
    return packed_response(request, reports.stored_report(unit, campaign_id))


@router.get(
    "/campaigns/{campaign_id}/statistics",
    responses=problems(401, 403, 404, 422, 429),
    dependencies=[CampaignTurn],
)
def get_statistics(
    campaign_id: UUID, caller: CampaignReader, unit: ReadUnit, baseline: Baseline = None, phase: PhaseName = None
) -> Answer[CampaignStatistics]:
    """Return power, tests of distributions and outliers over the complete runs.

    The baseline is the campaign's first condition, or another one: then p values are adjusted for every pair of conditions.
    """
    if baseline is not None:
        return json_response(values.statistics_against(unit, campaign_id, baseline, phase))
    if phase is not None:
        return json_response(values.statistics_of(unit, campaign_id, phase))
    return stored_response(reports.kept_answer(unit, campaign_id, "statistics"))


@router.get(
    "/campaigns/{campaign_id}/values",
    responses=problems(401, 403, 404, 422, 429),
    dependencies=[CampaignTurn],
)
def get_values(
    campaign_id: UUID,
    caller: CampaignReader,
    unit: ReadUnit,
    phase: Annotated[str, Query(max_length=100)] = "startup",
    metric: Annotated[str, Query(max_length=100)] = "throughput_bps",
) -> Answer[CampaignValues]:
    """Return one quantity of every complete run, as of the report: the data of distribution plots."""
    return json_response(values.values_at(unit, campaign_id, phase, metric))


@router.get(
    "/campaigns/{campaign_id}/reproduction",
    responses=problems(401, 403, 404, 429),
    dependencies=[CampaignTurn],
)
def get_reproduction(campaign_id: UUID, caller: CampaignReader, unit: ReadUnit) -> Answer[CampaignReproduction]:
    """Compare the published values named in the campaign's file with the measured ones, over the complete runs so far."""
    return stored_response(reports.kept_answer(unit, campaign_id, "reproduction"))


@router.get(
    "/campaigns/{campaign_id}/circumstances", responses=problems(401, 403, 404, 429), dependencies=[CampaignTurn]
)
def get_circumstances(campaign_id: UUID, caller: CampaignReader, unit: ReadUnit) -> Circumstances:
    """Return the conditions of the measurement: kernels, and requested settings that were not available."""
    return circumstances(unit, campaign_id)


@router.get("/campaigns/{campaign_id}/links", responses=problems(401, 403, 404, 429))
def get_campaign_links(campaign_id: UUID, caller: CampaignReader, unit: ReadUnit) -> CampaignLinks:
    """List the campaign's links, with the rate and RTT that its runs were planned with."""
    return links_of(unit, campaign_id)


@router.get("/reproduction", responses=problems(401))
def list_reproductions(caller: Reader, unit: ReadUnit) -> Answer[Reproductions]:
    """List all campaigns that name a published figure; values of one name belong side by side."""
    return stored_response(reports.reproductions(unit))


@router.get(
    "/campaigns/{campaign_id}/{table}.csv", response_class=StreamingResponse, **file_answer(CSV, CampaignExportSlot)
)
def export_campaign(
    campaign_id: UUID, table: tables.TableName, caller: CampaignReader, units: Units, baseline: Baseline = None
) -> StreamingResponse:
    """Export a table as CSV: one-second series, means per condition, runs, metrics of flows, verdicts of detectors, limits of each
    second, fairness, comparisons, published values, or outliers.

    Tables of runs include failed and missed ones. Only `statistics` takes a baseline.
    """
    name, chunks = tables.campaign_csv(units, campaign_id, table, baseline)
    return download(chunks, f"{name}-{table}.csv", CSV)


@router.get("/runs/{run_id}/traces/{flow}/{point}.parquet", response_class=StreamingResponse, **file_answer(PARQUET))
def export_trace_parquet(
    run_id: UUID, flow: FlowNumber, point: TracePoint, caller: Reader, units: Units
) -> StreamingResponse:
    """A sealed trace, every sample of it."""
    return download(traces.trace_parquet(units, run_id, flow, point), f"{run_id}-{flow}-{point}.parquet", PARQUET)


@router.get("/runs/{run_id}/traces/{flow}/{point}.csv", response_class=StreamingResponse, **file_answer(CSV))
def export_trace_csv(
    run_id: UUID, flow: FlowNumber, point: TracePoint, caller: Reader, units: Units
) -> StreamingResponse:
    """A sealed trace, every sample of it."""
    return download(traces.trace_csv(units, run_id, flow, point), f"{run_id}-{flow}-{point}.csv", CSV)
