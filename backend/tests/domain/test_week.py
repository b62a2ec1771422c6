"""Stretches of days."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from downlink.domain.week import LAST_DAY, MOST_DAYS, first_day, stretch


@pytest.mark.parametrize(("days", "cells"), [(1, 24), (7, 168), (8, 48), (31, 186)])
def test_a_stretch_has_few_cells_however_long_it_is(days: int, cells: int) -> None:
    found = stretch(date(2026, 2, 27), days)
    assert found.from_at == datetime(2026, 2, 27, tzinfo=UTC)
    assert (
        found.from_at + cells * timedelta(seconds=found.cell_s) == found.to_at == found.from_at + timedelta(days=days)
    )


def test_the_last_day_can_be_asked_for() -> None:
    assert stretch(LAST_DAY, MOST_DAYS).to_at.year == 3000


def test_a_week_begins_on_monday_in_utc_and_one_day_is_today() -> None:
    late = datetime(2026, 3, 2, 1, tzinfo=timezone(timedelta(hours=3)))  # Sunday, 22:00 UTC
    assert first_day(late, 7) == date(2026, 2, 23)
    assert first_day(late, 1) == date(2026, 3, 1)
    assert first_day(late + timedelta(hours=2), 7) == date(2026, 3, 2)
