"""A campaign as one file to keep or to hand on."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from downlink.actions.campaigns.archive_write import write_archive
from downlink.api.http.answers import download
from downlink.api.http.deps import ExportSlot, Reader, Units, problems

router = APIRouter(tags=["campaigns"])


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
