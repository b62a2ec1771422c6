"""Campaigns and their state."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from downlink.api.schemas.base import Body, Shape, refuse_controls
from downlink.api.schemas.campaign_spec import CampaignSpec
from downlink.codec.campaign_shape import campaign_schema
from downlink.domain.campaigns.plan import Estimate
from downlink.domain.campaigns.retention import Part
from downlink.domain.moment import Moment
from downlink.views.campaigns.precision import Precision

CampaignStateName = Literal["draft", "running", "paused", "complete", "cancelled"]
CampaignSort = Literal[
    "created_at", "-created_at", "launched_at", "-launched_at", "ended_at", "-ended_at", "name", "-name", "state", "-state"
]  # fmt: skip
MAX_SOURCE_CHARS = 200_000


_FILE_SCHEMA = {key: value for key, value in campaign_schema().items() if key != "$schema"}


class CampaignBody(Body):
    """Either the text of a campaign file or the same thing as an object."""

    source: Annotated[str, Field(max_length=MAX_SOURCE_CHARS, description="YAML or JSON text")] | None = None
    campaign: Annotated[dict[str, Any], WithJsonSchema(_FILE_SCHEMA)] | None = Field(
        default=None, description="The campaign file as an object; `GET /campaigns/schema` is the same as JSON Schema"
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> CampaignBody:
        if (self.source is None) == (self.campaign is None):
            raise ValueError("give either source (text) or campaign (object)")
        return self


class LaunchBody(Body):
    even_if_offline: bool = Field(
        default=False, description="Launch although agents are away now: they will be back when their runs are due"
    )


class DuplicateBody(Body):
    name: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        default=None, description="Of the new draft; by default the campaign's own with (copy) after it"
    )


_SPLITS = (
    "Whether runs of a link are counted by the address under which their senders saw the receivers. A carrier's NAT changes it "
    "within one path, so that it tells none apart unless a person wants it"
)


class DescribeBody(Body):
    """A change of a campaign's description: only the given keys are changed."""

    notes: Annotated[str, Field(max_length=10_000), AfterValidator(refuse_controls)] | None = None
    tags: Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=100)] | None = Field(
        default=None, description="All of them; at most 20 of 40 characters each, without commas"
    )
    splits_by_address: bool | None = Field(default=None, description=_SPLITS)


class RunCounts(Shape):
    planned: int = 0
    leased: int = 0
    preparing: int = 0
    running: int = 0
    restoring: int = 0
    uploading: int = 0
    complete: int = 0
    incomplete: int = 0
    failed: int = 0
    cancelled: int = 0
    missed: int = 0


class Campaign(Shape):
    id: UUID
    name: str
    notes: str
    tags: list[str]
    state: CampaignStateName
    origin: Literal["measured", "recorded", "imported"] = Field(
        description="Measured here, loaded from an archive, or made of files of other tools"
    )
    quick_link: str | None = Field(
        description="The link whose quick tests it keeps; null for one with a file of its own"
    )
    owner_id: UUID | None = Field(description="The account whose own it is; null where nobody owns it")
    is_recorded: bool = Field(description="Loaded from an archive, not measured here: its origin is `recorded`")
    links: list[str]
    conditions: list[str]
    runs_total: int = Field(
        description="Planned runs: cycles x conditions x links; further attempts, and cycles that `until` made needless, "
        "are not counted"
    )
    runs_ended: int = Field(description="Positions of the plan whose last attempt has ended")
    counts: RunCounts = Field(description="Runs by state, every attempt counted; not those that `until` made needless")
    created_at: Moment
    launched_at: Moment | None
    ended_at: Moment | None
    next_due_at: Moment | None
    report_at: Moment | None = Field(description="When the report was last computed")
    splits_by_address: bool = Field(default=False, description=_SPLITS)
    being_removed: Part | None = Field(
        default=None,
        description="What of its data workers are removing; `all`: it is being deleted, some runs at a time",
    )


class Deletion(Shape):
    campaign_id: UUID
    runs_left: int = Field(description="That workers delete, some at a time; then the campaign is gone")


class CampaignDetail(Campaign):
    spec: CampaignSpec
    precision: Precision | None = Field(
        description="How exactly means are known, of a launched campaign with `until`; null of others"
    )
    source: str = Field(description="The campaign file as it was given")
    estimate: Estimate


class Rerun(Shape):
    campaign: Campaign
    runs: int = Field(description="How many new attempts are planned")


class CampaignChoices(Shape):
    """Each value that some campaign has, with the number of campaigns that have it."""

    states: dict[str, int]
    tags: dict[str, int]
    links: dict[str, int]


class CampaignList(Shape):
    items: list[Campaign]
    total: int
