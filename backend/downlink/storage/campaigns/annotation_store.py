"""Annotations of campaigns and links."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, and_, delete, func, or_, select, true

from downlink.storage.tables import Annotation
from downlink.storage.unit import Unit

END = func.coalesce(Annotation.to_at, Annotation.from_at)


def add_annotation(unit: Unit, annotation: Annotation) -> None:
    unit.session.add(annotation)
    unit.session.flush()


def delete_annotation(unit: Unit, annotation_id: UUID) -> bool:
    """Delete an annotation; return whether it existed."""
    deleted = unit.session.execute(delete(Annotation).where(Annotation.id == annotation_id).returning(Annotation.id))
    return deleted.first() is not None


def count_of(unit: Unit, campaign_id: UUID | None, link: str | None) -> int:
    """Count the annotations of the campaign; without one, of the link itself."""
    own = (
        Annotation.campaign_id == campaign_id
        if campaign_id
        else and_(Annotation.campaign_id.is_(None), Annotation.link == link)
    )
    return unit.session.scalar(select(func.count()).select_from(Annotation).where(own)) or 0


def list_annotations(
    unit: Unit, campaign_id: UUID | None, link: str | None, limit: int, offset: int
) -> tuple[Sequence[Annotation], int]:
    """List annotations by start time."""
    where = and_(
        Annotation.campaign_id == campaign_id if campaign_id else true(), Annotation.link == link if link else true()
    )
    total = unit.session.scalar(select(func.count()).select_from(Annotation).where(where)) or 0
    query = select(Annotation).where(where).order_by(Annotation.from_at, Annotation.id)
    return unit.session.scalars(query.limit(limit).offset(offset)).all(), total


def concerning(
    campaign_id: UUID, links: Sequence[str], from_at: datetime | None, to_at: datetime | None
) -> ColumnElement[bool]:
    """Return the filter for annotations of a campaign, and of its links while it ran."""
    own = Annotation.campaign_id == campaign_id
    if from_at is None or to_at is None:
        return own
    of_links = and_(
        Annotation.campaign_id.is_(None), Annotation.link.in_(links), Annotation.from_at <= to_at, from_at <= END
    )
    return or_(own, of_links)


def annotations_over(
    unit: Unit, campaign_id: UUID, links: Sequence[str], from_at: datetime | None, to_at: datetime | None, limit: int
) -> Sequence[Annotation]:
    """All of a campaign, whenever they were, and those of its links that touch a stretch of time; the first of them."""
    query = select(Annotation).where(concerning(campaign_id, links, from_at, to_at))
    return unit.session.scalars(query.order_by(Annotation.from_at, Annotation.id).limit(limit)).all()
