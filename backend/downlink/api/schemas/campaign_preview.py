"""Shapes of a campaign's preview: its plan, conflicts, hosts and sharing."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from downlink.api.schemas.base import Shape
from downlink.api.schemas.campaign_spec import CampaignSpec
from downlink.domain.campaigns.line import Sharing
from downlink.domain.campaigns.plan import Estimate
from downlink.domain.campaigns.preflight import Check, Level
from downlink.domain.moment import Moment
from downlink.views.campaigns.precision import Forecast


class PlannedRun(Shape):
    link: str
    condition: str
    cycle: int
    position: int
    due_s: float = Field(description="Seconds from launch")
    due_at: Moment = Field(description="The moment, if it were launched now")
    duration_s: float = Field(description="How long the link is expected to be held")


class Conflict(Shape):
    code: str
    message: str
    is_blocking: bool = Field(description="The campaign cannot be launched; otherwise its runs wait or may fail")
    is_waivable: bool = Field(description="It blocks, unless the launch says `even_if_offline`")
    place: str = Field(default="", description="The key of the campaign file that it is about; empty for none")


class PlannedQuickTest(Shape):
    """A quick test to order: `POST /links/{link_id}/quick-test`."""

    link: str
    sender: int = Field(description="Its number in the link, from 1")


class HostAnswer(Shape):
    check: Check
    level: Level = Field(description="`bad`: runs fail. `note`: worth knowing. `unknown`: nobody has said yet")
    sentence: str
    todo: str = Field(description="What to do about it; empty for nothing")
    at: Moment | None = Field(description="When it was found; null: what the agent said last")
    run_id: UUID | None = Field(description="The run in which it was found")
    quick_test: PlannedQuickTest | None = Field(description="The quick test that answers it; null where none does")


class HostAnswers(Shape):
    agent: str
    parts: list[str] = Field(description="What it is in the campaign: `receiver of geo`")
    answers: list[HostAnswer]


class CampaignPreview(Shape):
    campaign: CampaignSpec
    runs: list[PlannedRun] = Field(description="The first 500; `estimate.runs` is the number of all")
    time_zones: dict[str, str] = Field(description="Link to its IANA time zone, of links that say theirs")
    estimate: Estimate
    conflicts: list[Conflict] = Field(description="What prevents a launch, or will make runs wait")
    hosts: list[HostAnswers] = Field(description="What is known of each host that takes part, before anything is sent")
    sharing: list[Sharing] = Field(description="Of each link that other campaigns want too, what this one gets")
    forecast: Forecast | None = Field(description="Of a file with `until`; the estimate is for its most cycles")
