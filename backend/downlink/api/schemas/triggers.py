"""Triggers of campaigns: what they wait for, and what they have fired."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from downlink.api.schemas.base import Body, Shape, refuse_controls
from downlink.domain.moment import Moment


class Cause(Shape):
    """The cause that started a run."""

    name: str
    at: Moment = Field(description="Of the value, the slot or the call")
    value: float | None = Field(
        description="Of a slot by how many seconds it had begun; null for a call that brought none"
    )
    unit: str
    source: str


class Firing(Shape):
    number: int
    at: Moment
    cause: Cause
    first_cycle: int
    runs: int


class TriggerState(Shape):
    is_waiting: bool = Field(description="The campaign is running, and it may fire again")
    waiting_for: str
    waits: str | None = Field(description="What is missing now for its condition to hold")
    fired: int
    most: int
    free_at: Moment | None = Field(description="When its pause and its rate let it fire next; null for at any time")
    refused_at: Moment | None = Field(description="When it last held and did not fire all the same")
    refusal: str | None = Field(description="Why it did not fire then")
    takes_calls: bool
    has_secret: bool
    firings: list[Firing] = Field(description="The last 20, the newest first")


class TriggerSecret(Shape):
    secret: str = Field(description="Shown only once")


class CallBody(Body):
    """Fields of a call beside its signature."""

    value: float | None = Field(default=None, allow_inf_nan=False, description="Kept with each run that it starts")
    note: Annotated[str, Field(max_length=200), AfterValidator(refuse_controls)] = Field(
        default="", description="For the caller's own log"
    )


class CallAnswer(Shape):
    is_fired: bool
    number: int | None = Field(description="Of the firing")
    reason: str | None = Field(description="Why it did not fire")
