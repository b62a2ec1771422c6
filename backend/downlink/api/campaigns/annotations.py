"""Annotations on the times of campaigns and links."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from downlink.actions.campaigns import annotations as annotating
from downlink.actions.campaigns.annotations import Noted
from downlink.api.http.deps import Limit, Now, Offset, Reader, ReadUnit, UnitOfWork, may, problems
from downlink.api.schemas.annotations import AnnotationBody, AnnotationList
from downlink.domain.people.permission import Verb
from downlink.domain.text import is_storable
from downlink.storage.campaigns import annotation_store
from downlink.views.campaigns.annotations import Annotation, annotation_of

router = APIRouter(tags=["annotations"])


@router.get("/annotations", responses=problems(401))
def list_annotations(
    caller: Reader,
    unit: ReadUnit,
    campaign_id: Annotated[UUID | None, Query(description="Only the campaign's own")] = None,
    link: Annotated[str | None, Query(max_length=100, description="Only those of this link")] = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> AnnotationList:
    """List annotations by start time."""
    if link is not None and not is_storable(link):
        return AnnotationList(items=[], total=0)
    rows, total = annotation_store.list_annotations(unit, campaign_id, link, limit, offset)
    return AnnotationList(items=[annotation_of(row) for row in rows], total=total)


@router.post("/annotations", status_code=201, dependencies=[may(Verb.ANNOTATE)], responses=problems(401, 403, 404, 409))
def annotate(body: AnnotationBody, unit: UnitOfWork, now: Now) -> Annotation:
    """Create an annotation: weather, maintenance or anything else. 409 `annotations_full` beyond 200 of a campaign."""
    return annotation_of(annotating.annotate(unit, Noted(**body.model_dump()), now))


@router.delete(
    "/annotations/{annotation_id}",
    status_code=204,
    dependencies=[may(Verb.ANNOTATE)],
    responses=problems(401, 403, 404),
)
def delete_annotation(annotation_id: UUID, unit: UnitOfWork) -> None:
    """Delete an annotation; runs are unaffected."""
    annotating.delete_annotation(unit, annotation_id)
