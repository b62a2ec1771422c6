"""All links and campaigns over some days."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from fastapi import APIRouter, Query, Response

from downlink.api.http.answers import json_response
from downlink.api.http.deps import Now, Reader, ReadUnit, problems
from downlink.api.schemas.calendars import Calendar
from downlink.domain.week import FIRST_DAY, LAST_DAY, MOST_DAYS, first_day, stretch
from downlink.views.results.calendars import calendar_of

router = APIRouter(tags=["days"])


@router.get("/calendar", response_model=Calendar, responses=problems(401))
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
) -> Response:
    """Count running, planned and past runs of every campaign on every link by the hour (beyond 7 days by four hours)."""
    return json_response(calendar_of(unit, stretch(first or first_day(now, days), days), now))
