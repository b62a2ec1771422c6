"""Events of a run that an agent reports."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field

from downlink.domain.runs.run import Reason
from downlink.protocol.base import Attempt, Facts, Message, Moment, PointName, Sentence, SettingValues, plain_value
from downlink.protocol.outcomes import FlowOutcome, LinkOutcome

Address = Annotated[
    str, Field(min_length=3, max_length=100, pattern=r"^(\[[0-9a-fA-F:.%a-z0-9]+\]|[A-Za-z0-9.-]+):\d{1,5}$")
]


class Event(Message):
    attempt: Attempt
    at: Moment
    lease: Annotated[
        str | None, Field(max_length=64, pattern=r"^[0-9a-f]*$", exclude_if=lambda lease: lease is None)
    ] = None


class ReadyEvent(Event):
    kind: Literal["ready"] = "ready"
    data_address: Address | None
    settings_before: SettingValues
    settings_during: SettingValues
    fingerprint: Facts


class Recorded(Event):
    """The outcomes that an agent has recorded of a run that was broken off while data moved."""

    flows: Annotated[list[FlowOutcome], Field(max_length=64)] = Field(default=[], exclude_if=lambda flows: not flows)
    link: Annotated[LinkOutcome | None, Field(exclude_if=lambda link: link is None)] = None


class FailedEvent(Recorded):
    kind: Literal["failed"] = "failed"
    reason: Reason
    detail: Sentence


class FinishedEvent(Event):
    kind: Literal["finished"] = "finished"
    flows: Annotated[list[FlowOutcome], Field(max_length=64)]
    link: Annotated[LinkOutcome | None, Field(exclude_if=lambda link: link is None)] = None


class RestoredEvent(Recorded):
    kind: Literal["restored"] = "restored"
    settings_after: SettingValues
    is_restored: bool
    differences: Annotated[list[Any], Field(max_length=64), AfterValidator(plain_value)]


class Missing(Message):
    """Announced chunks of one flow at one point, from first to last, that their agent no longer has."""

    flow: Annotated[int, Field(ge=0, le=1000)]
    point: PointName
    first: Annotated[int, Field(ge=0, le=1_000_000)]
    last: Annotated[int, Field(ge=0, le=1_000_000)]
    why: Literal["damaged", "refused", "gone", "too_old", "too_much"]


class UploadedEvent(Event):
    kind: Literal["uploaded"] = "uploaded"
    missing: Annotated[list[Missing], Field(max_length=1000)] = Field(
        default=[], exclude_if=lambda missing: not missing
    )


AnyEvent = Annotated[ReadyEvent | FailedEvent | FinishedEvent | RestoredEvent | UploadedEvent, Discriminator("kind")]
