"""Annotations."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, Field

from downlink.api.schemas.base import Body, Name, Shape, refuse_controls
from downlink.domain.campaigns.annotation import MOST_WORDS, AnnotationKind
from downlink.views.campaigns.annotations import Annotation


def _said(text: str) -> str:
    """ValueError for blanks alone."""
    if not text.strip():
        raise ValueError("say something")
    return text.strip()


Words = Annotated[
    str, Field(min_length=1, max_length=MOST_WORDS), AfterValidator(refuse_controls), AfterValidator(_said)
]


class AnnotationBody(Body):
    """An annotation of a campaign, of a link, or of one link of a campaign."""

    campaign_id: UUID | None = None
    link: Name | None = Field(default=None, description="By name; without campaign_id every campaign over it shows it")
    kind: AnnotationKind = AnnotationKind.NOTE
    text: Words
    from_at: AwareDatetime
    to_at: AwareDatetime | None = Field(default=None, description="Null for a moment")


class AnnotationList(Shape):
    items: list[Annotation]
    total: int
