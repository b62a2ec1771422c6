"""A campaign as one file to keep or to hand on."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter, Response

from downlink.actions.archive import write_archive
from downlink.api.deps import Reader, ReadUnit, problems

router = APIRouter(tags=["campaigns"])


@router.get(
    "/campaigns/{campaign_id}/archive.zip",
    response_class=Response,
    responses={
        200: {"content": {"application/zip": {}}, "description": "docs/data-format.md, section 4"},
        **problems(401, 404),
    },
)
def campaign_archive(campaign_id: UUID, caller: Reader, unit: ReadUnit) -> Response:
    """Everything of a campaign: rows, report and sealed traces. `downlink seed` reads it."""
    headers = {"Content-Disposition": f'attachment; filename="campaign-{campaign_id}.zip"'}
    return Response(write_archive(unit, campaign_id), media_type="application/zip", headers=headers)
