"""Campaigns: preview, create, list, and the verbs that change their state."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import Field

from downlink.actions.campaigns import campaigns, reruns, retention
from downlink.actions.campaigns.archive_write import write_archive
from downlink.api.http import present
from downlink.api.http.answers import download
from downlink.api.http.deps import (
    CampaignReader,
    ComputingTurn,
    ExportSlot,
    Limit,
    Now,
    Offset,
    Reader,
    ReadUnit,
    UnitOfWork,
    Units,
    may,
    may_with_campaign,
    problems,
)
from downlink.api.schemas.campaign_preview import CampaignPreview
from downlink.api.schemas.campaigns import (
    Campaign,
    CampaignBody,
    CampaignChoices,
    CampaignDetail,
    CampaignList,
    CampaignSort,
    CampaignStateName,
    Deletion,
    DescribeBody,
    DuplicateBody,
    LaunchBody,
    Rerun,
)
from downlink.codec.campaign_shape import campaign_schema
from downlink.domain.people.access import Caller
from downlink.domain.people.permission import Verb
from downlink.domain.text import is_storable
from downlink.storage.campaigns import campaign_store
from downlink.storage.campaigns.search import Wanted, choices, search_campaigns
from downlink.storage.unit import Unit
from downlink.views.campaigns.precision import campaign_precision

router = APIRouter(tags=["campaigns"])
Creator = Annotated[Caller, may(Verb.CREATE_CAMPAIGN)]


def _detail(unit: Unit, campaign_id: UUID) -> CampaignDetail:
    overview = campaign_store.get_overview(unit, campaign_id)
    return present.campaign_detail(overview, campaign_precision(unit, overview.campaign))


@router.post("/campaigns/preview", dependencies=[ComputingTurn], responses=problems(401, 403, 429))
def preview_campaign(body: CampaignBody, caller: Reader, unit: ReadUnit, now: Now) -> CampaignPreview:
    """Parse and plan a campaign file without saving it."""
    return present.preview(campaigns.preview(unit, body.source, body.campaign, now))


@router.get("/campaigns/schema", responses=problems(401, 403))
def get_campaign_schema(caller: Reader) -> dict[str, Any]:
    """Return the JSON Schema of a campaign file: keys, ranges, defaults and help, for editors and forms."""
    return campaign_schema()


@router.get("/campaigns/choices", responses=problems(401))
def get_campaign_choices(caller: Reader, unit: ReadUnit) -> CampaignChoices:
    """Return the filters of the list: states, tags and links, each with its number of campaigns."""
    return CampaignChoices.model_validate(choices(unit))


@router.get("/campaigns", responses=problems(401))
def list_campaigns(
    caller: Reader,
    unit: ReadUnit,
    state: Annotated[CampaignStateName | None, Query(description="Only those in this state")] = None,
    link: Annotated[str | None, Query(max_length=100, description="Only those that use this link")] = None,
    tag: Annotated[
        list[Annotated[str, Field(max_length=200)]] | None,
        Query(max_length=20, description="Only those with this tag; with all of several"),
    ] = None,
    q: Annotated[
        str, Query(max_length=100, description="Each word is in the name, notes, a tag, a link or a condition")
    ] = "",
    sort: Annotated[
        CampaignSort, Query(description="With a minus the last first; empty ones come last")
    ] = "-created_at",
    limit: Limit = 50,
    offset: Offset = 0,
) -> CampaignList:
    """List matching campaigns in pages, newest first unless `sort` is given."""
    if not all(map(is_storable, [q, link or "", *(tag or ())])):
        return CampaignList(items=[], total=0)  # no stored text holds it
    rows, total = search_campaigns(unit, Wanted(q, state, link, tag or (), sort), limit, offset)
    return CampaignList(items=[present.campaign(row) for row in rows], total=total)


@router.post("/campaigns", status_code=201, dependencies=[ComputingTurn], responses=problems(401, 403, 429))
def create_campaign(body: CampaignBody, caller: Creator, unit: UnitOfWork, now: Now) -> CampaignDetail:
    """Save a campaign file as a draft; `launch` starts it."""
    created = campaigns.create_campaign(unit, body.source, body.campaign, now, owner_id=caller.account_id)
    return _detail(unit, created.id)


@router.get("/campaigns/{campaign_id}", responses=problems(401, 403, 404, 429))
def get_campaign(campaign_id: UUID, caller: CampaignReader, unit: ReadUnit) -> CampaignDetail:
    """Return a campaign: its file, its state, and how many of its runs have ended."""
    return _detail(unit, campaign_id)


@router.put(
    "/campaigns/{campaign_id}",
    dependencies=[may_with_campaign(Verb.CHANGE_CAMPAIGN), ComputingTurn],
    responses=problems(401, 403, 404, 409, 429),
)
def change_campaign(campaign_id: UUID, body: CampaignBody, unit: UnitOfWork, now: Now) -> CampaignDetail:
    """Replace a draft's file. A launched campaign cannot be changed: `duplicate` creates a draft from it."""
    campaigns.change_draft(unit, campaign_id, body.source, body.campaign, now)
    return _detail(unit, campaign_id)


