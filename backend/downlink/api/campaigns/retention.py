"""Retention of campaigns' data, its size, and its removal."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter

from downlink.actions.campaigns import retention
from downlink.api.http.answers import Answer, json_response
from downlink.api.http.deps import ComputingTurn, Now, Reader, ReadUnit, UnitOfWork, may_with_campaign, problems
from downlink.api.schemas.retention import RemovalBody, RetentionBody
from downlink.domain.campaigns.retention import Keep
from downlink.domain.people.access import Caller
from downlink.domain.people.permission import Verb
from downlink.views.campaigns.retention import DataList, Retention, campaign_retention, data_list

router = APIRouter(tags=["retention"])
Deleter = Annotated[Caller, may_with_campaign(Verb.DELETE_CAMPAIGN)]


@router.get("/retention", dependencies=[ComputingTurn], responses=problems(401, 429))
def list_retention(caller: Reader, unit: ReadUnit) -> Answer[DataList]:
    """List each campaign's disk use, largest first, and when its data expires."""
    return json_response(data_list(unit))


@router.get("/campaigns/{campaign_id}/retention", responses=problems(401, 404))
def get_retention(campaign_id: UUID, caller: Reader, unit: ReadUnit) -> Answer[Retention]:
    """Return the campaign's disk use, its retention, and what removing each part would remove."""
    return json_response(campaign_retention(unit, campaign_id))


@router.put("/campaigns/{campaign_id}/retention", responses=problems(401, 403, 404))
def set_retention(
    campaign_id: UUID, body: RetentionBody, caller: Deleter, unit: UnitOfWork, now: Now
) -> Answer[Retention]:
    """Set how long the campaign's data is kept after its end, or pin it. Pinning stops a removal in progress."""
    retention.set_keep(unit, campaign_id, _keep(body), now, actor=caller.actor, is_pinned=body.is_pinned)
    unit.session.flush()
    return json_response(campaign_retention(unit, campaign_id))


@router.post("/campaigns/{campaign_id}/retention/preview", responses=problems(401, 403, 404))
def preview_retention(campaign_id: UUID, body: RetentionBody, caller: Reader, unit: ReadUnit) -> Answer[Retention]:
    """Return what this rule would remove, and when, without changing anything."""
    answer = campaign_retention(unit, campaign_id, _keep(body), is_pinned=body.is_pinned)
    return json_response(answer)


@router.post("/campaigns/{campaign_id}/removal", status_code=202, responses=problems(401, 403, 404, 409))
def remove_data(campaign_id: UUID, body: RemovalBody, caller: Deleter, unit: UnitOfWork, now: Now) -> Answer[Retention]:
    """Permanently remove part of an ended campaign's data; a worker does it, some runs at a time.

    409 `campaign_pinned`, `campaign_under_way`, `nothing_to_remove`.
    """
    retention.order_removal(unit, campaign_id, body.part, now, actor=caller.actor)
    unit.session.flush()
    return json_response(campaign_retention(unit, campaign_id), 202)


def _keep(body: RetentionBody) -> Keep:
    return Keep(body.traces_days, body.series_days, body.all_days)
