"""Channels of notifications."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, Field

from downlink.api.schemas.base import Body, Name, Shape, storable
from downlink.domain.moment import Moment
from downlink.domain.notices.notification import FAILURES_IN_ROW, GONE_AFTER_MIN, ChannelKind, Topic

Target = Annotated[
    str,
    Field(min_length=1, max_length=2000, description="Of `webhook` and `chat` a URL, of `email` one address"),
    AfterValidator(storable),
]
Topics = Annotated[list[Topic], Field(min_length=1, max_length=len(Topic), description="What is sent to it")]
InRow = Annotated[int, Field(ge=1, le=100, description="`failures`: from how many failed or missed runs in a row on")]
GoneAfter = Annotated[int, Field(ge=1, le=1440, description="`agent_gone`: after how many minutes of silence")]
OwnOnly = Annotated[bool, Field(description="Campaigns and links of the own account alone; agents are all of them")]
State = Literal["waiting", "retrying", "sent", "gave_up"]


class ChannelBody(Body):
    name: Name
    kind: ChannelKind
    target: Target
    topics: Topics = Field(default=list(Topic))
    is_own_only: OwnOnly = False
    failures_in_row: InRow = FAILURES_IN_ROW
    gone_after_min: GoneAfter = GONE_AFTER_MIN


class ChannelChange(Body):
    """A change of a channel: only the given keys are changed. A webhook's secret stays."""

    name: Name | None = None
    target: Target | None = None
    topics: Topics | None = None
    is_own_only: OwnOnly | None = None
    failures_in_row: InRow | None = None
    gone_after_min: GoneAfter | None = None
    is_enabled: bool | None = Field(default=None, description="False: what is on its way is given up")


class LastTry(Shape):
    """The last attempt: of the notification that was tried last."""

    title: str
    state: State
    tried_at: Moment
    detail: str | None


class Channel(Shape):
    id: UUID
    name: str
    kind: ChannelKind
    target: str = Field(description="Of a URL its host alone: the rest is often a secret")
    topics: list[Topic]
    is_own_only: bool
    failures_in_row: int
    gone_after_min: int
    is_enabled: bool
    owner: str | None = Field(description="The account whose it is; null for one that an API token of nobody made")
    created_by: str
    created_at: Moment
    last: LastTry | None


class ChannelCreated(Channel):
    secret: str | None = Field(
        description="What posts of a webhook are signed with, shown only once; null for other kinds"
    )


class ChannelList(Shape):
    items: list[Channel]
    total: int
    has_mail: bool = Field(description="Whether this server sends mail")


class Notification(Shape):
    id: UUID
    topic: Topic | Literal["test"]
    type: str
    title: str
    state: State
    created_at: Moment
    tries: int
    tried_at: Moment | None
    due_at: Moment | None = Field(description="When it is tried next; null when it is not")
    detail: str | None = Field(description="What came of the last try")


class NotificationList(Shape):
    items: list[Notification]
    total: int


class Tested(Shape):
    is_sent: bool
    detail: str = Field(description="What the other side answered, or why there is no answer")
