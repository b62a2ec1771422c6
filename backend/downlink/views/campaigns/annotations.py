"""Annotations on the times of campaigns and links."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from downlink.domain.campaigns.annotation import AnnotationKind
from downlink.domain.moment import Moment
from downlink.storage import tables


@dataclass(frozen=True)
class Annotation:
    id: UUID
    campaign_id: UUID | None
    link: str | None
    kind: AnnotationKind
    text: str
    from_at: Moment
    to_at: Moment | None
    created_at: Moment


def annotation_of(row: tables.Annotation) -> Annotation:
    """A stored annotation as it is shown."""
    kind = AnnotationKind(row.kind)
    return Annotation(row.id, row.campaign_id, row.link, kind, row.text, row.from_at, row.to_at, row.created_at)
