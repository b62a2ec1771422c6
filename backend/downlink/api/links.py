"""Links."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter

from downlink.actions import links
from downlink.api import present
from downlink.api.deps import Limit, Now, Offset, Reader, ReadUnit, UnitOfWork, may, problems
from downlink.api.schemas.links import Link, LinkBody, LinkChange, LinkList
from downlink.domain.permission import Verb
from downlink.storage import links as rows

router = APIRouter(tags=["links"])


@router.get("/links", responses=problems(401))
def list_links(caller: Reader, unit: ReadUnit, limit: Limit = 100, offset: Offset = 0) -> LinkList:
    found, total = rows.list_links(unit, limit, offset)
    held = rows.runs_on_links(unit)
    return LinkList(items=[present.link(row, held.get(row.name)) for row in found], total=total)


@router.post("/links", status_code=201, dependencies=[may(Verb.CREATE_LINK)], responses=problems(401, 403, 404, 409))
def create_link(body: LinkBody, unit: UnitOfWork, now: Now) -> Link:
    return present.link(links.create_link(unit, body.model_dump(), now), None)


@router.patch("/links/{link_id}", dependencies=[may(Verb.CHANGE_LINK)], responses=problems(401, 403, 404, 409))
def change_link(link_id: UUID, body: LinkChange, unit: UnitOfWork) -> Link:
    return present.link(links.change_link(unit, link_id, body.model_dump(exclude_unset=True)), None)


@router.delete(
    "/links/{link_id}", status_code=204, dependencies=[may(Verb.CHANGE_LINK)], responses=problems(401, 403, 404, 409)
)
def delete_link(link_id: UUID, unit: UnitOfWork) -> None:
    """Delete a link that no campaign under way uses; ended campaigns keep its name."""
    links.delete_link(unit, link_id)
