"""Links."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter

from downlink.actions.campaigns import quick_tests
from downlink.actions.links import links
from downlink.api.http import present
from downlink.api.http.deps import Limit, Now, Offset, Reader, ReadUnit, UnitOfWork, may, may_with_link, problems
from downlink.api.schemas.links import Link, LinkBody, LinkChange, LinkList, QuickTest, QuickTestBody
from downlink.domain.people.access import Caller
from downlink.domain.people.permission import Verb
from downlink.storage import tables
from downlink.storage.links import link_store
from downlink.storage.unit import Unit

router = APIRouter(tags=["links"])


@router.get("/links", responses=problems(401))
def list_links(caller: Reader, unit: ReadUnit, now: Now, limit: Limit = 100, offset: Offset = 0) -> LinkList:
    """List links, with the run that uses each and the rest of its allowance."""
    rows, total = link_store.list_links(unit, limit, offset)
    held = link_store.runs_on_links(unit)
    months = link_store.allowances(unit, [row.name for row in rows], now)
    items = [present.link(row, held.get(row.name), months.get(row.name)) for row in rows]
    return LinkList(items=items, total=total)


@router.post("/links", status_code=201, responses=problems(401, 403, 404, 409))
def create_link(body: LinkBody, caller: Annotated[Caller, may(Verb.CREATE_LINK)], unit: UnitOfWork, now: Now) -> Link:
    """Add a link between agents that have joined."""
    return _shown(unit, links.create_link(unit, body.model_dump(), now, owner_id=caller.account_id), now)


@router.patch(
    "/links/{link_id}", dependencies=[may_with_link(Verb.CHANGE_LINK)], responses=problems(401, 403, 404, 409)
)
def change_link(link_id: UUID, body: LinkChange, unit: UnitOfWork, now: Now) -> Link:
    """Change the given keys. 409 while a run uses the link."""
    return _shown(unit, links.change_link(unit, link_id, body.model_dump(exclude_unset=True)), now)


def _shown(unit: Unit, row: tables.Link, now: datetime) -> Link:
    """A link that no run holds."""
    return present.link(row, None, link_store.allowances(unit, [row.name], now).get(row.name))


@router.delete(
    "/links/{link_id}",
    status_code=204,
    dependencies=[may_with_link(Verb.CHANGE_LINK)],
    responses=problems(401, 403, 404, 409),
)
def delete_link(link_id: UUID, unit: UnitOfWork) -> None:
    """Delete a link that no campaign under way uses; ended campaigns keep its name."""
    links.delete_link(unit, link_id)


@router.post(
    "/links/{link_id}/quick-test",
    status_code=201,
    dependencies=[may(Verb.CREATE_CAMPAIGN)],
    responses=problems(401, 403, 404, 409),
)
def start_quick_test(link_id: UUID, unit: UnitOfWork, now: Now, body: QuickTestBody | None = None) -> QuickTest:
    """Start a download of 15 s now, kept in the link's campaign of quick tests; it waits while another run uses the link.

    `plan_blocked` (409) lists the obstacles in `details`; `quick_test_under_way` (409) has the last one's `run_id`.
    """
    run = quick_tests.start_quick_test(unit, link_id, body.sender if body else 1, now)
    return QuickTest(campaign_id=run.campaign_id, run_id=run.id)
