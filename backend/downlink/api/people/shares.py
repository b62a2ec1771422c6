"""Share links: read access to one campaign for anyone with the link."""

from __future__ import annotations

import time
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Request, Response

from downlink.actions.people import shares
from downlink.api.http.cookies import check_origin, set_share
from downlink.api.http.deps import Config, Now, ReadUnit, UnitOfWork, Units, address_of, may_with_campaign, problems
from downlink.api.schemas.shares import OpenBody, Share, ShareBody, ShareCreated, SharedCampaign, ShareList
from downlink.domain.people.access import Caller
from downlink.domain.people.permission import Verb
from downlink.storage.campaigns.campaign_store import find_campaign
from downlink.storage.people import share_store

router = APIRouter(tags=["shares"])
Sharer = Annotated[Caller, may_with_campaign(Verb.SHARE_CAMPAIGN)]


@router.get("/campaigns/{campaign_id}/shares", responses=problems(401, 403, 404))
def list_shares(campaign_id: UUID, caller: Sharer, unit: ReadUnit, now: Now) -> ShareList:
    """List the share links to this campaign that still work, newest first, without their secrets."""
    find_campaign(unit, campaign_id)
    items = [Share.model_validate(row) for row in share_store.list_shares(unit, campaign_id, now)]
    return ShareList(items=items, total=len(items))


@router.post("/campaigns/{campaign_id}/shares", status_code=201, responses=problems(401, 403, 404, 409))
def create_share(
    campaign_id: UUID, body: ShareBody, caller: Sharer, unit: UnitOfWork, settings: Config, now: Now
) -> ShareCreated:
    """Create a link that gives anyone read access to this campaign's report, results and tables alone, until it expires. 409
    `shares_full` beyond 20."""
    row, secret = shares.make_share(unit, campaign_id, body.name, body.expires_in_days, now, actor=caller.actor)
    # In the fragment, which browsers send to no server and write into no log.
    link = f"{settings.public_url}/shared#{secret}"
    return ShareCreated(**Share.model_validate(row).model_dump(), link=link)


@router.delete("/campaigns/{campaign_id}/shares/{share_id}", status_code=204, responses=problems(401, 403, 404))
def revoke_share(campaign_id: UUID, share_id: UUID, caller: Sharer, unit: UnitOfWork, now: Now) -> None:
    """Revoke a share link, from the next request on."""
    shares.revoke_share(unit, campaign_id, share_id, now, actor=caller.actor)


@router.post("/shares/open", responses=problems(401, 403, 429))
def open_share(
    body: OpenBody, request: Request, response: Response, units: Units, settings: Config, now: Now
) -> SharedCampaign:
    """Exchange a share link's secret for a cookie with read access to its campaign alone. No sign-in is needed."""
    check_origin(request, settings) if request.headers.get("origin") else None
    shares.check_form(body.secret)
    request.app.state.gate.check(address_of(request), time.monotonic())
    with units() as unit:
        share, campaign = shares.open_share(unit, body.secret, now)
        left_s = int((share.expires_at - now).total_seconds())
        opened = SharedCampaign(campaign_id=campaign.id, campaign=campaign.name, expires_at=share.expires_at)
    set_share(response, settings, body.secret, opened.campaign_id, left_s)
    return opened
