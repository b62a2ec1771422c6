"""Links."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, Field

from downlink.api.schemas.base import Body, Name, Shape, may_be_left_out, refuse_controls
from downlink.domain.moment import Moment
from downlink.views.results.calendars import MonthUse

OrbitName = Literal["GEO", "MEO", "LEO", "terrestrial"]
Rate = Annotated[int, Field(gt=0, le=10**13)]
Rtt = Annotated[float, Field(gt=0, le=60_000)]
RateTolerance = Annotated[
    float,
    Field(ge=0, le=1_000, description="By so much a run may exceed the nominal rate before it is marked `implausible`"),
]
Volume = Annotated[int, Field(gt=0, le=10**18)]
ResetDay = Annotated[
    int, Field(ge=1, le=28, description="When the month of the allowance begins, by the link's clock (else UTC)")
]
Operator = Annotated[str, Field(max_length=100), AfterValidator(refuse_controls)]
Zone = Annotated[
    str,
    Field(
        max_length=64,
        pattern=r"^[A-Za-z0-9_+\-/]+$",
        description="IANA name of the terminal's time zone: its nights are shaded",
    ),
]
Latitude = Annotated[float, Field(ge=-90, le=90, description="Terminal's latitude, degrees north: for its weather")]
Longitude = Annotated[float, Field(ge=-180, le=180, description="Degrees east; with a latitude, or not at all")]
Senders = Annotated[
    list[Name], Field(min_length=1, max_length=16, description="Agents by name, counted from 1 by campaigns")
]


Relays = Annotated[
    list[Name],
    Field(
        max_length=16, description="Agents on the way, in order from the senders to the receiver: for split and INTCP"
    ),
]


FurtherReceivers = Annotated[
    list[Name],
    Field(max_length=14, description="Other receivers that hang at the way, counted from 2 by campaigns"),
]


class LinkBody(Body):
    name: Name
    orbit: OrbitName
    operator: Operator = ""
    nominal_rate_bps: Rate
    rate_tolerance_percent: RateTolerance = 50
    base_rtt_ms: Rtt
    receiver: Name = Field(description="The agent behind the terminal, by name")
    senders: Senders
    relays: Relays = Field(default_factory=list)
    further_receivers: FurtherReceivers = Field(default_factory=list)
    allowance_bytes: Volume | None = Field(default=None, description="A month, over all campaigns")
    reset_day: ResetDay = 1
    is_emulated: bool = False
    profile: Name | None = None
    time_zone: Zone | None = None
    latitude: Latitude | None = None
    longitude: Longitude | None = None


class LinkChange(Body):
    """A change of a link: only the given keys are changed. A link is not changed while a run holds it."""

    name: Name | None = None
    orbit: OrbitName | None = None
    operator: Operator | None = None
    nominal_rate_bps: Rate | None = None
    rate_tolerance_percent: RateTolerance | None = None
    base_rtt_ms: Rtt | None = None
    receiver: Name | None = None
    senders: Senders | None = None
    relays: Relays | None = None
    further_receivers: FurtherReceivers | None = None
    allowance_bytes: Volume | None = None
    reset_day: ResetDay | None = None
    is_emulated: bool | None = None
    profile: Name | None = None
    time_zone: Zone | None = None
    latitude: Latitude | None = None
    longitude: Longitude | None = None


class Link(Shape):
    id: UUID
    name: str
    orbit: OrbitName
    operator: str
    nominal_rate_bps: int
    rate_tolerance_percent: float = Field(
        description="By so much a run may exceed it before it is marked `implausible`"
    )
    base_rtt_ms: float
    receiver: str
    senders: list[str]
    relays: list[str] = Field(description="Agents on the way, from the senders to the receiver; empty for none")
    further_receivers: list[str] = Field(
        default=[],
        exclude_if=lambda receivers: not receivers,
        json_schema_extra=may_be_left_out,
        description="Others that hang at the way, counted from 2 by campaigns; left out for none",
    )
    allowance_bytes: int | None = Field(description="A month; a run that might take more than is left does not start")
    reset_day: int
    month: MonthUse | None = Field(description="Null without an allowance")
    is_emulated: bool
    profile: str | None
    time_zone: str | None
    latitude: float | None
    longitude: float | None
    owner_id: UUID | None = Field(description="The account whose own it is; null where nobody owns it")
    run_id: UUID | None = Field(description="The run that holds the link now")
    created_at: Moment


class LinkList(Shape):
    items: list[Link]
    total: int


class QuickTestBody(Body):
    sender: int = Field(default=1, ge=1, le=16, description="Number of the link's sender, from 1")


class QuickTest(Shape):
    campaign_id: UUID = Field(description="The campaign that keeps the link's quick tests")
    run_id: UUID
