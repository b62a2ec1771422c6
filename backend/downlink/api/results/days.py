"""Runs over clock time: a campaign's day strip, and the calendar of all links and campaigns."""

from __future__ import annotations

from datetime import date
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from downlink.api.http.answers import Answer, json_response
from downlink.api.http.deps import CampaignReader, CampaignTurn, Now, Reader, ReadUnit, problems
from downlink.domain.week import FIRST_DAY, LAST_DAY, MOST_DAYS, first_day, stretch
from downlink.views.results.calendars import Calendar, calendar_of
from downlink.views.results.days import CampaignDay, campaign_day

router = APIRouter(tags=["days"])
Phase = Annotated[str, Query(max_length=100, description="`startup`, `steady`, `overall` or a window of the campaign")]
Metric = Annotated[
    str, Query(max_length=100, description="A metric of a phase, `time_to_steady_s`, or one of the link")
]


@router.get("/campaigns/{campaign_id}/day", responses=problems(401, 403, 404, 429), dependencies=[CampaignTurn])
def get_day(
    campaign_id: UUID,
    caller: CampaignReader,
    unit: ReadUnit,
    phase: Phase = "overall",
    metric: Metric = "throughput_bps",
) -> Answer[CampaignDay]:
    """Return every run over clock time with one metric, failed and missed runs with their reason, and the links' nights."""
    return json_response(campaign_day(unit, campaign_id, phase, metric, is_own_alone=caller.campaign_id is not None))


@router.get("/calendar", responses=problems(401))
def get_calendar(
    caller: Reader,
    unit: ReadUnit,
    now: Now,
    first: Annotated[
        date | None,
        Query(
            alias="from",
            ge=FIRST_DAY,
            le=LAST_DAY,
            description="The first day, in UTC; else this week's Monday, and of one day today",
        ),
    ] = None,
    days: Annotated[int, Query(ge=1, le=MOST_DAYS)] = 7,
) -> Answer[Calendar]:
    """Count running, planned and past runs of every campaign on every link by the hour (beyond 7 days by four hours)."""
    return json_response(calendar_of(unit, stretch(first or first_day(now, days), days), now))
