"""The month of a link's allowance, held against the clock of its zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downlink.domain.links.allowance import Allowance, month_of

TICK = timedelta(microseconds=1)
START, END = datetime.fromisoformat("1995-01-01"), datetime.fromisoformat("2037-01-01")
moments = st.datetimes(START, END, timezones=st.just(UTC))
zones = st.sampled_from(sorted(available_timezones()))


@given(moments, st.integers(1, 28), zones)
def test_months_follow_each_other_and_begin_on_their_day_by_the_links_clock(now: datetime, day: int, zone: str) -> None:
    month = month_of(now, day, zone)
    assert month.from_at <= now < month.to_at
    assert timedelta(days=26) < month.to_at - month.from_at < timedelta(days=33)
    clock = ZoneInfo(zone)
    for border in (month.from_at, month.to_at):
        before, after = (border - TICK).astimezone(clock), border.astimezone(clock)
        assert before.date() < after.date() or after.fold == 1, "of a midnight that comes twice, the second"
        # A zone that skipped a whole day (Samoa in 2011) may begin the month one day late.
        assert after.day in (day, day + 1)
    assert month_of(month.from_at, day, zone) == month
    assert month_of(month.to_at - TICK, day, zone) == month
    assert month_of(month.to_at, day, zone).from_at == month.to_at


@pytest.mark.parametrize(
    ("now", "day", "zone", "begins", "ends"),
    [
        ("2026-11-25T03:00", 1, None, "2026-11-01T00:00", "2026-12-01T00:00"),
        ("2026-03-15T00:00", 28, "Europe/Madrid", "2026-02-27T23:00", "2026-03-27T23:00"),
        ("2026-04-01T00:00", 28, "Europe/Madrid", "2026-03-27T23:00", "2026-04-27T22:00"),
        ("2025-12-31T23:30", 1, "Europe/Madrid", "2025-12-31T23:00", "2026-01-31T23:00"),
        ("2026-01-01T02:00", 1, "America/New_York", "2025-12-01T05:00", "2026-01-01T05:00"),
        # Clocks went back from 0:01 to 23:01 of the day before.
        ("2010-11-07T03:00", 7, "America/St_Johns", "2010-10-07T02:30", "2010-11-07T03:30"),
        # Clocks go forward at midnight there: the day begins at 1:00.
        ("2019-09-10T00:00", 8, "America/Santiago", "2019-09-08T04:00", "2019-10-08T03:00"),
    ],
)
def test_borders(now: str, day: int, zone: str | None, begins: str, ends: str) -> None:
    month = month_of(datetime.fromisoformat(now).replace(tzinfo=UTC), day, zone)
    assert [f"{at:%Y-%m-%dT%H:%M}" for at in (month.from_at, month.to_at)] == [begins, ends]


def test_nothing_is_left_of_what_is_overdrawn() -> None:
    assert Allowance(10, 11, datetime(2026, 1, 1, tzinfo=UTC)).left_bytes == 0
