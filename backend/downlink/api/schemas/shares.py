"""Share links."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field

from downlink.api.schemas.base import Body, Name, Shape
from downlink.domain.moment import Moment
from downlink.domain.people.share import ExpiryDays


class ShareBody(Body):
    name: Name = Field(description="What, or whom, the link is for: to recognise it by")
    expires_in_days: ExpiryDays = 30


class Share(Shape):
    id: UUID
    name: str
    created_by: str
    created_at: Moment
    expires_at: Moment
    opened: int = Field(description="How often a browser has opened it")
    opened_at: Moment | None


class ShareCreated(Share):
    link: str = Field(description="Shown only once; of its secret only a hash is kept")


class ShareList(Shape):
    items: list[Share]
    total: int


class OpenBody(Body):
    secret: Annotated[str, Field(max_length=100, description="What comes after the link's #")]


class SharedCampaign(Shape):
    campaign_id: UUID
    campaign: str = Field(description="Its name")
    expires_at: Moment
