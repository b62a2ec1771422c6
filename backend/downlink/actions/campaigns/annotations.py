"""Annotations are made and deleted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from downlink.domain.campaigns.annotation import MOST_OF_CAMPAIGN, MOST_OF_LINK, AnnotationKind, check_times
from downlink.domain.errors import ConflictError, InvalidError, NotFoundError
from downlink.storage.campaigns import annotation_store, campaign_store
from downlink.storage.links import link_store
from downlink.storage.tables import Annotation
from downlink.storage.unit import Unit, lock


@dataclass(frozen=True, slots=True)
class Noted:
    """campaign_id, link or both: a campaign, a link, or one link of a campaign. to_at: None for a moment."""

    campaign_id: UUID | None
    link: str | None
    kind: AnnotationKind
    text: str
    from_at: datetime
    to_at: datetime | None


def annotate(unit: Unit, noted: Noted, now: datetime) -> Annotation:
    """InvalidError for what has no subject or ends too soon, NotFoundError for a subject that is not there, ConflictError when
    it has as many as it may."""
    check_times(noted.from_at, noted.to_at)
    _check_subject(unit, noted)
    lock(unit, "annotations")
    most = MOST_OF_CAMPAIGN if noted.campaign_id else MOST_OF_LINK
    if annotation_store.count_of(unit, noted.campaign_id, noted.link) >= most:
        raise ConflictError("annotations_full", f"There are {most} annotations already; delete some that say little.")
    made = Annotation(
        campaign_id=noted.campaign_id, link=noted.link, kind=noted.kind.value, text=noted.text,
        from_at=noted.from_at, to_at=noted.to_at, created_at=now,
    )  # fmt: skip
    annotation_store.add_annotation(unit, made)
    return made


def _check_subject(unit: Unit, noted: Noted) -> None:
    if noted.campaign_id is None and noted.link is None:
        raise InvalidError("annotation_subject", "Say what is annotated: campaign_id, link, or both.")
    if noted.campaign_id is None:
        if not link_store.has_name(unit, noted.link or ""):
            raise NotFoundError("link_not_found", f"There is no link {noted.link}.")
        return
    spec = campaign_store.campaign_of(campaign_store.find_campaign(unit, noted.campaign_id))
    if noted.link is not None and noted.link not in spec.links:
        raise InvalidError(
            "annotation_subject", f"The campaign has no link {noted.link}; it has: {', '.join(spec.links)}."
        )


def delete_annotation(unit: Unit, annotation_id: UUID) -> None:
    if not annotation_store.delete_annotation(unit, annotation_id):
        raise NotFoundError("annotation_not_found", f"There is no annotation {annotation_id}.")