@router.patch(
    "/campaigns/{campaign_id}",
    dependencies=[may_with_campaign(Verb.DESCRIBE_CAMPAIGN)],
    responses=problems(401, 403, 404),
)
def describe_campaign(campaign_id: UUID, body: DescribeBody, unit: UnitOfWork, now: Now) -> CampaignDetail:
    """Change a campaign's notes, tags and grouping, in any state. Its file and data stay as they are."""
    campaigns.describe_campaign(unit, campaign_id, now, body.notes, body.tags, body.splits_by_address)
    return _detail(unit, campaign_id)


@router.post(
    "/campaigns/{campaign_id}/duplicate",
    status_code=201,
    responses=problems(401, 403, 404, 409),
)
def duplicate_campaign(
    campaign_id: UUID, caller: Creator, unit: UnitOfWork, now: Now, body: DuplicateBody | None = None
) -> CampaignDetail:
    """Create a draft with the same file under another name; comments are kept."""
    made = campaigns.duplicate_campaign(unit, campaign_id, body.name if body else None, now, owner_id=caller.account_id)
    return _detail(unit, made.id)


@router.delete(
    "/campaigns/{campaign_id}",
    status_code=204,
    response_model=None,
    responses={
        202: {"model": Deletion, "description": "Workers delete its runs, some at a time"},
        **problems(401, 403, 404, 409),
    },
)
def delete_campaign(
    campaign_id: UUID, caller: Annotated[Caller, may_with_campaign(Verb.DELETE_CAMPAIGN)], unit: UnitOfWork, now: Now
) -> Response:
    """Delete a draft or an ended campaign with its runs and traces: at once (204), or, where it has more than 100 runs, in parts (202)."""
    left = retention.delete(unit, campaign_id, now, actor=caller.actor)
    if not left:
        return Response(status_code=204)
    return JSONResponse(Deletion(campaign_id=campaign_id, runs_left=left).model_dump(mode="json"), 202)


@router.post(
    "/campaigns/{campaign_id}/launch",
    dependencies=[may_with_campaign(Verb.RUN_CAMPAIGN)],
    responses=problems(401, 403, 404, 409),
)
def launch_campaign(
    campaign_id: UUID,
    unit: UnitOfWork,
    now: Now,
    body: LaunchBody | None = None,
) -> Campaign:
    """Plan the runs from now on and start. `plan_blocked` (409) lists the conflicts that prevent it in `details`."""
    campaigns.launch_campaign(unit, campaign_id, now, even_if_offline=body is not None and body.even_if_offline)
    return present.campaign(campaign_store.get_overview(unit, campaign_id))


@router.post(
    "/campaigns/{campaign_id}/pause",
    dependencies=[may_with_campaign(Verb.RUN_CAMPAIGN)],
    responses=problems(401, 403, 404, 409),
)
def pause_campaign(campaign_id: UUID, unit: UnitOfWork, now: Now) -> Campaign:
    """Pause: start no further run. A run under way continues to its end."""
    campaigns.pause_campaign(unit, campaign_id, now)
    return present.campaign(campaign_store.get_overview(unit, campaign_id))


@router.post(
    "/campaigns/{campaign_id}/resume",
    dependencies=[may_with_campaign(Verb.RUN_CAMPAIGN)],
    responses=problems(401, 403, 404, 409),
)
def resume_campaign(campaign_id: UUID, unit: UnitOfWork, now: Now) -> Campaign:
    """Resume; planned runs move by the length of the pause."""
    campaigns.resume_campaign(unit, campaign_id, now)
    return present.campaign(campaign_store.get_overview(unit, campaign_id))


@router.post(
    "/campaigns/{campaign_id}/cancel",
    dependencies=[may_with_campaign(Verb.RUN_CAMPAIGN)],
    responses=problems(401, 403, 404, 409),
)
def cancel_campaign(campaign_id: UUID, unit: UnitOfWork, now: Now) -> Campaign:
    """Cancel every run that has not ended; hosts are restored."""
    campaigns.cancel_campaign(unit, campaign_id, now)
    return present.campaign(campaign_store.get_overview(unit, campaign_id))


@router.post(
    "/campaigns/{campaign_id}/rerun",
    dependencies=[may_with_campaign(Verb.RUN_CAMPAIGN)],
    responses=problems(401, 403, 404, 409),
)
def rerun_campaign(campaign_id: UUID, unit: UnitOfWork, now: Now) -> Rerun:
    """Plan a new attempt for each slot whose last run failed, was missed or is incomplete. A complete campaign resumes."""
    count = reruns.rerun_campaign(unit, campaign_id, now)
    return Rerun(campaign=present.campaign(campaign_store.get_overview(unit, campaign_id)), runs=count)


@router.get(
    "/campaigns/{campaign_id}/archive.zip",
    response_class=StreamingResponse,
    responses={
        200: {"content": {"application/zip": {}}, "description": "docs/data-format.md, section 4"},
        **problems(401, 404, 409, 429),
    },
    dependencies=[ExportSlot],
)
def campaign_archive(campaign_id: UUID, caller: Reader, units: Units) -> StreamingResponse:
    """Download an ended campaign: rows, report and sealed traces. `downlink seed` reads it."""
    return download(write_archive(units, campaign_id), f"campaign-{campaign_id}.zip", "application/zip")
